#!/usr/bin/env bash
# The counts of every stage as Markdown, with the versions of the programs that they depend on.
#
#   tools/sass/baseline.sh FILE.so...     with build/sass and build/disassembler.mk there
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

while read -r name _ path; do export "$name=$path"; done <build/disassembler.mk
version=$("$NVDISASM" --version | sed -n 's/.*, V\([0-9.]*\).*/\1/p')
cat <<END
# Instructions by stage

What the compiler made of each stage, read with nvdisasm $version. \`make sass-baseline\` writes
this file; \`make test\` compares it with what the compiler makes today. The columns are the stages.
How instructions are classed, and which loop is the main loop: \`tools/sass/README.md\`.

END
build/sass ladder FORMAT=markdown "$@"

#!/usr/bin/env bash
# Makes build/mutants/libsass.a, what build/sass and the C tests of the SASS lab are linked with.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
mkdir -p build/mutants
new=$(mktemp build/mutants/XXXXXX) && rm "$new"
ar rcs "$new" build/host/tools/sass/{,*/}*.o build/host/common/base/error.o
mv "$new" build/mutants/libsass.a

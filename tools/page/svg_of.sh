#!/usr/bin/env bash
# The picture of a page, as SVG: a Chromium opens it with #picture, and it leaves one in the
# document. Usage: svg_of.sh PAGE [FURTHER], such as svg_of.sh page.html 'from=100&to=900'
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
# shellcheck source=tools/page/chromium.sh
. "$(dirname "$0")/chromium.sh"
page=$1
can_look || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dump "$page" "picture${2:+&$2}" 1100,800 "$scratch/document" || exit 1
sed -n '/<pre id="picture">/,/<\/pre>/p' "$scratch/document" | sed 's/.*<pre id="picture">//
    s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | grep . ||
    { echo "$page left no picture" >&2; exit 1; }

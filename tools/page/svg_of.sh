#!/usr/bin/env bash
# The picture of a page, as SVG: a headless Chromium opens it with #picture, and it leaves one in
# the document. Usage: svg_of.sh PAGE [FURTHER], such as svg_of.sh page.html 'from=100&to=900'
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
page=$(realpath "$1")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "a picture needs a Chromium, such as Debian's package chromium" >&2
    exit 2
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$browser" --headless --no-sandbox --disable-gpu --window-size=1100,1000 \
    --user-data-dir="$scratch/profile" --virtual-time-budget=60000 --dump-dom \
    "file://$page#picture${2:+&$2}" >"$scratch/document" 2>"$scratch/log" ||
    { cat "$scratch/log" >&2; exit 1; }
sed -n '/<pre id="picture">/,/<\/pre>/p' "$scratch/document" | sed 's/.*<pre id="picture">//
    s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | grep . ||
    { echo "$page left no picture" >&2; exit 1; }

#!/usr/bin/env bash
# The timeline of a stage as a picture for a text: an SVG, drawn by the stage's page in a headless
# Chromium. Usage: picture.sh STAGE [VARIABLE=value...], such as
#   tools/page/explore/picture.sh 15 NKV=768 >notes/img/15_timeline.svg
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
cd "$(dirname "$0")/../../.."
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 64; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "picture.sh needs a Chromium, such as Debian's package chromium." >&2
    exit 2
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
stage=$1
shift
page=$(make --no-print-directory "stage$stage" explore "$@" | tail -n 1)
"$browser" --headless --no-sandbox --disable-gpu --window-size=1100,1000 \
    --user-data-dir="$scratch/profile" --virtual-time-budget=60000 --dump-dom \
    "file://$PWD/$page#picture" >"$scratch/document" 2>"$scratch/log" ||
    { cat "$scratch/log" >&2; exit 1; }
sed -n '/<pre id="picture">/,/<\/pre>/p' "$scratch/document" | sed 's/.*<pre id="picture">//
    s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | grep . ||
    { echo "picture.sh: $page left no picture." >&2; exit 1; }

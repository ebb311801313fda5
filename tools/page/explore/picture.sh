#!/usr/bin/env bash
# The timeline of a stage as a picture for a text: an SVG, drawn by the stage's page in a headless
# Chromium. Usage: picture.sh STAGE [VARIABLE=value...], such as
#   tools/page/explore/picture.sh 15 NKV=768 >notes/img/15_timeline.svg
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
cd "$(dirname "$0")/../../.."
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 64; }
stage=$1
shift
page=$(make --no-print-directory "stage$stage" explore "$@" | tail -n 1)
exec tools/page/svg_of.sh "$page"

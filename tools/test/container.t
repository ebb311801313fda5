#!/usr/bin/env bash
# .devcontainer/ beside the README: every package there is for a program that the README's list of
# requirements names, and every program of that list that a container can have has its package.
# Catches: a requirement that was added in one place, a package that nobody asked for.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh

requirements=$(sed -n '/^## Requirements/,/^## /{/^## /!p}' README.md)
# package and the word by which the README asks for it; pip and certificates are the network's.
words='bash bash
ca-certificates network
clang-format clang-format
g++ g++
gcc gcc
git git
gnuplot-nox gnuplot
libc6-dev C compiler
make GNU make
perl perl
python3 Python 3
python3-numpy NumPy
python3-pip network
shellcheck shellcheck'
packages=$(sed -n '/apt-get install/,/&&/p' .devcontainer/Dockerfile | tr -s '[:space:]' '\n' |
    grep -vxE 'RUN|apt-get|update|install|--.*|&&|\\|')
while read -r package word; do
    ok "$package is installed" grep -qxF -- "$package" <<<"$packages"
    ok "for what the README calls $word" grep -qF -- "$word" <<<"$(tr '\n' ' ' <<<"$requirements")"
done <<<"$words"
ok "and nothing else is" [ "$(sort <<<"$packages")" = "$(cut -d' ' -f1 <<<"$words" | sort)" ]
ok "the editor's file names it" grep -q '"dockerfile": "Dockerfile"' \
    .devcontainer/devcontainer.json
if command -v python3 >/dev/null; then
    ok "and is JSON" python3 -c 'import json; json.load(open(".devcontainer/devcontainer.json"))'
fi
echo "1..$count"

#!/usr/bin/env bash
# The counts of all stages beside those in notes/results/sass_counts.md. Catches: a stage that was
# changed while its counts were not. Another compiler may move them: that is said, and passes.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/lab.sh"
kept=notes/results/sass_counts.md
read -ra files <<<"${BASELINE:-}"

versions() { grep -oE '(nvdisasm|ptxas) [0-9.]+' "$1" | sort -u; }

for file in "${files[@]}"; do
    [ -e "$file" ] && continue
    echo "1..0 # SKIP $file is not built"
    exit 0
done
if [ ${#files[@]} -eq 0 ]; then
    echo "1..0 # SKIP BASELINE names no files; make test does"
    exit 0
fi
tools/sass/baseline.sh "${files[@]}" >"$scratch/now.md" 2>"$log"
ok "the stages can be counted" [ $? -eq 0 ]
diff -U0 "$kept" "$scratch/now.md" | grep '^[-+]' >"$log"
if cmp -s "$kept" "$scratch/now.md"; then
    ok "$kept is what the compiler makes today" true
elif [ "$(versions "$kept")" != "$(versions "$scratch/now.md")" ]; then
    echo "# WARNING: another compiler or disassembler moved these counts:" >&2
    sed 's/^/# /' "$log" >&2 # prove hides diagnostics on stdout
    ok "$kept is of another compiler" true
else
    echo "# the stages have changed: run \`make sass-baseline\`, and read what moved" >>"$log"
    ok "$kept is what the compiler makes today" false
fi
echo "1..$count"

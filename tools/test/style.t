#!/usr/bin/env bash
# How the tree reads. Catches: a file that is not formatted, a script that shellcheck would mend, a
# line too long, a kernel's header that lacks a field, a helper that differs between two stages.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/test/judges.sh
. tools/test/judges.sh
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh

log=$(mktemp)
trap 'rm -f "$log"' EXIT
mapfile -t sources < <(find common stages tools -name '*.[ch]' -o -name '*.cu' | sort)
mapfile -t scripts < <(grep -rlE '^#!.*(bash|/sh)' .ci common reference tools | sort)
mapfile -t text < <(find . -path ./build -prune -o -path ./work -prune -o -path ./.git -prune -o \
    -path ./reference/golden -prune -o -path '*/corpus' -prune -o -type f \
    ! -name LICENSE ! -name '*.md' ! -name '*.svg' ! -name '*.json' ! -name '*.jsonl' -print | sort)

if reason=$(not_asked clang-format); then
    skip "$reason"
else
    clang-format --style=file -n -Werror "${sources[@]}" 2>"$log"
    result $? "${#sources[@]} sources are formatted" "$log"
fi
if reason=$(not_asked shellcheck); then
    skip "$reason"
else
    shellcheck "${scripts[@]}" >"$log"
    result $? "shellcheck has nothing to say on ${#scripts[@]} scripts" "$log"
fi
mapfile -t run < <(printf '%s\n' "${scripts[@]}" | grep -vE '/test/|^reference/|^common/' |
    xargs grep -lE '^set -')
! grep -L '^export LC_ALL=C ' "${run[@]}" >"$log" || [ ! -s "$log" ]
result $? "${#run[@]} scripts read and write numbers as C does" "$log"
# Characters, not bytes: an en dash is one. In a notebook a line of text has JSON around it.
mapfile -t lines < <(printf '%s\n' "${text[@]}" | grep -v '\.ipynb$')
! LC_ALL=C.UTF-8 grep -nE '^.{101}' "${lines[@]}" >"$log"
result $? "no line is longer than 100 characters" "$log"
! grep -nP '\t' "${sources[@]}" "${scripts[@]}" >"$log"
result $? "no tabs outside the Makefile" "$log"

for kernel in stages/*/kernel.cu; do
    stage=$(basename "$(dirname "$kernel")")
    sed '/^[^/]/,$d' "$kernel" >"$log"
    missing=''
    for field in "// Stage ${stage%%_*}: ${stage#*_}" '// Idea: ' '// Before: ' '// Look for: ' \
        '// Limits: .*needs sm_'; do
        grep -q "^$field" "$log" || missing+=" ${field#// }"
    done
    [ -z "$missing" ] && [ "$(wc -l <"$log")" -le 15 ]
    result $? "$kernel: the header has its fields in at most 15 lines${missing:+; it lacks$missing}"
done

# A helper is the same text in neighbouring stages, unless it is the idea of the later one, as
# tools/ladder/ideas.txt has it.
awk '
    FNR == 1 { n = split(FILENAME, path, "/"); stage = path[n - 1]; name = "" }
    /^(template .*)?static __(host__ __)?device__/ {
        name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); text = ""
    }
    name { text = text "\\n" $0 }
    name && /}$/ && (/^}/ || /^(template|static)/) { print name "\t" stage "\t" text; name = "" }
' stages/*/kernel.cu | sort -s -t $'\t' -k1,1 >"$log.helpers"
found=$(wc -l <"$log.helpers")
awk '
    FS == " " { if (!/^#/) idea[$1, $2]; next }
    $1 == name && $3 != text && !(($2, $1) in idea) {
        print $1 " differs between " stage " and " $2; bad = 1
    }
    { name = $1; stage = $2; text = $3 }
    END { exit bad }
' tools/ladder/ideas.txt FS='\t' "$log.helpers" >"$log"
result $? "$found helpers: the same text wherever a stage does not say otherwise" "$log"
rm -f "$log.helpers"
echo "1..$count"

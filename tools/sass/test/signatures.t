#!/usr/bin/env bash
# Every stage's signature (stages/*/expect.sass) on every variant in SIGNED. Catches: a compiler or
# a change that undoes a stage's idea; a stage without a signature; a signature that says nothing,
# because the stage before, which lacks the idea, has it too.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/lab.sh"
read -ra files <<<"${SIGNED:-$(echo build/sm_80/*/*.so build/sm_90a/*/*.so)}"

"$sass" check "${files[@]}" >"$log" 2>/dev/null
status=$?
ok "the signatures can be read" [ $status -le 1 ]
# Its lines are TAP already; only the numbers go on from here.
while IFS= read -r line; do
    case $line in
    1..*) continue ;;
    ok*) count=$((count + 1)) && echo "ok $count ${line#ok * }" ;;
    not*) count=$((count + 1)) && echo "not ok $count ${line#not ok * }" ;;
    *) echo "$line" ;;
    esac
done <"$log"

previous=''
for folder in stages/[0-9][0-9]_*; do
    stage=$(basename "$folder")
    file=${files[0]%%/sm_*}/sm_90a/$previous/d128_fp16_full.so
    if [ -n "$previous" ] && [ -e "$file" ]; then
        mkdir -p "$scratch/$previous"
        cp "$folder/expect.sass" "$scratch/$previous/"
        "$sass" check STAGES="$scratch" "$file" >"$log" 2>&1
        # 64: it speaks of a kernel that the stage before does not have.
        ok "the signature of $stage does not hold for $previous" \
            grep -qE '^not ok 1|: a scope is sm_80 and the like' "$log"
    fi
    previous=$stage
done
echo "1..$count"

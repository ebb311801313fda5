#!/usr/bin/env bash
# Plants the bugs of tools/mutate/planted/ and runs, for each, the command that must catch it.
#
#   tools/mutate/planted.sh PROGRAM [NAME]...     all of them if no NAME is given
#   tools/mutate/planted.sh --one PROGRAM FILE    the one in FILE
#   tools/mutate/planted.sh --check PROGRAM FILE  its command alone, after it was built
#   tools/mutate/planted.sh --apply FILE          prints the kernel, or the file, with the bug
#
# PROGRAM is build/attention. A file has lines of a word and its value:
#
#   bug      what is wrong, in a sentence
#   stage    07_swizzle
#   variant  d128_fp16_full
#   check    the command and its variables: run, sanitize, grid, repeat or check-sass; or
#            large-scores, the test of that name
#   file     in place of stage and variant: a file of the harness or of a tool,
#   test     and of check: a C test or a script that owns it
#   says     what the command must say
#   line     the text of the line of the kernel that it must name, if it can
#   before   a text that is in one line of the kernel or the file, and
#   after    what stands there instead; there may be several pairs
#
# Environment: NVCC, NVCC_FLAGS; CHECK, the command that checks signatures; JOBS at a time; CC and
# CUDA_INCLUDE.
# Prints TAP. Exit: 0 all were caught, 1 not, 64 a file or a JOBS that makes no sense.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

here=$(dirname "$0")
fail() { # fail CODE TEXT
    echo "$2" >&2
    exit "$1"
}
# shellcheck source=tools/make/within.sh
. "$here/../make/within.sh"
value() { sed -n "s/^$1  *//p" "$file"; } # value WORD: its value, or one per line

planted_in() { # planted_in: the file that gets the bug
    local file_of_tree
    file_of_tree=$(value file)
    echo "${file_of_tree:-stages/$(value stage)/kernel.cu}"
}

# apply: that file with the bug; false if a text is not in exactly one line.
apply() {
    awk -v file="$file" '
        function literal(line, word) { sub("^" word " *", "", line); return line }
        BEGIN {
            while ((getline line <file) > 0) {
                if (line ~ /^before /) before[++pairs] = literal(line, "before")
                if (line ~ /^after/) after[pairs] = literal(line, "after")
            }
        }
        {
            for (i = 1; i <= pairs; i++) {
                at = index($0, before[i])
                if (at == 0) continue
                found[i]++
                $0 = substr($0, 1, at - 1) after[i] substr($0, at + length(before[i]))
            }
            print
        }
        END { for (i = 1; i <= pairs; i++) bad += found[i] != 1; exit bad > 0 || pairs == 0 }
    ' "$(planted_in)"
}

# build FOLDER: the variant with the bug, there.
build() {
    local variant arch=80 target=80 flags d=128 bf16=0 causal=0
    variant=$(value variant)
    grep -q 'needs sm_90a' "stages/$(value stage)/kernel.cu" && arch=90a target=90
    [[ $variant == d64_* ]] && d=64
    [[ $variant == *bf16* ]] && bf16=1
    [[ $variant == *causal ]] && causal=1
    read -ra flags <<<"$NVCC_FLAGS"
    "$NVCC" "${flags[@]}" -gencode "arch=compute_$arch,code=[sm_$arch,compute_$arch]" \
        -DHEAD_DIM=$d -DELEMENT_BF16=$bf16 -DCAUSAL=$causal -DTARGET_SM=$target \
        "$1/kernel.cu" -o "$1/$variant.so"
}

# check FOLDER: the command that must catch it, on the variant that is built there.
check() {
    local command keys variant choice
    variant=$(value variant)
    choice=(DEVICE=sim CAUSAL=0)
    [[ $variant == *causal ]] && choice=(DEVICE=sim CAUSAL=1)
    choice+=("D=$(sed 's/^d//; s/_.*//' <<<"$variant")" "DTYPE=$(cut -d_ -f2 <<<"$variant")")
    read -ra keys <<<"$(value check)"
    command=${keys[0]} keys=("${keys[@]:1}")
    case $command in
        run) "$program-sim" run "${choice[@]}" B=2 H=4 HKV=2 N=130 NKV=400 "${keys[@]}" "$1" ;;
        sanitize) "$here/../sanitize/sanitize.sh" "$program" "${choice[@]}" "${keys[@]}" "$1" ;;
        grid) "$program-sim" grid GRID=small "${choice[@]}" "${keys[@]}" "$1" ;;
        repeat) "$program-sim" repeat "${choice[@]}" "${keys[@]}" "$1" ;;
        check-sass) bash -c "$CHECK \"\$@\"" check "$1/$variant.so" ;;
        large-scores) STAGE_DIRS=$1 build/test/tools/ptxsim/test/test_large_scores ;;
        *) fail 64 "$file: there is no check $command" ;;
    esac
}

misplaced() { echo "the text to replace does not occur in exactly one line of $1"; }

# in_code: plants the bug in the harness or a tool and says on stdout what is missing.
in_code() {
    local scratch log source at test
    scratch=build/planted/$(basename "$file" .bug) at=$(value file) test=$(value test)
    rm -rf "$scratch"
    log=$scratch/log source=$scratch/$at
    mkdir -p "${source%/*}"
    # shellcheck source=tools/mutate/code/place.sh
    . "$here/code/place.sh"
    apply >"$source" || { misplaced "$at"; return 1; }
    chmod --reference="$at" "$source"
    if [[ $test == *.t ]]; then
        make_tree "$at" "$source" && run_script "$test"
    elif ! compile "$source" "$scratch/object.o" ||
        ! link "$scratch/object.o" "$(house_of "$at")" "$test"; then
        echo "it does not compile"
        cat "$log"
        return 1
    else
        run_program 60
    fi && echo "$test passes" && return 1
    grep '^not ok' "$log" | grep -qF -- "$(value says)" && return
    echo "it should fail with: $(value says)"
    grep '^not ok' "$log"
    return 1
}

# one: plants the bug and says on stdout what is missing.
one() {
    local folder number code wanted name
    [ -z "$(value file)" ] || { in_code; return; }
    name=$(basename "$file" .bug)
    folder=build/planted/$name/$(value stage)
    rm -rf "build/planted/$name"
    mkdir -p "$folder"
    apply >"$folder/kernel.cu" || { misplaced "the kernel"; return 1; }
    if ! build "$folder" >"$folder/log" 2>&1; then
        echo "it does not compile"
        cat "$folder/log"
        return 1
    fi
    SIM_BUDGET=${SIM_BUDGET:-5000000} within 120 bash "$0" --check "$program" "$file" \
        >"$folder/log" 2>&1
    code=$?
    wanted=$(value says)
    if [ $code -ne 1 ] || ! grep -qF -- "$wanted" "$folder/log"; then
        echo "exit $code; it should be 1 with: $wanted"
        tail -n 12 "$folder/log"
        return 1
    fi
    wanted=$(value line)
    [ -n "$wanted" ] || return 0
    number=$(grep -nF -m1 -- "$wanted" "$folder/kernel.cu" | cut -d: -f1)
    grep -q "kernel.cu:$number\b" "$folder/log" && return 0
    echo "it should name line $number: $wanted"
    grep 'kernel.cu:' "$folder/log"
    return 1
}

case ${1:-} in
    --apply)
        file=$2
        apply
        exit
        ;;
    --check) # in the folder that --one has built
        program=$2 file=$3
        check "build/planted/$(basename "$file" .bug)/$(value stage)"
        exit
        ;;
    --one)
        program=$2 file=$3
        missing=$(one) && status=ok || status='not ok'
        printf '%s - %s: %s\n' "$status" "$(basename "$file" .bug)" "$(value check)$(value test)"
        [ "$status" = ok ] || printf '%s\n' "$missing" | sed 's/^/# /'
        exit
        ;;
    '' | -*) fail 64 "usage: tools/mutate/planted.sh PROGRAM [NAME]..." ;;
esac

program=$1
shift
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(basename -a -s .bug "$here"/planted/*.bug)
for name in "${names[@]}"; do
    [ -f "$here/planted/$name.bug" ] || fail 64 "there is no planted bug $name"
done
: "${JOBS:=$(nproc)}"
[[ $JOBS =~ ^[1-9][0-9]*$ ]] || fail 64 "JOBS must be a whole number from 1; not '$JOBS'"
# shellcheck source=tools/make/progress.sh
. "$here/../make/progress.sh"
numbered() { # gives the lines of TAP their numbers
    local line count=0
    while IFS= read -r line; do
        [[ $line != ok\ * && $line != "not ok "* ]] || line=${line/ok -/ok $((++count)) -}
        printf '%s\n' "$line"
    done
    echo "1..$count"
}
mkdir -p build/mutants && "$here/code/libsass.sh" || exit 1
printf '%s\n' "${names[@]}" | xargs -P "$JOBS" -I{} \
    "$here/planted.sh" --one "$program" "$here/planted/{}.bug" |
    follow planted ${#names[@]} '^(not )?ok' '^not ok' "not caught" | numbered |
    tee build/planted.tap
[ "$(grep -c '^ok' build/planted.tap)" -eq ${#names[@]} ]

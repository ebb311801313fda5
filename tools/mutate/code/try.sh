#!/usr/bin/env bash
# One mutant of a file of C: builds it and runs the tests that own the file until one fails. If none
# does, the C tests run once more with the mutant under AddressSanitizer and
# UndefinedBehaviorSanitizer, as `make test` runs them (sanitized.t): what reads or frees the wrong
# memory may still give the right result.
#
#   tools/mutate/code/try.sh FILE NUMBER
#
# Prints "FILE, number, verdict, test", with tabs between, and keeps verdict and test in
# build/mutants/code/verdicts/ by the texts of the mutant, of the house that it is in and of its
# tests: it is not run again until one of them changes. The verdict is survived, does not compile,
# same code (as that of the file itself), or how the test ended that killed it: failed, crash, no
# end.
#
# Environment: CC, NVCC, CUDA_INCLUDE; build/mutants/code/seconds, as code.sh writes it.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case
ulimit -c 0 -f 100000 # blocks of a file: a test that prints for ever ends

here=$(dirname "$0")
file=$1 number=$2
home=build/mutants/code
scratch=$(mktemp -d "$home/XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log source=$scratch/$file
# shellcheck source=tools/make/within.sh
. "$here/../../make/within.sh"
# shellcheck source=tools/mutate/code/place.sh
. "$here/place.sh"
house=$(house_of "$file")
mkdir -p "${source%/*}"
build/mutate "$file" "$number" >"$source" || exit 2
mapfile -t tests < <(awk -v house="$house" -v file="$file" -f "$here/owners.awk" $home/seconds)
mapfile -t scripts < <(printf '%s\n' "${tests[@]}" | sed -n 's/^script //p')

key=$({
    cat "$source" "$here"/{try,place}.sh "$here/owners.awk"
    texts_of "$house"
    for test in "${tests[@]}"; do
        [[ $test == script* ]] || cat "${test##* }"
    done
    cat "${scripts[@]}" </dev/null
} | sha256sum | cut -c1-32)
say() { printf '%s\t%s\t%s\n' "$file" "$number" "$(<"$home/verdicts/$key")"; }
verdict() { # verdict NAME [TEST]: ends the check of this mutant
    printf '%s\t%s\n' "$1" "${2:-}" >"$scratch/verdict"
    mv "$scratch/verdict" "$home/verdicts/$key"
    say
    exit 0
}
if [ -e "$home/verdicts/$key" ]; then say && exit 0; fi

# sound SCRIPT: whether it passes without any mutant, in a tree like theirs; asked before the first
# of them, and not again while the house is the same.
sound() {
    local known scratch=$scratch/sound
    local log=$scratch/log
    known=$home/tests/$({ cat "$1" "$here"/*.sh && texts_of "$house"; } | sha256sum | cut -c1-32)
    (
        flock 9
        [ ! -e "$known" ] || exit 0
        mkdir "$scratch" && make_tree "$1" "$1" && run_script "$1" && rm -r "$scratch" &&
            touch "$known" && exit 0
        cat "$log" >&2
        echo "$1 itself fails" >&2
        exit 1
    ) 9>>"$known.lock"
}

# judge TEST: the verdict, if the exit code of it says so.
judge() {
    case $code in
        0) return ;;
        124 | 137 | 152) verdict 'no end' "$1" ;; # 152: no processor time left
        1[3-9][0-9]) verdict crash "$1" ;;
        *) verdict failed "$1" ;;
    esac
}

mutant=$scratch/mutant.o
if ! compile "$source" "$mutant"; then
    ! grep -q '^[^ ]*\.[ch]:.*: error: ' "$log" || verdict 'does not compile'
    echo "$file, mutant $number: the compiler itself failed (not because of the mutant):" \
        "$(tail -n 1 "$log")" >&2
    exit 2
fi
original=$home/objects/$({ cat "$file"; echo "${flags[@]}"; } | sha256sum | cut -c1-32)
[ -e "$original" ] || { compile "$file" "$scratch/o" && mv "$scratch/o" "$original"; } || exit 2
! cmp -s "$original" "$mutant" || verdict 'same code'

for test in "${tests[@]}"; do
    seconds=${test%% *} test=${test#* }
    if [ "$seconds" = script ]; then
        sound "$test" || exit 2
        [ -d "$scratch/tree" ] || make_tree "$file" "$source" || exit 2
        run_script "$test"
    else
        link "$mutant" "$house" "$test" || { cat "$log" >&2 && exit 2; }
        run_program $((2 + 3 * seconds))
    fi
    code=$?
    judge "$test"
done

sanitizers || verdict survived
compile "$source" "$mutant" "${sanitize[@]}" || { cat "$log" >&2 && exit 2; }
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
for test in "${tests[@]}"; do
    seconds=${test%% *} test=${test#* }
    [ "$seconds" != script ] || continue
    link "$mutant" "$house" "$test" "${sanitize[@]}" || { cat "$log" >&2 && exit 2; }
    run_program $((10 + 9 * seconds))
    code=$?
    [ $code -ne 0 ] || continue
    # A test with an allocator of its own fails beside theirs in any case.
    compile "$file" "$scratch/own.o" "${sanitize[@]}" || { cat "$log" >&2 && exit 2; }
    link "$scratch/own.o" "$house" "$test" "${sanitize[@]}" || { cat "$log" >&2 && exit 2; }
    failed=$code
    run_program $((10 + 9 * seconds)) || continue
    code=$failed
    judge "$test, sanitized"
done
verdict survived

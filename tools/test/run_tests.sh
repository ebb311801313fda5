#!/usr/bin/env bash
# Runs tests with prove, two more at a time than there are processors, because some wait for a
# browser or a clock, and prints at the end what was skipped and why, and the ten slowest.
#
#   tools/test/run_tests.sh TIMES TEST...
#
# TIMES is the file in which prove notes how long each test took. Those that took longest the last
# time begin, so that none of them runs on alone at the end; new ones begin before all others.
# Environment: TEST_JOBS, how many at a time.
# Exit: prove's.
set -uo pipefail

times=$1
shift

# seconds, a tab, the test: of the tests of the last run, slowest first
slowest() {
    [ ! -e "$times" ] || awk '
        /^  [^ ].*:$/ { test = substr($0, 3, length($0) - 3) }
        $1 == "elapsed:" { printf "%.1f\t%s\n", $2, test }
    ' "$times" | sort -rn
}

declare -A known
mapfile -t before < <(slowest | cut -f2)
for test in ${before[@]+"${before[@]}"}; do known[$test]=1; done
tests=()
for test in "$@"; do [ -n "${known[$test]:-}" ] || tests+=("$test"); done
for test in ${before[@]+"${before[@]}"}; do
    for asked in "$@"; do [ "$asked" != "$test" ] || tests+=("$test"); done
done

# What was skipped: tests as a whole, then how many checks of a test.
skipped() {
    local printed
    mapfile -t printed < <(cd "$tap" && find . -type f | sort)
    (cd "$tap" && awk '
        { whole = /^1\.\.0/ }
        !whole && !/^ok/ || !sub(/^.*# *[Ss][Kk][Ii][Pp][^ ]* */, "") { next }
        { test = substr(FILENAME, 3) }
        whole { print test ": " $0; next }
        !checks[test, $0]++ { tests[++count] = test; reasons[count] = $0 }
        END {
            for (i = 1; i <= count; i++)
                printf "%s: checks %d: %s\n", tests[i], checks[tests[i], reasons[i]], reasons[i]
        }' ${printed[@]+"${printed[@]}"} /dev/null)
}

tap=$times.tap # what each test printed
rm -rf "$times" "$tap"
mkdir -p "$tap"
PERL_TEST_HARNESS_DUMP_TAP=$PWD/$tap \
    prove --norc --timer --jobs "${TEST_JOBS:-$(($(nproc) + 2))}" --state=save \
    --statefile="$times" --exec '' "${tests[@]}"
code=$?
left_out=$(skipped)
[ -z "$left_out" ] || printf 'Skipped:\n%s\n' "$left_out"
echo "The slowest tests, in seconds:"
slowest | head -n 10
exit $code

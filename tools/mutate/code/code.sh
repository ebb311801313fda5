#!/usr/bin/env bash
# Mutation testing of the harness and the tools: would their tests notice a mistake?
#
#   tools/mutate/code/code.sh CODE [CTEST]...
#
# CODE is common, tools, a folder or a file of C in one of them, or several of these with commas
# between. The CTESTs are all C tests, build/test/common/truth/test/test_check and so on; they are
# built, and so are their objects and libraries in build/host. What was found is kept in
# build/mutants/code/, so a run that was interrupted goes on where it was. The report goes to stdout
# and to build/mutants/code/report.md; that of all of common, or of tools, also to
# notes/results/mutants_common.md or mutants_tools.md.
#
# Environment: MUTANTS of each file, or all (default 10), SEED and JOBS, as sampling.sh says; CC,
# NVCC, CUDA_INCLUDE.
# Exit: 0 every mutant is killed or explained in explained.md, 1 some are not, or a test fails
# without any, 64 bad usage.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

here=$(dirname "$0")
home=build/mutants/code
mutants=10
# shellcheck source=tools/mutate/sampling.sh
. "$here/../sampling.sh"
[ $# -gt 0 ] || fail 64 "usage: tools/mutate/code/code.sh CODE [CTEST]..."
code=$1
shift

# files CODE: those of them that C tests or scripts own, see owners.awk.
files() {
    local part
    for part in ${1//,/ }; do
        [[ $part =~ ^(common|tools)(/|$) && -e $part ]] || return 1
        find "$part" -name '*.c' ! -path '*/test/*'
    done | grep -E '^(common|tools/(ptxsim|sass))/' | sort -u
}
mapfile -t chosen < <(files "$code") # a status is lost here, so an empty list is the sign
[ ${#chosen[@]} -gt 0 ] || fail 64 \
    "CODE must be files or folders of C in common, tools/ptxsim or tools/sass; not '$code'"

# ---- The tests without any mutant ----------------------------------------------------------------
# A test that fails is no yardstick; how long it takes is the limit for its mutants, and says which
# tests come last. Neither is asked again while the program is the same. Of the scripts try.sh asks.
mkdir -p $home/lists $home/tests $home/verdicts $home/objects
tests=()
for test in "$@"; do
    known=$home/tests/$(sha256sum "$test" | cut -c1-32)
    if [ ! -e "$known" ]; then
        tell "mutate: $test without any mutant"
        TIMEFORMAT='%U %S'
        { spent=$({ time "$test" >$home/log 2>&1; } 2>&1); } 2>/dev/null || {
            cat $home/log
            fail 1 "$test itself fails"
        }
        awk '{ printf "%.0f\n", 1 + $1 + $2 }' <<<"$spent" >"$known"
    fi
    tests+=("$(<"$known") $test")
done
tell_no_more
printf '%s\n' "${tests[@]}" >$home/seconds

"$here/libsass.sh" || exit 1

# ---- Mutants -------------------------------------------------------------------------------------
for file in "${chosen[@]}"; do
    list "$file" >"$home/lists/${file//\//%}" || exit 1
done
queue() {
    local file
    for file in "${chosen[@]}"; do
        cut -f1 "$home/lists/${file//\//%}" | sed "s,^,$file ,"
    done | sort -R --random-source=<(yes)
}
queue >$home/queue
all=$(wc -l <$home/queue)
xargs -r -P "$JOBS" -L 1 "$here/try.sh" <$home/queue | progress "$all" >$home/found
[ "$(wc -l <$home/found)" -eq "$all" ] || fail 1 "not all mutants got a verdict: see above"

report=$home/report.md
lists=()
for file in "${chosen[@]}"; do lists+=("$home/lists/${file//\//%}"); done
awk -f "$here/../equivalent.awk" -f "$here/code_report.awk" -v code="$code" \
    -v mutants="$MUTANTS" -v seed="$SEED" "$here/explained.md" $home/found "${lists[@]}" >$report
status=$?
cat $report
[[ $code =~ ^(common|tools)$ ]] && cp $report "notes/results/mutants_$code.md"
exit $status

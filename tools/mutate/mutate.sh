#!/usr/bin/env bash
# Mutation testing: would the checks notice a mistake in a stage?
#
#   tools/mutate/mutate.sh PROGRAM STAGE_DIR...
#
# PROGRAM is build/attention, a STAGE_DIR build/sm_80/07_swizzle. What was found is kept in
# build/mutants/, so a run that was interrupted goes on where it was. The report goes to stdout and
# to build/mutants/report.md; that of all stages also to notes/results/mutants.md.
#
# Environment: MUTANTS of each stage, or all (default 60; removed synchronisations always), SEED and
# JOBS, as sampling.sh says; and what check.sh names.
# Exit: 0 every mutant is killed or explained in equivalent.md, 1 some are not, or a stage itself
# does not pass, 64 bad usage.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

here=$(dirname "$0")
program=$1
shift
mutants=60
# shellcheck source=tools/mutate/sampling.sh
. "$here/sampling.sh"

# What a verdict depends on, beside the text of the mutant.
KEY=$(cat "$program-sim" common/attention.h "$here/check.sh" <("$NVCC" --version) \
    <(echo "$NVCC_FLAGS") | sha256sum)
export KEY

# check_all: a folder, a number and "host" or "device" a line; prints the verdicts.
check_all() { xargs -r -P "$JOBS" -L 1 "$here/check.sh" "$program"; }

lists=build/mutants/lists verdicts=build/mutants/verdicts
mkdir -p build/mutants
exec {lock}>build/mutants/lock
flock -n "$lock" || fail 1 "another make mutate runs in this folder: wait for its end"
echo "mutate: the stages as they are ($#), then mutants of each, $JOBS at a time" >&2
rm -rf $lists && mkdir -p $lists
printf '%s 0 host\n' "$@" | check_all >$verdicts
for folder in "$@"; do
    stage=${folder##*/}
    grep -qP "^$stage\t0\tsurvived" $verdicts ||
        fail 1 "stage ${stage%%_*} itself does not pass: $(grep "^$stage" $verdicts | cut -f3-)"
    list "stages/$stage/kernel.cu" >"$lists/$stage" || exit 1
done
for folder in "$@"; do
    awk -F'\t' -v folder="$folder" '{ print folder, $1, $NF }' "$lists/${folder##*/}"
done |
    sort -R --random-source=<(yes) >build/mutants/queue
all=$(wc -l <build/mutants/queue)
check_all <build/mutants/queue | progress "$all" >$verdicts
[ "$(wc -l <$verdicts)" -eq "$all" ] || fail 1 "not all mutants got a verdict: see above"

report=build/mutants/report.md
awk -f "$here/equivalent.awk" -f "$here/report.awk" -v mutants="$MUTANTS" -v seed="$SEED" \
    "$here/equivalent.md" $verdicts $lists/* >$report
code=$?
cat $report
[ $# -eq "$(printf '%s\n' stages/[0-9][0-9]_* | wc -l)" ] && cp $report notes/results/mutants.md
exit $code

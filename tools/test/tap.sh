#!/usr/bin/env bash
# Sourced by tests in bash: lines of TAP, which prove reads. A test ends with echo "1..$count".
count=0
shown=() # the files that are shown where a check fails

ok() { # ok DESCRIPTION COMMAND...
    local description=$1
    shift
    "$@"
    result $? "$description"
}

result() { # result STATUS DESCRIPTION [FILE]: FILE is shown in place of $shown
    local files=(${shown[@]+"${shown[@]}"})
    [ $# -lt 3 ] || files=("$3")
    count=$((count + 1))
    [ "$1" -ne 0 ] || { echo "ok $count - $2" && return; }
    echo "not ok $count - $2"
    [ ${#files[@]} -eq 0 ] || head -qn 100 -- "${files[@]}" | sed 's/^/# /'
}

says() { [[ $(<"${log:?}") == *"$1"* ]]; } # says TEXT: it is in the test's file $log

skip() { echo "ok $((count += 1)) # SKIP $1"; } # skip REASON

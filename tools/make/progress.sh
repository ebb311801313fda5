#!/usr/bin/env bash
# Sourced: what a long command is doing, on stderr. On a terminal that is one line, over which the
# next is written and which is gone in the end, else a line every ten seconds at most; so have it
# common/base/progress.h and what is built.
told=$SECONDS

tell() { # tell TEXT
    if [ -t 2 ]; then
        printf '\r\033[K%s' "$1" >&2
    elif [ $((SECONDS - told)) -ge 10 ]; then
        told=$SECONDS
        echo "$1" >&2
    fi
}

# tell_no_more: before other lines, and in the end.
tell_no_more() { [ ! -t 2 ] || printf '\r\033[K' >&2; }

# follow WHAT COUNT [PART [BAD WORD]]: passes its lines on and tells how many of COUNT parts are
# done, also while none ends. A line that matches PART is one, and one that matches BAD is counted
# by its WORD, too.
follow() {
    local more line status begun='' done=0 bad=0
    while tell "$1: $done of $2${5:+, $bad $5}"; do
        status=0
        IFS= read -rt 1 more || status=$?
        line=$begun$more begun=''
        [ $status -le 128 ] || { begun=$line && continue; } # the rest of it comes later
        [ $status -eq 0 ] || break
        tell_no_more
        printf '%s\n' "$line"
        [[ $line =~ ${3:-} ]] || continue
        done=$((done + 1))
        [ -z "${4:-}" ] || [[ ! $line =~ $4 ]] || bad=$((bad + 1))
    done
    tell_no_more
}

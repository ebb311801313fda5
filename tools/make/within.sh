#!/usr/bin/env bash
# Sourced: commands that have so many seconds, and Ctrl-C. `timeout` keeps a command in a process
# group of its own, which no Ctrl-C reaches: so it runs in the background, where the trap ends it.

interrupted() { # ends what runs in the background, waits for that, and exits
    trap '' INT TERM
    # shellcheck disable=SC2046 # a list
    { kill $(jobs -p); wait; } 2>/dev/null
    exit 130
}
trap interrupted INT TERM

# within SECONDS COMMAND...: its exit code is the command's, or 124 or 137 if that came to no end.
within() {
    trap interrupted INT TERM # a subshell has none yet
    timeout -k 5 "$1" "${@:2}" &
    wait $! 2>/dev/null # the shell's own words on a crash
}

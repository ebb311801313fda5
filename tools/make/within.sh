#!/usr/bin/env bash
# Sourced: commands that have so many seconds, and Ctrl-C. `timeout` keeps a command in a process
# group of its own, which no Ctrl-C reaches: so it runs in the background, where the trap ends it.
trap 'trap "" INT TERM; end_all; exit 130' INT TERM

end_all() { # ends what runs in the background, and waits for that
    # shellcheck disable=SC2046 # a list
    { kill $(jobs -p); wait; } 2>/dev/null
}

# within SECONDS COMMAND...: its exit code is the command's, or 124 or 137 if that came to no end.
within() {
    timeout -k 5 "$1" "${@:2}" &
    wait $! 2>/dev/null # the shell's own words on a crash
}

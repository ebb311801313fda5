#!/usr/bin/env bash
# Sourced by mutate.sh and code/code.sh: what is asked for, and how far it is.
#
# Environment: MUTANTS of each file, or all, by default $mutants, which the script says before; SEED
# of their choice (default 1); JOBS at a time (default: the processors).
# shellcheck disable=SC2154 # mutants

fail() { # fail CODE TEXT
    echo "$2" >&2
    exit "$1"
}
: "${MUTANTS:=$mutants}" "${SEED:=1}" "${JOBS:=$(nproc)}"
[[ $MUTANTS == all || $MUTANTS =~ ^[1-9][0-9]*$ ]] || fail 64 \
    "MUTANTS must be a number from 1, or all; not '$MUTANTS'"
[[ $SEED =~ ^[0-9]{1,9}$ ]] || fail 64 "SEED must be a number below 10^9; not '$SEED'"
[[ $JOBS =~ ^[1-9][0-9]*$ ]] || fail 64 "JOBS must be a number from 1; not '$JOBS'"

list() { # list FILE: the mutants of it that are asked for
    local options=("SEED=$SEED")
    [ "$MUTANTS" = all ] || options+=("SAMPLE=$MUTANTS")
    build/mutate "$1" "${options[@]}"
}

# shellcheck source=tools/make/progress.sh
. "$(dirname "${BASH_SOURCE[0]}")/../make/progress.sh"
progress() { follow mutate "$1" '' $'\tsurvived\t' survive; } # progress COUNT: of the verdicts

#!/usr/bin/env bash
# Builds a stage in all the tile shapes that it allows and times them in turn, best first.
#
#   tools/tune/tune.sh build/attention [KEY=VALUE]... STAGE_DIR...
#
# A constant may be tuned if the comment on its line in stages/NAME/kernel.cu ends in values:
#     constexpr int BR = 128; // query rows per block; tune: 64 128
# Every combination of values is a copy of kernel.cu with these lines changed, in
# build/ARCH/tune/NAME/. BR=64,128 and its like take the place of the values in the file; the other
# KEYs choose the problem. Left out, with the reason: what a static_assert of the kernel refuses,
# what spills, what needs more shared memory than a block can have.
#
# Environment: NVCC, NVCC_FLAGS, MACROS and VARIANT as in the Makefile; KERNEL, if not the stage's
# own file is tuned: what is beside it, it may include.
# Exit: 0, 1 if a shape gives a wrong result, 2 if there is nothing to tune, no shape is left, none
# can run or another tune of the stage runs, 64 bad usage. Without a GPU the simulator checks the
# shapes, and the table has no times.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

readonly MOST=64 # stages that the program takes at once
here=$(dirname "$0")
program=$1
shift
options=() stages=()
declare -A asked=()
for argument in "$@"; do
    case $argument in
        *= | FORMAT=*) ;;
        BR=* | BC=* | WARPS=*) asked[${argument%%=*}]=${argument#*=} ;;
        *=*) options+=("$argument") ;;
        *) stages+=("$argument") ;;
    esac
done
fail() { # fail CODE TEXT
    echo "$2" >&2
    exit "$1"
}

# constants KERNEL: those that may be tuned, a line each: the name and its values.
constants() { sed -nE 's/^constexpr int ([A-Z_]+) = [^;]*;.*tune:([ 0-9]+)$/\1\2/p' "$1"; }

# tunable: the stages that have such.
tunable() {
    local kernel
    for kernel in stages/*/kernel.cu; do
        [ -z "$(constants "$kernel")" ] || basename "${kernel%/*}"
    done | paste -sd' '
}

# check_asked KERNEL: the variables name constants that it has, and numbers.
check_asked() {
    local name names
    names=$(constants "$1" | sed 's/ .*//' | paste -sd' ')
    [ -n "$names" ] || fail 2 "$1 has no constant to tune (marked by a comment\
 \`tune: VALUES'); these stages have: $(tunable)"
    for name in "${!asked[@]}"; do
        [[ " $names " == *" $name "* ]] ||
            fail 64 "$name=${asked[$name]}: $1 can be tuned in $names"
        [[ ${asked[$name]} =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] ||
            fail 64 "$name=${asked[$name]}: allowed are whole numbers with commas between them"
    done
}

# combinations KERNEL: one per line, such as BR64_BC32.
combinations() {
    local combined=('') next name values value part
    while read -r name values; do
        values=${asked[$name]:-$values}
        next=()
        for part in "${combined[@]}"; do
            for value in ${values//,/ }; do next+=("${part:+${part}_}$name$value"); done
        done
        combined=("${next[@]}")
    done < <(constants "$1")
    printf '%s\n' "${combined[@]}" | awk '!seen[$0]++' # a value given twice is one
}

# reshape COMBINATION KERNEL: the kernel with its constants changed.
reshape() {
    local script='' item
    for item in ${1//_/ }; do
        script+="s/^(constexpr int ${item%%[0-9]*} = )[^;]*(;.*tune:)/\1${item##*[A-Z]}\2/;"
    done
    sed -E "$script" "$2"
}

# build FOLDER: compiles its kernel.cu; what ptxas says of it goes to FOLDER/log.
# shellcheck disable=SC2317 # xargs calls it
build() {
    local version=${ARCH#sm_}
    # shellcheck disable=SC2086 # the flags are lists
    "$NVCC" $NVCC_FLAGS -Xptxas -v \
        -gencode "arch=compute_$version,code=[sm_$version,compute_$version]" $MACROS \
        ${KERNEL:+"-I$(dirname "$KERNEL")"} \
        "$1/kernel.cu" -o "$1/$VARIANT.so" >"$1/log" 2>&1 || rm -f "$1/$VARIANT.so"
    echo "$1"
}

# shape FOLDER: a line of tune.awk's: name, registers, spilled bytes, why it is left out.
shape() {
    awk -v name="${1##*/}" -v built="$([ -e "$1/$VARIANT.so" ] && echo 1)" '
        match($0, /static assertion failed with ".*"/) {
            refused = substr($0, RSTART + 30, RLENGTH - 31)
        }
        /error/ && !error { error = $0 }
        match($0, /Used [0-9]+ registers/) {
            used = substr($0, RSTART + 5) + 0
            registers = used > registers ? used : registers
        }
        match($0, /[0-9]+ bytes spill stores/) { spills += substr($0, RSTART) + 0 }
        match($0, /[0-9]+ bytes spill loads/) { spills += substr($0, RSTART) + 0 }
        END {
            reason = refused ? refused : error
            if (built) reason = spills ? "spills " spills " bytes" : ""
            printf "%s\t%d\t%d\t%s\n", name, registers, spills, reason
        }' "$1/log"
}

# tune STAGE_DIR: one table.
tune() {
    local stage=${1##*/} kernel folder name lock all=() fit=() code=0
    kernel=${KERNEL:-stages/$stage/kernel.cu}
    ARCH=$(cut -d/ -f2 <<<"$1")
    folder=build/$ARCH/tune/$stage
    check_asked "$kernel"
    mapfile -t all < <(combinations "$kernel")
    [ ${#all[@]} -le $MOST ] ||
        fail 64 "$stage has ${#all[@]} shapes, at most $MOST are allowed: choose with BR, BC, WARPS"
    mkdir -p "${folder%/*}"
    exec {lock}>"$folder.lock" # another tune would remove what this one builds
    flock -n "$lock" || fail 2 "another make tune of $stage runs in this folder: wait for its end"
    rm -rf "$folder"
    for name in "${all[@]}"; do
        mkdir -p "$folder/$name"
        reshape "$name" "$kernel" >"$folder/$name/kernel.cu"
    done
    echo "building ${#all[@]} shapes of $stage for $ARCH" >&2
    export ARCH
    printf '%s\n' "${all[@]/#/$folder/}" | xargs -P "$(nproc)" -I{} bash -c 'build {}' |
        follow "building shapes of $stage" ${#all[@]} >"$folder/built"
    for name in "${all[@]}"; do shape "$folder/$name"; done >"$folder/shapes"
    mapfile -t fit < <(awk -F'\t' '$4 == "" { print $1 }' "$folder/shapes")
    : >"$folder/results"
    [ ${#fit[@]} -eq 0 ] || "$program" run FORMAT=json "${options[@]}" \
        "${fit[@]/#/$folder/}" >"$folder/results" || code=$?
    [ $code -lt 64 ] || exit $code
    # Of a problem that it cannot run the program says why, and nothing of the shapes.
    [ ${#fit[@]} -eq 0 ] || [ -s "$folder/results" ] || exit $((code ? code : 1))
    [ $code -ne 2 ] || worst=2
    echo "$stage, $VARIANT, $ARCH"
    awk -v arch="$ARCH" -f "$here/../plot/field.awk" -f "$here/tune.awk" "$folder/shapes" \
        "$folder/results" || worst=1
    [ ${#fit[@]} -gt 0 ] || { worst=2 && echo "$stage: no shape is left to be timed" >&2; }
}

# shellcheck source=tools/make/progress.sh
. "$here/../make/progress.sh"
export -f build
export NVCC NVCC_FLAGS MACROS VARIANT
worst=0
for stage in "${stages[@]}"; do tune "$stage"; done
exit $worst

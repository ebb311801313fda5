#!/usr/bin/env bash
# Finds the CUDA compiler and the disassembler, fetches what is missing, and writes a make fragment.
#
#   tools/toolchain/toolchain.sh OUTFILE
#       NVCC CUDA_INCLUDE CUDA_LIB CUDA_VERSION NVCC_PLAIN (its option that leaves PTX readable);
#       CUOBJDUMP NVDISASM (empty where there are none); DRIVER_TOO_OLD (yes, or empty)
#   tools/toolchain/toolchain.sh --simulator PROGRAM OUTFILE
#       SIM_NVCC SIM_PLAIN alone, fetched if missing: the compiler of what the simulator runs, which
#       is PROGRAM, build/attention-sim
#   tools/toolchain/toolchain.sh --disassembler OUTFILE
#       CUOBJDUMP NVDISASM alone, fetched if missing
#
# No compiler is judged by its release. It serves the GPU if a small stage that it compiles runs on
# the card that there is, and the simulator if that runs the stage and finds its results right.
# Before there is a simulator to ask, it is enough that what the compiler makes holds readable PTX
# and asks for no function that the simulator lacks. The compiler is the first that passes the
# trial, by the card if there is one: $NVCC, PATH, $CUDA_HOME/bin, /usr/local/cuda/bin, then
# NVIDIA's wheels, fetched by pip into build/cuda (about 105 MB; nothing outside build/ changes) and
# checked by hash.
# Where the driver can run none of them, the compiler is one for the simulator.
# The disassembler: beside that compiler, the same places, then its own wheels (5 MB).
# TOOLCHAIN_SEARCH=wheels looks at the wheels only. PYTHON names the python3 whose pip is used.
#
# What was found goes to stderr, one line per tool. Exit: 0, 2 if a tool is missing, 64 bad usage.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

# Two releases of one major version work together; the disassembler is published from 13.2 on and
# reads the cubins of 13.0. compiler.txt and disassembler.txt have their wheels.
readonly MAJOR=13 RELEASE=13.0 COMPILER=compiler-13.0.88 DISASSEMBLER=disassembler-13.2.86
readonly LAUNCH_SECONDS=60 # a driver that hangs must not hang the command

unset CDPATH # by which cd would say where it went
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly here root wheels=$root/build/cuda # one folder a pinned version: a new pin is a new folder
readonly kept=$root/build/trial # what the compiler made for try_reading: try_running starts there
python=${PYTHON:-python3}
scratch=() # removed at exit
tried=()   # the trials that there were
trap '[ ${#scratch[@]} -eq 0 ] || rm -rf "${scratch[@]}"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM

say() { printf '%s\n' "$*" >&2; }
found() { printf '%-10s %-7s %s\n' "$@" >&2; } # tool, release, where
fail() {
    say "$*"
    exit 2
}

# complaint LOG: the line of a failed program's output that says most.
complaint() {
    grep -m 1 '^ptxsim: ' "$1" || grep -m 1 '^ERROR: ' "$1" || grep -m 1 -i error "$1" ||
        tail -n 1 "$1"
}

# release PROGRAM: the CUDA release it belongs to, such as 13.0; nothing if it does not run.
release() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

# serves PROGRAM: true if it runs and is new enough; says why not if it is there and does not serve.
serves() {
    local version
    command -v "$1" >/dev/null || return 1
    version=$(release "$1") || true
    if [ -z "$version" ] || [ "${version%.*}" -lt $MAJOR ]; then
        say "passing over $1: release ${version:-unknown}, and $MAJOR.0 or newer is needed"
        return 1
    fi
}

# first_with FILE FOLDER...: the first of the folders that has the file, as an absolute path.
first_with() {
    local file=$1 folder
    shift
    for folder in "$@"; do
        [ ! -e "$folder/$file" ] || { cd "$folder" && pwd; return; }
    done
    return 1
}

# take_compiler NVCC: true if it runs, has its headers and library, and passes the trial that is
# asked for: `trial` is try_gpu, try_reading or try_running. Sets nvcc, include, lib and plain; says
# why not.
take_compiler() {
    local top machine
    nvcc=$(command -v "$1") || return 1
    [[ $nvcc == /* ]] || nvcc=$PWD/$nvcc
    [[ " ${tried[*]} " != *" $trial:$(realpath "$nvcc") "* ]] || return 1 # under another name
    tried+=("$trial:$(realpath "$nvcc")")
    # nvcc itself says where its toolkit is, also where the one on PATH is a link or a script.
    top=$("$nvcc" --dryrun none.cu 2>&1 | sed -n 's/^#\$ TOP=//p') || true
    machine=$(uname -m)
    reason="it comes without cuda_runtime.h or libcudart.so"
    if include=$(first_with cuda_runtime.h "$top/include" "$top"/targets/*/include /usr/include) &&
        lib=$(first_with libcudart.so "$top"/lib64 "$top"/lib "$top"/targets/*/lib \
            "/usr/lib/$machine-linux-gnu"); then
        $trial && return
    fi
    say "passing over $nvcc: $reason"
    return 1
}

# take_disassembler FOLDER: true if both programs are there and serve; sets cuobjdump, nvdisasm.
take_disassembler() {
    cuobjdump=$1/cuobjdump nvdisasm=$1/nvdisasm
    { serves "$cuobjdump" && serves "$nvdisasm"; } || { cuobjdump='' nvdisasm='' && return 1; }
}

# fetch FOLDER LIST: unpacks the wheels of LIST as build/cuda/FOLDER, whole or not at all. On
# failure returns false and leaves the reason in `reason`.
fetch() {
    local folder=$wheels/$1 list=$here/$2 fresh pip=$python
    reason="$python is not installed"
    command -v "$python" >/dev/null || return 1
    reason="$wheels cannot be written"
    { mkdir -p "$wheels" && fresh=$(mktemp -d "$wheels/fetching.XXXXXX"); } 2>/dev/null || return 1
    scratch+=("$fresh")
    # A Python without pip may have one for virtual environments: Debian's python3-venv.
    reason="$python has no pip"
    "$pip" -m pip --version >/dev/null 2>&1 || { pip=$fresh/venv/bin/python3 &&
        "$python" -m venv "$fresh/venv" >/dev/null 2>&1; } || return 1
    if ! PIP_USER=0 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
        "$pip" -m pip install --quiet --no-input --no-deps --no-compile --only-binary :all: \
        --require-hashes --target "$fresh" --requirement "$list" >"$fresh/log" 2>&1; then
        reason="pip on $(uname -s) $(uname -m) says: $(complaint "$fresh/log")"
        ! grep -q 'DO NOT MATCH THE HASHES' "$fresh/log" ||
            reason="a wheel is not the one whose hash tools/toolchain/$2 has"
        return 1
    fi
    mv "$fresh"/*.dist-info "$fresh/nvidia/cu13" # the licences stay with the files
    chmod -R u+rwX,go+rX "$fresh/nvidia/cu13"
    if [ -e "$fresh/nvidia/cu13/lib/libcudart.so.13" ]; then
        ln -s libcudart.so.13 "$fresh/nvidia/cu13/lib/libcudart.so"
        ln -s lib "$fresh/nvidia/cu13/lib64" # where nvcc.profile looks
    fi
    # Another make may have been faster: its folder is as good as this one.
    mv -T "$fresh/nvidia/cu13" "$folder" 2>/dev/null || [ -d "$folder" ]
}

# search: the first compiler that passes `trial`; fetch_compiler may follow.
search() {
    if [ "${TOOLCHAIN_SEARCH:-}" != wheels ]; then
        if [ -n "${NVCC:-}" ]; then
            take_compiler "$NVCC" && return
            [ $trial = try_reading ] || ! driver_is_too_old || return 1
            [ $trial = try_running ] ||
                fail "NVCC=$NVCC is not a CUDA compiler that can be used: name another, or leave" \
                    "NVCC unset to have one found."
        fi
        take_compiler nvcc && return
        [ -n "${CUDA_HOME:-}" ] && take_compiler "$CUDA_HOME/bin/nvcc" && return
        take_compiler /usr/local/cuda/bin/nvcc && return
    fi
    [ -d "$wheels/$COMPILER" ] && take_compiler "$wheels/$COMPILER/bin/nvcc"
}

fetch_compiler() {
    [[ ! $root =~ [][:blank:]\'\"\`$,\;\&\|\<\>\(\)\{\}\*\?\!\#\\[] ]] ||
        fail "There is no CUDA compiler, and one that is fetched cannot work in a folder whose" \
            "path contains spaces, quotes or other special characters, such as $root: move the" \
            "checkout, or install the CUDA Toolkit."
    if [ ! -d "$wheels/$COMPILER" ]; then # another make may have fetched it since the search
        say "no CUDA compiler that serves was found: fetching NVIDIA's wheels, about 105 MB, into" \
            "build/cuda/$COMPILER"
        fetch $COMPILER compiler.txt ||
            fail "There is no CUDA compiler: no nvcc that serves was found, and fetching it" \
                "failed ($reason); either install the CUDA Toolkit $RELEASE or newer and put" \
                "nvcc on PATH (or set NVCC), or run this again with a network and a python3" \
                "that has pip."
    fi
    take_compiler "$wheels/$COMPILER/bin/nvcc" ||
        fail "build/cuda/$COMPILER holds no working compiler: remove it and run this again."
}

# The card: its compute capability without the dot, the driver, and the CUDA release that this runs.
find_card() {
    local visible
    IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-}" # the index is one among those
    gpu=${visible[${GPU:-0}]:-${GPU:-0}}
    card=$(nvidia-smi -i "$gpu" --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        tr -d .) || true
    [[ $card =~ ^[0-9]+$ ]] || card=''
    [ -n "$card" ] || return 0
    driver=$(nvidia-smi -i "$gpu" --query-gpu=driver_version --format=csv,noheader) || true
    driver_cuda=$(nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p') || true
}

# True if the driver says that it runs an older CUDA than that of the wheels.
driver_is_too_old() {
    [[ $driver_cuda =~ ^[0-9]+\.[0-9]+$ ]] &&
        [ "$(printf '%s\n' "$driver_cuda" $RELEASE | sort -V | head -n 1)" != $RELEASE ]
}

# The compiler for the card if there is one, else, or if none can be had, one for the simulator.
find_compiler() {
    trial=try_reading
    if [ -n "$card" ]; then
        trial=try_gpu
        search && return
        if ! driver_is_too_old; then
            fetch_compiler
            return
        fi
        trial=try_reading
        say "No CUDA compiler here works with the GPU: driver $driver supports CUDA up to" \
            "$driver_cuda, and the compiler that can be fetched is $RELEASE. The stages run on" \
            "the simulator until you update the driver, or put a CUDA Toolkit up to" \
            "$driver_cuda on PATH."
        too_old=yes
    fi
    search || fetch_compiler
}

find_disassembler() {
    local program
    if [ "${TOOLCHAIN_SEARCH:-}" != wheels ]; then
        for program in "${nvcc:-${NVCC:-}}" "$(command -v cuobjdump)" "$(command -v nvcc)" \
            ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} /usr/local/cuda/bin/nvcc; do
            [ -n "$program" ] && take_disassembler "$(dirname "$program")" && return
        done
    fi
    take_disassembler "$wheels/$DISASSEMBLER/bin"
}

fetch_disassembler() {
    say "cuobjdump and nvdisasm were not found: fetching NVIDIA's wheels, 5 MB, into" \
        "build/cuda/$DISASSEMBLER"
    { fetch $DISASSEMBLER disassembler.txt && find_disassembler; } ||
        fail "There is no disassembler: cuobjdump and nvdisasm were not found, and fetching them" \
            "failed ($reason); either install them from the CUDA Toolkit $MAJOR.0 or newer and" \
            "put them on PATH, or run this again with a network and a python3 that has pip."
}

# nvcc cannot even say where its toolkit is without a host compiler: looked for first.
find_host_compiler() {
    local name names=("${NVCC_CCBIN:-gcc}")
    [ -n "${NVCC_CCBIN:-}" ] || names+=(g++)
    for name in "${names[@]}"; do
        host=$(command -v "$name") ||
            fail "nvcc needs a C++ compiler for the host, and $name was not found: install g++," \
                "or set NVCC_CCBIN to the compiler to use."
    done
}

# compile OPTION...: trial.cu, with what the stages need, to $made, which is called as a variant of
# a stage is. Sets `plain`, the option that leaves PTX as text: that of newer compilers or of older
# ones. False: `reason` says why. As of the stages, paths are those from the root: nvcc cannot read
# an absolute one that has a quote or a comma.
compile() {
    local folder
    folder=$(mktemp -d 2>/dev/null) ||
        fail "${TMPDIR:-/tmp} cannot be written, and compilers need room there."
    scratch+=("$folder")
    made=$folder/d128_fp16_full.so log=$folder/log
    for plain in --compress-mode=none --no-compress; do
        (cd "$root" && "$nvcc" -std=c++17 -Icommon $plain "$@" -o "$made" \
            tools/toolchain/trial.cu) >"$log" 2>&1 && return
        grep -qi 'unknown option' "$log" || break
    done
    head -c 1000000 /dev/zero 2>/dev/null >"$folder/room" ||
        fail "${TMPDIR:-/tmp} is full, and compilers need room there."
    reason="it cannot compile a small stage: $(complaint "$log")"
    return 1
}

# True if the compiler's small stage runs on the card.
try_gpu() {
    compile -arch="sm_$card" -DTMA=$((card >= 90)) -cudart shared -L"$lib" -Xlinker "-rpath,$lib" ||
        return 1
    CUDA_VISIBLE_DEVICES=$gpu timeout $LAUNCH_SECONDS "$made" >"$log" 2>&1 && return
    reason="its small stage does not run on the GPU: $(complaint "$log")"
    return 1
}

# True if the simulator can read the compiler's small stage: PTX as text, and known functions.
try_reading() {
    local name
    compile -shared -Xcompiler -fPIC -Xlinker --strip-all -cudart none -DTMA=1 \
        -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' || return 1
    reason="the simulator finds no PTX in what it makes"
    grep -aq '^\.target sm_90a' "$made" || return 1
    while read -r name; do
        reason="the simulator does not know $name, which it uses"
        grep -qw "$name" "$root"/tools/ptxsim/cuda/*.c || return 1
    done < <(grep -ao '__cuda[A-Z][A-Za-z]*' "$made" | sort -u)
}

# keep: a small stage that could be read, and the names of its compiler and option. Another make may
# read or keep it meanwhile, so each file has its name once it is whole. One that cannot be kept is
# compiled again.
keep() {
    local fresh
    { mkdir -p "$kept" && fresh=$(mktemp -d "$kept.XXXXXX"); } 2>/dev/null || return 0
    scratch+=("$fresh")
    { cp "$made" "$fresh/" && printf '%s\n' "$(realpath "$nvcc")" "$plain" >"$fresh/compiler" &&
        mv "$fresh/${made##*/}" "$kept/" && mv "$fresh/compiler" "$kept/"; } 2>/dev/null || :
}

# True if the small stage of this compiler was kept, and is still the one.
was_read() {
    local compiler
    { read -r compiler && read -r plain; } 2>/dev/null <"$kept/compiler" || return 1
    [ "$compiler" = "$(realpath "$nvcc")" ] && [ "$kept/compiler" -nt "$compiler" ] &&
        [ "$kept/compiler" -nt "$here/trial.cu" ] || return 1
    made=$kept/d128_fp16_full.so log=$kept/log.$$
    scratch+=("$log")
}

# True if the simulator runs it, too, and finds its results right.
try_running() {
    was_read || try_reading || return 1
    timeout $LAUNCH_SECONDS "$program" run DEVICE=sim B=1 H=1 N=1 NKV=1 "$(dirname "$made")" \
        >"$log" 2>&1 && return
    reason="its small stage does not run in the simulator: $(complaint "$log")"
    return 1
}

# write OUTFILE NAME VALUE...: a make fragment, whole or not at all.
write() {
    local outfile=$1 fresh
    shift
    { mkdir -p "$(dirname "$outfile")" && fresh=$(mktemp "$outfile.XXXXXX"); } 2>/dev/null ||
        fail "$outfile cannot be written."
    scratch+=("$fresh")
    printf '%s := %s\n' "$@" >"$fresh"
    chmod 644 "$fresh"
    mv "$fresh" "$outfile"
}

report_disassembler() {
    local program
    for program in "$cuobjdump" "$nvdisasm"; do
        found "$(basename "$program")" "$(release "$program")" "$program"
    done
}

# What the last trial made and said; what the searches find.
made='' log='' reason='' trial='' program=''
card='' driver='' driver_cuda='' too_old='' nvcc='' plain=''

main() {
    if [ $# -eq 2 ] && [ "$1" = --disassembler ]; then
        find_disassembler || fetch_disassembler
        report_disassembler
        write "$2" CUOBJDUMP "$cuobjdump" NVDISASM "$nvdisasm"
    elif [ $# -eq 3 ] && [ "$1" = --simulator ]; then
        program=$(realpath "$2")
        find_host_compiler
        trial=try_running
        search || fetch_compiler
        found nvcc "$(release "$nvcc")" "$nvcc (for the simulator)"
        write "$3" SIM_NVCC "$nvcc" SIM_PLAIN "$plain"
    elif [ $# -eq 1 ] && [ "${1#-}" = "$1" ]; then
        find_host_compiler
        find_card
        find_compiler
        local version
        version=$(release "$nvcc")
        found nvcc "$version" "$nvcc"
        found libcudart "$version" "$lib"
        found "$(basename "$host")" "$("$host" -dumpversion)" "$host"
        if find_disassembler; then
            report_disassembler
        else
            found cuobjdump none "not found; fetched when a disassembly is first asked for"
        fi
        [ $trial != try_reading ] || keep
        write "$1" NVCC "$nvcc" CUDA_INCLUDE "$include" CUDA_LIB "$lib" CUDA_VERSION "$version" \
            NVCC_PLAIN "$plain" CUOBJDUMP "$cuobjdump" NVDISASM "$nvdisasm" \
            DRIVER_TOO_OLD "$too_old"
    else
        say "usage: tools/toolchain/toolchain.sh [--simulator PROGRAM|--disassembler] OUTFILE"
        exit 64
    fi
}

main "$@"

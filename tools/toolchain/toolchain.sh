#!/usr/bin/env bash
# Finds the CUDA compiler and the disassembler, fetches what is missing, and writes a make fragment.
#
#   tools/toolchain/toolchain.sh OUTFILE
#       NVCC CUDA_INCLUDE CUDA_LIB CUDA_VERSION, and CUOBJDUMP NVDISASM (empty where there are none)
#   tools/toolchain/toolchain.sh --disassembler OUTFILE
#       CUOBJDUMP NVDISASM alone, fetched if missing
#
# The compiler is the first that works: $NVCC, PATH, $CUDA_HOME/bin, /usr/local/cuda/bin, then
# NVIDIA's wheels, fetched by pip into build/cuda (about 105 MB; nothing outside build/ changes).
# The disassembler: beside that compiler, the same places, then its own wheels (5 MB).
# TOOLCHAIN_SEARCH=wheels looks at the wheels only. PYTHON names the python3 whose pip is used.
#
# What was found goes to stderr, one line per tool. Exit: 0, 2 if a tool is missing, 64 bad usage.
set -euo pipefail

# Two releases of one major version work together; the disassembler is published from 13.2 on and
# reads the cubins of 13.0.
readonly MAJOR=13 COMPILER=compiler-13.0.88 DISASSEMBLER=disassembler-13.2.86
readonly COMPILER_WHEELS=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)
readonly DISASSEMBLER_WHEELS=(nvidia-cuda-cuobjdump==13.2.86 nvidia-cuda-nvdisasm==13.2.86)

root=$(cd "$(dirname "$0")/../.." && pwd)
readonly root wheels=$root/build/cuda # one folder a pinned version: a new pin is a new folder
python=${PYTHON:-python3}
scratch=() # removed at exit
trap '[ ${#scratch[@]} -eq 0 ] || rm -rf "${scratch[@]}"' EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*" >&2; }
found() { printf '%-10s %-7s %s\n' "$@" >&2; } # tool, release, where
fail() {
    say "$*"
    exit 2
}

# complaint LOG: the line of a failed program's output that says most.
complaint() { grep -m 1 -i error "$1" || tail -n 1 "$1"; }

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

# take_compiler NVCC: true if it serves and has its headers and library; sets nvcc, include, lib.
take_compiler() {
    local top machine
    serves "$1" || return 1
    nvcc=$(command -v "$1")
    # nvcc itself says where its toolkit is, also where the one on PATH is a link or a script.
    top=$("$nvcc" --dryrun none.cu 2>&1 | sed -n 's/^#\$ TOP=//p') || true
    machine=$(uname -m)
    include=$(first_with cuda_runtime.h "$top/include" "$top"/targets/*/include /usr/include) &&
        lib=$(first_with libcudart.so "$top"/lib64 "$top"/lib "$top"/targets/*/lib \
            "/usr/lib/$machine-linux-gnu") && return
    say "passing over $1: it comes without cuda_runtime.h or libcudart.so"
    return 1
}

# take_disassembler FOLDER: true if both programs are there and serve; sets cuobjdump, nvdisasm.
take_disassembler() {
    cuobjdump=$1/cuobjdump nvdisasm=$1/nvdisasm
    { serves "$cuobjdump" && serves "$nvdisasm"; } || { cuobjdump='' nvdisasm='' && return 1; }
}

# fetch FOLDER WHEEL...: unpacks wheels as build/cuda/FOLDER, whole or not at all. On failure
# returns false and leaves the reason in `reason`.
fetch() {
    local folder=$wheels/$1 fresh
    shift
    reason="$python is not installed"
    command -v "$python" >/dev/null || return 1
    reason="$python has no pip"
    "$python" -m pip --version >/dev/null 2>&1 || return 1
    reason="$wheels cannot be written"
    { mkdir -p "$wheels" && fresh=$(mktemp -d "$wheels/fetching.XXXXXX"); } 2>/dev/null || return 1
    scratch+=("$fresh")
    if ! PIP_USER=0 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
        "$python" -m pip install --quiet --no-input --no-deps --no-compile --only-binary :all: \
        --target "$fresh" "$@" >"$fresh/log" 2>&1; then
        reason="pip on $(uname -s) $(uname -m) says: $(complaint "$fresh/log")"
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

find_compiler() {
    if [ "${TOOLCHAIN_SEARCH:-}" != wheels ]; then
        if [ -n "${NVCC:-}" ]; then
            take_compiler "$NVCC" && return
            fail "NVCC=$NVCC is not a CUDA compiler that can be used: name an nvcc of release" \
                "$MAJOR.0 or newer, or leave NVCC unset to have one found."
        fi
        take_compiler nvcc && return
        [ -n "${CUDA_HOME:-}" ] && take_compiler "$CUDA_HOME/bin/nvcc" && return
        take_compiler /usr/local/cuda/bin/nvcc && return
    fi
    if [ ! -d "$wheels/$COMPILER" ]; then
        say "nvcc was not found: fetching NVIDIA's wheels, about 105 MB, into build/cuda/$COMPILER"
        fetch $COMPILER "${COMPILER_WHEELS[@]}" ||
            fail "There is no CUDA compiler: nvcc was not found, and fetching it failed" \
                "($reason); either install the CUDA Toolkit $MAJOR.0 or newer and put nvcc on" \
                "PATH (or set NVCC), or run this again with a network and a python3 that has pip."
    fi
    take_compiler "$wheels/$COMPILER/bin/nvcc" ||
        fail "build/cuda/$COMPILER holds no working compiler: remove it and run this again."
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
    { fetch $DISASSEMBLER "${DISASSEMBLER_WHEELS[@]}" && find_disassembler; } ||
        fail "There is no disassembler: cuobjdump and nvdisasm were not found, and fetching them" \
            "failed ($reason); either install them from the CUDA Toolkit $MAJOR.0 or newer and" \
            "put them on PATH, or run this again with a network and a python3 that has pip."
}

# nvcc cannot even say where its toolkit is without a host compiler: looked for first.
find_host_compiler() {
    host=$(command -v "${NVCC_CCBIN:-g++}") ||
        fail "nvcc needs a C++ compiler for the host, and ${NVCC_CCBIN:-g++} was not found:" \
            "install g++, or set NVCC_CCBIN to the compiler to use."
}

# Compiles and links a small stage: nvcc may not know the host compiler, or lack a part of itself.
try_compiler() {
    local folder
    folder=$(mktemp -d)
    scratch+=("$folder")
    cat >"$folder/try.cu" <<'END'
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void add(__half *a, __nv_bfloat16 *b) { a[0] = __hadd(a[0], a[1]), b[0] += b[1]; }
extern "C" void launch(__half *a, __nv_bfloat16 *b) { add<<<1, 1>>>(a, b); }
END
    "$nvcc" -shared -Xcompiler -fPIC -cudart none -arch=sm_80 -o "$folder/try.so" \
        "$folder/try.cu" >"$folder/log" 2>&1 && return
    fail "$nvcc cannot compile a kernel: $(complaint "$folder/log")"
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

main() {
    if [ $# -eq 2 ] && [ "$1" = --disassembler ]; then
        find_disassembler || fetch_disassembler
        report_disassembler
        write "$2" CUOBJDUMP "$cuobjdump" NVDISASM "$nvdisasm"
    elif [ $# -eq 1 ] && [ "${1#-}" = "$1" ]; then
        find_host_compiler
        find_compiler
        try_compiler
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
        write "$1" NVCC "$nvcc" CUDA_INCLUDE "$include" CUDA_LIB "$lib" CUDA_VERSION "$version" \
            CUOBJDUMP "$cuobjdump" NVDISASM "$nvdisasm"
    else
        say "usage: tools/toolchain/toolchain.sh [--disassembler] OUTFILE"
        exit 64
    fi
}

main "$@"

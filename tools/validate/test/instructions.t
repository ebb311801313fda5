#!/usr/bin/env bash
# instructions.sh, without a GPU: a driver that computes nothing, and programs that are not tests.
# Catches: a wrong result that is passed, a test that ends, hangs or asks nothing and counts as
# right, a GPU that is missing or another one without a sentence.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")
ask() { PATH=$work:$PATH LIMIT=5 tools/validate/instructions.sh "$@" >"$log" 2>&1; code=$?; }

gpu() { printf '#!/bin/sh\n%s\n' "$1" >"$work/nvidia-smi"; chmod +x "$work/nvidia-smi"; }
gpu 'exit 9'
ask build/test/tools/ptxsim/ops/test/test_ops_compare
ok "without a GPU it says so" says "there is no GPU to compare the simulator with"
ok "and ends with 2" [ $code -eq 2 ]
gpu 'echo 8.0'
ask build/test/tools/ptxsim/ops/test/test_ops_compare
ok "on another GPU it asks nothing and says why" says "this GPU is of 8.0"
ok "and ends with 0" [ $code -eq 0 ]

gpu 'echo 9.0'
program() { printf '#!/bin/bash\n%s\n' "$2" >"$work/$1"; chmod +x "$work/$1"; }
program right 'printf "1..2\nok 1 - a\nok 2 - b\n"'
program wrong 'printf "ok 1 - a\nnot ok 2 - b\n# got 3\n"; exit 1'
program silent 'exit 0'
program ended 'echo "ok 1 - a"; echo "out of order" >&2; exit 9'
program hangs 'echo "ok 1 - a"; exec sleep 100'
program second "[ \"\$PTX_ON_GPU\" = 1 ] && echo 'ok 1 - a'"
program asks "[ -n \"\${PTX_ON_GPU:-}\" ] && echo 'ok 1 - a'"
ask "$work/right" "$work/asks"
ok "tests that pass" grep -qE '^right +2 of 2$' "$log"
ok "they are told to ask a GPU" grep -qE '^asks +1 of 1$' "$log"
ok "and end with 0" [ $code -eq 0 ]
GPU=1 ask "$work/second"
ok "GPU=1 is the second one" [ $code -eq 0 ]
gpu '[ "$*" = "--query-gpu=compute_cap --format=csv,noheader -i 5" ] && echo 9.0'
CUDA_VISIBLE_DEVICES=3,5 GPU=1 ask "$work/second"
ok "of those that CUDA sees" [ $code -eq 0 ]
gpu 'echo 9.0'
for name in wrong silent ended hangs; do
    ask "$work/$name" "$work/right"
    ok "$name: ends with 1" [ $code -eq 1 ]
    ok "$name: the next is still asked" grep -q '^right' "$log"
    case $name in
        wrong) ok "what it got is shown" says '# got 3' ;;
        ended) ok "its last words are shown" says 'ended with 9: out of order' ;;
        hangs) ok "the limit is named" says 'did not end within 5 seconds' ;;
    esac
done

# ---- a test of the simulator, on a driver --------------------------------------------------------
ask build/test/tools/ptxsim/ops/test/test_ops_compare
if [ -e /dev/nvidia0 ] || [ -e /dev/dxg ]; then
    skip "there is a GPU"
else
    ok "without a driver the test says so" says 'ended with 2: PTX_ON_GPU: there is no CUDA driver'
fi
cat >"$work/driver.c" <<'END'
#include <stdlib.h>
#include <string.h>
typedef unsigned long long Address;
int cuInit(unsigned flags) { return (int)flags; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = NULL, device; }
int cuCtxSetCurrent(void *context) { return context != NULL; }
int cuModuleLoadDataEx(void **module, const char *text, unsigned n, int *option, void **value) {
    *module = NULL;
    (void)n, (void)option;
    strcpy(value[0], "refused here"); /* where the text has this comparison */
    return strstr(text, "setp.gtu.f64") ? 218 : 0;
}
int cuModuleGetFunction(void **kernel, void *module, const char *name) {
    return *kernel = module, strcmp(name, "k");
}
int cuMemAlloc_v2(Address *memory, size_t bytes) {
    return *memory = (Address)malloc(bytes), *memory == 0;
}
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    return memcpy((void *)to, from, bytes), 0;
}
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    return memcpy(to, (void *)from, bytes), 0;
}
int cuLaunchKernel(void) { return 0; } /* it computes nothing */
int cuCtxSynchronize(void) { return 0; }
int cuMemFree_v2(Address memory) { return free((void *)memory), 0; }
int cuModuleUnload(void *module) { return module != NULL; }
int cuTensorMapEncodeTiled(void) { return 0; }
int cuGetErrorName(int error, const char **name) { return *name = "SOME_ERROR", error * 0; }
END
if ! "${CC:-cc}" -shared -fPIC -o "$work/libcuda.so.1" "$work/driver.c" 2>"$log"; then
    ok "the driver is compiled" false
else
    export LD_LIBRARY_PATH=$work
    ask build/test/tools/ptxsim/ops/test/test_ops_compare
    ok "results that nobody computed are wrong" grep -qE '^not ok .*setp\.lt\.f32' "$log"
    ok "and PTX that is refused, with the driver's words" says 'SOME_ERROR refused here'
    ok "it ends with 1" [ $code -eq 1 ]
fi
echo "1..$count"

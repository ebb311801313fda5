/* Fuzzes the fatbin reader. Whatever the bytes, it must neither read outside them nor hand out text
 * that lies outside. Build and run (see fuzz_ptxsim.t):
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined test/fuzz_fatbin.c fatbin.c -o fuzz_fatbin
 *     ./fuzz_fatbin corpus/fatbin
 */
#include <stdint.h>
#include <stdlib.h>

#include "cuda/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* libFuzzer calls it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FatbinPtx ptx;
    if (fatbin_find_ptx(data, size, 90, &ptx) != FATBIN_OK) return 0;
    const uint8_t *text = (const uint8_t *)ptx.text;
    if (text < data || ptx.length > size || text + ptx.length > data + size) abort();
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < ptx.length; i++) sum = (uint8_t)(sum + text[i]);
    return 0;
}

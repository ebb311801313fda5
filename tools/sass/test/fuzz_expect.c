/* Fuzzes the reader of signatures. Whatever the text, it ends with assertions or with a message
 * that names the line. Build and run: fuzz.t. */
#include "analysis/expect.h"
#include "test/sample.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* libFuzzer calls it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = list_zeroed(size + 1, 1);
    memcpy(text, data, size);
    Module module = sample_code(KERNEL("flash_fwd") ".L_x_0:\n"
                                                    "HMMA.16816.F32 R1\n"
                                                    "@P0 MUFU.EX2 R1, R2\n"
                                                    "@P0 BRA `(.L_x_0)\n"
                                                    "EXIT\n");
    Error error = {0};
    Signature signature;
    if (signature_read(text, "expect.sass", &module, &signature, &error)) {
        if (signature.assertions < 1 || signature.holding > signature.assertions) abort();
        signature_free(&signature);
    } else if (strncmp(error.text, "expect.sass:", strlen("expect.sass:")) != 0)
        abort();
    module_close(&module);
    free(text);
    return 0;
}

/* Device memory on the fake runtime. Catches: a band that is not there, not looked at or only in
 * part, a changed byte that is not seen or is miscounted, a fill or a copy that stops short, memory
 * that there is none of and that is called a failure. */
#include "device/buffer.h"
#include "device/counters.h"
#include "device/device.h"
#include "test/fake_runtime.h"
#include "test/tap.h"

#include <stdint.h>
#include <stdlib.h>

enum { BAND = 4096, BYTES = 3000 };

static Error error;
static bool simulated;

/* As beside the simulator, which sees for itself what is written outside. */
bool counters_simulated(void) { return simulated; }

static void without_bands(void) {
    unsigned char bytes[BAND] = {0};
    Buffer buffer;
    simulated = true;
    ok(buffer_create("it", sizeof bytes, &buffer, &error) && buffer.guard == 0,
       "no bands in the simulator");
    ok(!(buffer.data[0] == 0xaa && buffer.data[1] == 0x7f), "and nothing is written there");
    ok(buffer_write(&buffer, bytes, &error) && buffer_intact(&buffer, &error) &&
           buffer_unchanged(&buffer, bytes, &error),
       "it is intact");
    buffer_free(&buffer);
    simulated = false;
}

/* An error that somebody else has left is still there, one of its own is not. */
static void freeing(void) {
    Buffer buffer;
    buffer_create("it", BYTES, &buffer, &error);
    fake_error();
    buffer_free(&buffer);
    ok(cudaGetLastError() == cudaErrorInvalidValue, "freeing takes nobody's error");
    buffer_create("it", BYTES, &buffer, &error);
    fake_fault();
    buffer_free(&buffer);
    cudaDeviceReset();
    ok(cudaGetLastError() == cudaSuccess, "and leaves none after a fault");
}

static void bands(void) {
    static const int places[] = {-BAND, -1, 0, BAND - 1};
    Buffer buffer;
    ok(buffer_create("it", BYTES, &buffer, &error), "a buffer");
    ok(buffer.bytes == BYTES && buffer.guard == BAND, "%d bytes between two bands", BYTES);
    ok((uintptr_t)buffer.data % 256 == 0, "at a multiple of 256");
    ok(buffer_intact(&buffer, &error), "whose bands are intact");
    for (int i = 0; i < 4; i++) {
        const int after = places[i] >= 0;
        unsigned char *byte = buffer.data + places[i] + (after ? BYTES : 0);
        char expected[128];
        uint16_t band;
        memcpy(&band, buffer.data + BYTES + BAND - 2, sizeof band);
        ok((band & 0x7c00) == 0x7c00 && (band & 0x7f80) == 0x7f80 && band & 0x7f,
           "a band is NaN in either type");
        *byte ^= 1;
        snprintf(expected, sizeof expected,
                 "a kernel wrote outside it: it changed byte %d of the 4096 bytes %s it",
                 after ? places[i] : places[i] + BAND, after ? "after" : "before");
        ok(!buffer_intact(&buffer, &error) && error.status == STATUS_FAIL, "a changed byte fails");
        is_text(error.text, expected, "and is named");
        *byte ^= 1;
    }
    ok(buffer_fill(&buffer, 0x5a, &error) && buffer_intact(&buffer, &error), "a fill stays inside");
    ok(buffer.data[0] == 0x5a && buffer.data[BYTES - 1] == 0x5a, "and fills all");
    ok(buffer_fill_nan(&buffer, &error) && buffer.data[0] == 0xff && buffer.data[BYTES - 1] == 0xff,
       "with NaN, too");
    buffer_free(&buffer);
    ok(!buffer.data && !buffer.bytes, "nothing is left");
    buffer_free(&buffer);
}

static void contents(void) {
    const size_t bytes = (2 << 20) + 77; /* more than two pieces */
    const size_t places[] = {0, (1 << 20) - 1, 1 << 20, (2 << 20) - 1, 2 << 20, bytes - 1};
    unsigned char *host = malloc(bytes), *back = calloc(1, bytes);
    Buffer buffer;
    for (size_t i = 0; i < bytes; i++) host[i] = (unsigned char)(i * 7 + i / 256 + (i >> 20));
    ok(buffer_create("Q", bytes, &buffer, &error) && buffer_write(&buffer, host, &error) &&
           buffer_read(&buffer, back, &error) && memcmp(host, back, bytes) == 0,
       "what is written is read");
    ok(buffer_intact(&buffer, &error) && buffer_unchanged(&buffer, host, &error), "and unchanged");
    for (int i = 0; i < 6; i++) {
        char expected[128];
        buffer.data[places[i]] ^= 0x80;
        snprintf(expected, sizeof expected, "a kernel changed Q, which it may only read: byte %zu",
                 places[i]);
        ok(!buffer_unchanged(&buffer, host, &error) && error.status == STATUS_FAIL, "until it is");
        is_text(error.text, expected, "and that is said");
        buffer.data[places[i]] ^= 0x80;
    }
    buffer_free(&buffer);
    free(host);
    free(back);
}

static void nothing(void) {
    unsigned char byte = 3;
    Buffer buffer;
    ok(buffer_create("LSE", 0, &buffer, &error) && !buffer.data && buffer.bytes == 0,
       "a buffer of nothing");
    ok(buffer_fill_nan(&buffer, &error) && buffer_write(&buffer, &byte, &error) &&
           buffer_read(&buffer, &byte, &error) && buffer_intact(&buffer, &error) &&
           buffer_unchanged(&buffer, &byte, &error) && byte == 3,
       "takes and gives nothing");
    buffer_free(&buffer);
    setenv("FAKE_ALLOCATIONS", "0", 1);
    ok(!buffer_create("V", (size_t)3 << 30, &buffer, &error) && error.status == STATUS_SKIP,
       "no memory is no failure");
    is_text(error.text,
            "the device has no memory left for V, 3221225472 bytes (3.0 GiB): choose a smaller B, "
            "H, N or NKV",
            "and says how much it would take");
    ok(cudaGetLastError() == cudaSuccess, "and is nobody else's error");
    unsetenv("FAKE_ALLOCATIONS");
}

int main(void) {
    without_bands(); /* first: what is freed may look like a band */
    bands();
    freeing();
    contents();
    nothing();
    return done_testing();
}

/* The fatbin reader on fatbins made here. Catches: a read past the end, a compressed or foreign
 * entry taken for PTX, the wrong architecture chosen, one error reported as another. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/fatbin.h"
#include "test/tap.h"

typedef struct Buffer {
    unsigned char bytes[4096];
    size_t size, last; /* last: where the last entry begins */
} Buffer;

static void put(Buffer *buffer, const void *data, size_t size) {
    memcpy(buffer->bytes + buffer->size, data, size);
    buffer->size += size;
}

static void put_number(Buffer *buffer, uint64_t number, size_t size) { put(buffer, &number, size); }

static void begin(Buffer *buffer) {
    buffer->size = 0;
    put_number(buffer, 0xba55ed50, 4);
    put_number(buffer, 1, 2);
    put_number(buffer, 16, 2);
    put_number(buffer, 0, 8);
}

static void put_entry(Buffer *buffer, unsigned kind, unsigned architecture, bool compressed,
                      const char *text) {
    buffer->last = buffer->size;
    size_t start = buffer->size, length = (strlen(text) + 8) / 8 * 8;
    put_number(buffer, kind, 2);
    put_number(buffer, 0x101, 2);
    put_number(buffer, 64, 4);
    put_number(buffer, length, 8);
    put_number(buffer, compressed ? 100 : 0, 4);
    put_number(buffer, 0, 8);
    put_number(buffer, architecture, 4);
    memset(buffer->bytes + buffer->size, 0, start + 64 - buffer->size + length);
    buffer->size = start + 64;
    memcpy(buffer->bytes + buffer->size, text, strlen(text));
    buffer->size += length;
    uint64_t rest = buffer->size - 16;
    memcpy(buffer->bytes + 8, &rest, sizeof rest);
}

/* Searches a copy that ends where an unreadable page begins, so that a read past it faults. */
static FatbinStatus find(const Buffer *buffer, size_t size, FatbinPtx *ptx) {
    static unsigned char *end;
    if (!end) {
        long page = sysconf(_SC_PAGESIZE);
        unsigned char *pages = mmap(NULL, (size_t)page + sizeof buffer->bytes,
                                    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) exit(1);
        end = pages + sizeof buffer->bytes;
        mprotect(end, (size_t)page, PROT_NONE);
    }
    memcpy(end - size, buffer->bytes, size);
    return fatbin_find_ptx(end - size, size, 90, ptx);
}

/* Each status has a message of its own, with the remedy. */
static void test_messages(void) {
    static const char *const part[] = {"holds PTX",
                                       "magic number",
                                       "build with CUDA 13",
                                       "runs past its end",
                                       "code=[sm_80,compute_80]",
                                       "--compress-mode=none"};
    for (int i = 0; i < 6; i++)
        ok(strstr(fatbin_message((FatbinStatus)i), part[i]) != NULL, "a message: %s", part[i]);
    is_text(fatbin_message((FatbinStatus)6), "unknown fatbin status", "for none of them");
}

/* Of which architecture PTX is taken, in whatever order the entries are. */
static void test_architectures(void) {
    static const struct {
        unsigned architectures[3];
        int taken;
    } rows[] = {{{75, 80, 90}, 90},     {{90, 80, 75}, 90},  {{80, 120, 100}, 80},
                {{120, 80, 86}, 86},    {{91, 90, 89}, 90},  {{120, 100, 103}, 100},
                {{100, 120, 121}, 100}, {{120, 103, 91}, 91}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buffer buffer;
        FatbinPtx ptx = {0};
        begin(&buffer);
        for (int e = 0; e < 3; e++) put_entry(&buffer, 1, rows[i].architectures[e], false, "x");
        is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "three architectures");
        is_int(ptx.architecture, rows[i].taken, "the newest that is not newer than the device");
    }
}

/* The entries of a fatbin at their limits. */
static void test_limits(void) {
    Buffer buffer;
    FatbinPtx ptx;
    begin(&buffer);
    put_entry(&buffer, 1, 0, false, "oldest");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "an architecture of 0");
    ok(ptx.architecture == 0 && ptx.length == 6, "is one");
    put_entry(&buffer, 1, 0x20050, false, "eighty");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "flags beside it");
    is_int(ptx.architecture, 80, "are none of it");
    put_entry(&buffer, 1, 80, false, "another");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "two for one architecture");
    ok(memcmp(ptx.text, "eighty", 6) == 0, "the first");
    put_entry(&buffer, 1, 90, true, "packed");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "one that is compressed");
    is_int(ptx.architecture, 80, "is passed over");
    put_entry(&buffer, 2, 100, false, "code");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "and so is machine code");
    is_int(ptx.architecture, 80, "of any architecture");
    begin(&buffer);
    put_entry(&buffer, 1, 80, false, "");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "PTX without a text");
    is_int((long long)ptx.length, 0, "is empty");
    buffer.bytes[8]++;
    is_int(find(&buffer, buffer.size + 1, &ptx), FATBIN_TRUNCATED, "a byte behind it");
    begin(&buffer);
    is_int(find(&buffer, 15, &ptx), FATBIN_TRUNCATED, "less than a header");
    put_entry(&buffer, 1, 80, false, "text");
    buffer.bytes[buffer.last + 4] = 72;
    buffer.bytes[buffer.last + 8] = 0;
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "a longer header");
    is_int((long long)ptx.length, 0, "ends the entry with itself");
    buffer.bytes[buffer.last + 4] = 73;
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_TRUNCATED, "one beyond the end");
    buffer.bytes[buffer.last + 4] = 32;
    buffer.bytes[buffer.last + 8] = 40;
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_TRUNCATED, "one that its text begins in");
    buffer.bytes[buffer.last + 4] = 63;
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_TRUNCATED, "one that is too short");
}

int main(void) {
    test_architectures();
    test_limits();
    Buffer buffer;
    FatbinPtx ptx;
    begin(&buffer);
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_NO_PTX, "no entry at all");
    put_entry(&buffer, 2, 80, false, "machine code");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_NO_PTX, "machine code alone");
    put_entry(&buffer, 1, 80, true, "packed");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_COMPRESSED, "compressed PTX alone");
    ok(strstr(fatbin_message(FATBIN_COMPRESSED), "--compress-mode=none") != NULL,
       "its message names the remedy");
    put_entry(&buffer, 2, 80, false, "machine code");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_COMPRESSED, "or with machine code around it");
    put_entry(&buffer, 1, 75, false, ".version 9.0 old");
    put_entry(&buffer, 1, 90, false, ".version 9.0 best");
    put_entry(&buffer, 1, 80, false, ".version 9.0 middle");
    is_int(find(&buffer, buffer.size, &ptx), FATBIN_OK, "PTX found");
    ok(ptx.architecture == 90 && ptx.length == 17 && !memcmp(ptx.text, ".version 9.0 best", 17),
       "of the highest architecture, without padding");

    int wrong = 0;
    for (size_t size = 0; size < buffer.size; size++)
        wrong += find(&buffer, size, &ptx) != FATBIN_TRUNCATED;
    ok(wrong == 0, "every shorter fatbin is truncated (%d are not)", wrong);

    Buffer bad = buffer;
    bad.bytes[0]++;
    is_int(find(&bad, bad.size, &ptx), FATBIN_NOT_A_FATBIN, "another magic number");
    bad = buffer;
    bad.bytes[4] = 2;
    is_int(find(&bad, bad.size, &ptx), FATBIN_UNKNOWN_VERSION, "another version");
    bad = buffer;
    bad.bytes[6] = 8;
    is_int(find(&bad, bad.size, &ptx), FATBIN_TRUNCATED, "a header too short");
    bad = buffer;
    memset(bad.bytes + 16 + 8, 0xff, 8);
    is_int(find(&bad, bad.size, &ptx), FATBIN_TRUNCATED, "an entry of 2^64 - 1 bytes");
    bad = buffer;
    bad.bytes[bad.last + 8] += 8;
    is_int(find(&bad, bad.size, &ptx), FATBIN_TRUNCATED,
           "a last entry that runs 8 bytes past the end");
    bad = buffer;
    memset(bad.bytes + 16 + 4, 0, 4);
    is_int(find(&bad, bad.size, &ptx), FATBIN_TRUNCATED, "an entry without a header");

    struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper = {0x466243b1, 1, buffer.bytes, NULL};
    const void *data = NULL;
    size_t size = 0;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_OK, "the wrapper");
    ok(data == buffer.bytes && size == buffer.size, "gives the data and its size");
    wrapper.version = 3;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_UNKNOWN_VERSION, "its version");
    wrapper.magic = 0;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_NOT_A_FATBIN, "its magic number");
    wrapper.magic = 0x466243b1;
    wrapper.version = 1;
    memset(buffer.bytes + 8, 0xff, 8);
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_TRUNCATED, "data of 2^64 - 1 bytes");
    buffer.bytes[8] = 0xf0;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_TRUNCATED, "of so many with its header");
    buffer.bytes[8] = 0xef;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_OK, "of as many as can be counted");
    ok(size == SIZE_MAX, "which is all of memory");
    buffer.bytes[6] = 15;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_TRUNCATED, "a header that is too short");
    wrapper.data = NULL;
    is_int(fatbin_unwrap(&wrapper, &data, &size), FATBIN_NOT_A_FATBIN, "no data");
    test_messages();
    return done_testing();
}

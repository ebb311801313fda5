#include "cuda/fatbin.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WRAPPER_MAGIC = 0x466243b1, WRAPPER_VERSION = 1 };
static const uint32_t DATA_MAGIC = 0xba55ed50;
enum { DATA_VERSION = 1, DATA_HEADER = 16, ENTRY_HEADER = 64, ENTRY_PTX = 1 };

/* Fields of an unaligned little-endian structure. */
static uint16_t read16(const unsigned char *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t read32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t read64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Checks the data's header; gives its length and the length of what follows. */
static FatbinStatus read_header(const unsigned char *data, size_t *header, uint64_t *rest) {
    if (read32(data) != DATA_MAGIC) return FATBIN_NOT_A_FATBIN;
    if (read16(data + 4) != DATA_VERSION) return FATBIN_UNKNOWN_VERSION;
    *header = read16(data + 6);
    *rest = read64(data + 8);
    return *header < DATA_HEADER ? FATBIN_TRUNCATED : FATBIN_OK;
}

FatbinStatus fatbin_unwrap(const void *wrapper, const void **data, size_t *size) {
    struct {
        uint32_t magic, version;
        const void *data;
    } fields;
    memcpy(&fields, wrapper, sizeof fields);
    if (fields.magic != WRAPPER_MAGIC || !fields.data) return FATBIN_NOT_A_FATBIN;
    if (fields.version != WRAPPER_VERSION) return FATBIN_UNKNOWN_VERSION;

    size_t header;
    uint64_t rest;
    FatbinStatus status = read_header(fields.data, &header, &rest);
    if (status != FATBIN_OK) return status;
    if (rest > SIZE_MAX - header) return FATBIN_TRUNCATED;
    *data = fields.data;
    *size = header + (size_t)rest;
    return FATBIN_OK;
}

typedef struct Entry {
    uint16_t kind;
    bool compressed;
    int architecture;
    const unsigned char *payload;
    size_t length;
} Entry;

/* Reads the entry at data[0..size) and gives its total length. */
static FatbinStatus read_entry(const unsigned char *data, size_t size, Entry *entry,
                               size_t *total) {
    if (size < ENTRY_HEADER) return FATBIN_TRUNCATED;
    uint32_t header = read32(data + 4);
    uint64_t payload = read64(data + 8);
    if (header < ENTRY_HEADER || header > size || payload > size - header) return FATBIN_TRUNCATED;
    entry->kind = read16(data);
    entry->compressed = read32(data + 16) != 0;
    entry->architecture = (int)(read32(data + 28) & 0xffff);
    entry->payload = data + header;
    entry->length = (size_t)payload;
    *total = header + (size_t)payload;
    return FATBIN_OK;
}

/* Whether PTX for one architecture is chosen over that for another, -1: none yet. */
static bool preferred(int architecture, int other, int capability) {
    const bool runs = architecture <= capability;
    if (other < 0 || runs != (other <= capability)) return other < 0 || runs;
    return runs ? architecture > other : architecture < other;
}

FatbinStatus fatbin_find_ptx(const void *data, size_t size, int capability, FatbinPtx *ptx) {
    const unsigned char *at = data;
    if (size < DATA_HEADER) return FATBIN_TRUNCATED;
    size_t header;
    uint64_t rest;
    FatbinStatus status = read_header(at, &header, &rest);
    if (status != FATBIN_OK) return status;
    if (header > size || rest > size - header) return FATBIN_TRUNCATED;

    FatbinPtx best = {NULL, 0, -1};
    bool any = false; /* PTX of any kind */
    at += header;
    for (size_t left = (size_t)rest; left > 0;) {
        Entry entry;
        size_t total;
        status = read_entry(at, left, &entry, &total);
        if (status != FATBIN_OK) return status;
        any |= entry.kind == ENTRY_PTX;
        if (entry.kind == ENTRY_PTX && !entry.compressed &&
            preferred(entry.architecture, best.architecture, capability))
            best = (FatbinPtx){(const char *)entry.payload, entry.length, entry.architecture};
        at += total;
        left -= total;
    }
    if (!best.text) return any ? FATBIN_COMPRESSED : FATBIN_NO_PTX;
    while (best.length > 0 && best.text[best.length - 1] == '\0') best.length--;
    *ptx = best;
    return FATBIN_OK;
}

const char *fatbin_message(FatbinStatus status) {
    switch (status) {
    case FATBIN_OK:
        return "the fatbin holds PTX";
    case FATBIN_NOT_A_FATBIN:
        return "this is not a fatbin: its magic number is wrong";
    case FATBIN_UNKNOWN_VERSION:
        return "this fatbin has a version unknown to the simulator: build with CUDA 13";
    case FATBIN_TRUNCATED:
        return "this fatbin is damaged: an entry runs past its end";
    case FATBIN_NO_PTX:
        return "this fatbin holds no PTX: build with nvcc -gencode ...,code=[sm_80,compute_80]";
    case FATBIN_COMPRESSED:
        return "the PTX in this fatbin is compressed: build with nvcc --compress-mode=none";
    }
    return "unknown fatbin status";
}

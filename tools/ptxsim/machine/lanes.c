#include "machine/lanes.h"

void check_index(Warp *warp, const uint32_t value[], bool is_signed) {
    for (int l = 0; l < LANES; l++) {
        const int64_t number = is_signed ? (int32_t)value[l] : (int64_t)value[l];
        const uint64_t magnitude = (uint64_t)(number < 0 ? -number : number);
        if (warp->mask >> l & 1 && magnitude > warp->block->settings->index)
            fault(warp, l,
                  "%lld was computed in 32 bits and is made 64 bits wide: if it is an index, one "
                  "like it overflows in a tensor of 2^31 elements",
                  (long long)number);
    }
}

/* Elements of one type: the compiler turns the loop into vectors. */
#define KEEP(type)                              \
    do {                                        \
        type *to = out;                         \
        const type *from = part;                \
        VECTORISE                               \
        for (unsigned l = 0; l < LANES; l++)    \
            if (mask >> l & 1) to[l] = from[l]; \
    } while (0)

void keep_lanes(void *out, const void *part, size_t bytes, uint32_t mask) {
    switch (bytes) {
    case sizeof(u16):
        KEEP(u16);
        break;
    case sizeof(u32):
        KEEP(u32);
        break;
    case sizeof(u64):
        KEEP(u64);
        break;
    default:
        for (unsigned l = 0; l < LANES; l++)
            if (mask >> l & 1) memcpy((u8 *)out + l * bytes, (const u8 *)part + l * bytes, bytes);
    }
}

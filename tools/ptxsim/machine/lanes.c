#include "machine/lanes.h"

void check_index(Warp *warp, const uint32_t value[], bool is_signed) {
    for (int l = 0; l < LANES; l++) {
        const int64_t number = is_signed ? (int32_t)value[l] : (int64_t)value[l];
        const uint64_t magnitude = (uint64_t)(number < 0 ? -number : number);
        if (warp->mask >> l & 1 && magnitude > warp->block->settings->index)
            fault(warp, l,
                  "%lld was computed in 32 bits and is made 64 bits wide: an index like that "
                  "overflows in a tensor of 2^31 elements",
                  (long long)number);
    }
}

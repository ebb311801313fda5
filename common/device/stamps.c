#include "device/stamps.h"

#include "device/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

bool stamps_open(const Stage *stage, Stamps *stamps, Error *error) {
    void *set = dlsym(stage->library, "timeline_buffers");
    *stamps = (Stamps){.marks = dlsym(stage->library, "timeline_marks")};
    if (!set || !stamps->marks)
        return error_set(error, STATUS_USAGE,
                         "%s is not a stamped copy of a stage: the second folder must be one "
                         "(make stageNN timeline builds it)",
                         stage->folder);
    memcpy(&stamps->set, &set, sizeof set);
    while (stamps->marks[stamps->mark_count].label) stamps->mark_count++;
    return true;
}

bool stamps_create(unsigned warps, unsigned each, Stamps *stamps, Error *error) {
    stamps_free(stamps);
    stamps->warp_count = warps;
    stamps->each = each;
    if (!buffer_create("the warps", warps * sizeof(TimelineWarp), &stamps->warps, error) ||
        !buffer_create("the stamps", (size_t)warps * each * sizeof(TimelineStamp), &stamps->stamps,
                       error))
        return false;
    const TimelineBuffers buffers = {.warps = (TimelineWarp *)(void *)stamps->warps.data,
                                     .stamps = (TimelineStamp *)(void *)stamps->stamps.data,
                                     .count = warps,
                                     .mask = each - 1};
    return CUDA_OK(stamps->set(&buffers), error) && stamps_clear(stamps, error);
}

bool stamps_clear(const Stamps *stamps, Error *error) {
    return buffer_fill(&stamps->warps, 0, error) && buffer_fill(&stamps->stamps, 0, error);
}

TimelineWarp *stamps_warps(const Stamps *stamps, Error *error) {
    if (!buffer_intact(&stamps->warps, error) || !buffer_intact(&stamps->stamps, error))
        return NULL;
    TimelineWarp *warps = malloc(stamps->warp_count * sizeof *warps);
    if (!warps) {
        error_set(error, STATUS_SKIP, "not enough host memory");
        return NULL;
    }
    if (buffer_read(&stamps->warps, warps, error)) return warps;
    free(warps);
    return NULL;
}

/* A warp writes downwards, and never to its entry 0. */
bool stamps_of(const Stamps *stamps, unsigned warp, TimelineStamp *list, unsigned *count,
               Error *error) {
    const size_t bytes = stamps->each * sizeof *list;
    *count = 0;
    if (!CUDA_OK(
            cudaMemcpy(list, stamps->stamps.data + warp * bytes, bytes, cudaMemcpyDeviceToHost),
            error))
        return false;
    for (unsigned low = 0, high = stamps->each - 1; low < high; low++, high--) {
        const TimelineStamp kept = list[low];
        list[low] = list[high];
        list[high] = kept;
    }
    while (*count < stamps->each - 1 && list[*count].mark) ++*count;
    for (unsigned i = 0; i < *count; i++)
        if (list[i].mark > (unsigned)stamps->mark_count)
            return error_set(error, STATUS_FAIL,
                             "warp %u wrote a stamp with mark %u, but there are only %d marks",
                             warp, list[i].mark, stamps->mark_count);
    return true;
}

void stamps_free(Stamps *stamps) {
    buffer_free(&stamps->warps);
    buffer_free(&stamps->stamps);
}

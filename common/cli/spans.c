#include "cli/spans.h"

#include <inttypes.h>
#include <stdlib.h>

/* How much later than `origin` a clock of 32 bits is. */
static int since(unsigned clock, unsigned origin) { return (int)(clock - origin); }

static int clock_of(const TimelineStamp *stamp) { return (int)stamp->clock; }

int spans_blocks(const TimelineWarp *warps, unsigned count) {
    unsigned ran = 0;
    while (ran < count && warps[ran].sm) ran++;
    return ran ? (int)(ran / warps[0].warps) : 0;
}

/* Appends a warp with its beginning as a stamp of mark 0, clocks counted from `origin`. `list` is
 * room for the stamps. */
static bool read_warp(const Stamps *stamps, const TimelineWarp *warps, unsigned warp,
                      unsigned origin, TimelineStamp *list, Spans *spans, Error *error) {
    unsigned count;
    if (!stamps_of(stamps, warp, list, &count, error)) return false;
    WarpSpans *mine = &spans->warps[spans->warp_count];
    *mine = (WarpSpans){.block = (int)(warp / warps[warp].warps),
                        .warp = (int)(warp % warps[warp].warps),
                        .full = count == stamps->each - 1,
                        .count = count + 1,
                        .stamps = malloc((count + 1) * sizeof *list)};
    if (!mine->stamps) return error_set(error, STATUS_SKIP, "not enough host memory");
    spans->warp_count++;
    mine->stamps[0] = (TimelineStamp){(unsigned)since(warps[warp].clock, origin), 0};
    for (unsigned i = 0; i < count; i++)
        mine->stamps[1 + i] =
            (TimelineStamp){(unsigned)since(list[i].clock, origin), list[i].mark - 1};
    return true;
}

/* Leaves of a warp what overlaps 0 .. cycles - 1. */
static void clip(WarpSpans *warp, int64_t cycles) {
    unsigned first = 0, end = warp->count;
    while (first + 1 < end && clock_of(&warp->stamps[first + 1]) <= 0) first++;
    while (end > first && clock_of(&warp->stamps[end - 1]) >= cycles) end--;
    if (end < warp->count) end++; /* the last span's end */
    warp->count = end - first;
    for (unsigned i = 0; i < warp->count; i++) warp->stamps[i] = warp->stamps[first + i];
}

static bool overlaps(const WarpSpans *warp, int64_t cycles) {
    return clock_of(&warp->stamps[0]) < cycles && clock_of(&warp->stamps[warp->count - 1]) > 0;
}

/* The warps of a block. */
static const TimelineWarp *of_block(const TimelineWarp *warps, int block) {
    return &warps[(size_t)block * (size_t)warps[0].warps];
}

/* The warps of a block other than the chosen one; they go again if none of them overlaps it. */
static bool read_neighbour(const Stamps *stamps, const TimelineWarp *warps, int block,
                           unsigned origin, TimelineStamp *list, Spans *spans, Error *error) {
    const int before = spans->warp_count, team = warps[0].warps;
    bool beside = false;
    for (int i = 0; i < team; i++)
        if (!read_warp(stamps, warps, (unsigned)(block * team + i), origin, list, spans, error))
            return false;
    for (int i = before; i < spans->warp_count; i++)
        beside |= overlaps(&spans->warps[i], spans->cycles);
    for (int i = before; i < spans->warp_count; i++) {
        if (beside)
            clip(&spans->warps[i], spans->cycles);
        else
            free(spans->warps[i].stamps);
    }
    if (!beside) spans->warp_count = before;
    return true;
}

static bool read_all(const Stamps *stamps, const TimelineWarp *warps, bool neighbours,
                     TimelineStamp *list, Spans *spans, Error *error) {
    const int team = warps[0].warps;
    const TimelineWarp *mine = of_block(warps, spans->block);
    unsigned origin = mine->clock;
    for (int i = 1; i < team; i++)
        if (since(mine[i].clock, origin) < 0) origin = mine[i].clock;
    for (int i = 0; i < team; i++) {
        if (!read_warp(stamps, warps, (unsigned)(spans->block * team + i), origin, list, spans,
                       error))
            return false;
        const WarpSpans *warp = &spans->warps[i];
        const int end = clock_of(&warp->stamps[warp->count - 1]);
        if (end > spans->cycles) spans->cycles = end;
    }
    for (int block = 0; neighbours && block < spans->blocks; block++)
        if (block != spans->block && of_block(warps, block)->sm == mine->sm &&
            !read_neighbour(stamps, warps, block, origin, list, spans, error))
            return false;
    return true;
}

bool spans_read(const Stamps *stamps, const TimelineWarp *warps, int block, bool neighbours,
                Spans *spans, Error *error) {
    const int blocks = spans_blocks(warps, stamps->warp_count);
    *spans = (Spans){.block = block, .blocks = blocks};
    if (blocks == 0)
        return error_set(
            error, STATUS_FAIL,
            "the stamped copy has written no stamp: did its kernel run any of the marked lines?");
    if (block >= blocks)
        return error_set(error, STATUS_USAGE, "BLOCK=%d: allowed are 0 to %d", block, blocks - 1);
    spans->sm = of_block(warps, block)->sm - 1;
    spans->warps = calloc((size_t)blocks * (size_t)warps[0].warps, sizeof *spans->warps);
    TimelineStamp *list = malloc(stamps->each * sizeof *list);
    const bool read =
        (spans->warps && list) || error_set(error, STATUS_SKIP, "not enough host memory");
    const bool good = read && read_all(stamps, warps, neighbours, list, spans, error);
    free(list);
    if (!good) spans_free(spans);
    return good;
}

static void marks_json(FILE *out, const Stamps *stamps) {
    fprintf(out, "\"marks\":[");
    for (int i = 0; i < stamps->mark_count; i++) {
        const TimelineMark *mark = &stamps->marks[i];
        fprintf(out, "%s[\"%s\",%d,%d,%d]", i ? "," : "", mark->label, mark->line, mark->issues,
                mark->keeps);
    }
    fprintf(out, "],\n");
}

static void warp_json(FILE *out, const WarpSpans *warp) {
    int before = 0;
    fprintf(out, "{\"block\":%d,\"warp\":%d,\"full\":%s,\"stamps\":[", warp->block, warp->warp,
            warp->full ? "true" : "false");
    for (unsigned i = 0; i < warp->count; i++) {
        const int clock = clock_of(&warp->stamps[i]);
        fprintf(out, "%s%d,%u", i ? "," : "", clock - before, warp->stamps[i].mark);
        before = clock;
    }
    fprintf(out, "]}");
}

void spans_json(FILE *out, const Stamps *stamps, const Spans *spans) {
    fprintf(out, "\"block\":%d,\"blocks\":%d,\"sm\":%d,\"cycles\":%" PRId64 ",\n", spans->block,
            spans->blocks, spans->sm, spans->cycles);
    marks_json(out, stamps);
    fprintf(out, "\"warps\":[\n");
    for (int i = 0; i < spans->warp_count; i++) {
        warp_json(out, &spans->warps[i]);
        fprintf(out, "%s\n", i + 1 < spans->warp_count ? "," : "");
    }
    fprintf(out, "]");
}

void spans_free(Spans *spans) {
    for (int i = 0; i < spans->warp_count; i++) free(spans->warps[i].stamps);
    free(spans->warps);
    *spans = (Spans){0};
}

/* shfl: every mode by segments of every width, operands that differ from lane to lane, and
 * exchanges of lanes, of which the simulator has a shorter way. Catches: a value taken from the
 * wrong lane, a segment that ends elsewhere, a lane that is taken for one that does as the others
 * do, a result that is shuffled once more, a value from a lane that takes no part. */
#include "test/threads.h"

typedef struct Shuffle {
    const char *mode;
    uint32_t b, width;
    bool wants_predicate;
} Shuffle;

/* By lanes of a segment of `width`: PTX ISA, shfl. */
static uint32_t shuffled(const void *what, uint32_t lane) {
    const Shuffle *s = what;
    const int first = (int)(lane / s->width * s->width), end = first + (int)s->width;
    int from = (int)lane;
    switch (s->mode[0]) {
    case 'u':
        from -= (int)s->b;
        break;
    case 'd':
        from += (int)s->b;
        break;
    case 'b':
        from ^= (int)s->b;
        break;
    default:
        from = first + (int)(s->b % s->width);
        break;
    }
    const bool inside = s->mode[0] == 'u' ? from >= first : from < end;
    if (s->wants_predicate) return inside;
    return input(inside ? (uint32_t)from : lane);
}

static void test_shuffles(void) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (int m = 0; m < 4; m++)
        for (uint32_t width = 4; width <= 32; width *= 2)
            for (uint32_t b = 0; b < 32; b += b < 2 ? 1 : 5)
                for (int wants = 0; wants < 2; wants++) {
                    char text[160];
                    const Shuffle shuffle = {modes[m], b, width, wants};
                    const uint32_t clamp = m == 0 ? 0 : 31, c = (32 - width) << 8 | clamp;
                    snprintf(text, sizeof text, "shfl.sync.%s.b32 d%s, a, %u, 0x%x, -1%s", modes[m],
                             wants ? "|g" : "", b, c, wants ? "; selp.b32 d, 1, 0, g" : "");
                    check(text, LANES_A_WARP, false, shuffled, &shuffle);
                }
}

/* Operands that differ from lane to lane, with bits that do not count: PTX ISA, shfl. */
typedef struct MixedShuffle {
    char mode;
    uint32_t b, c, odd_b, odd_c; /* times the lane's number; of lane `odd` alone */
    uint32_t odd;
} MixedShuffle;

static uint32_t mixed_source(const MixedShuffle *s, uint32_t lane, bool *inside) {
    const uint32_t b = (lane == s->odd ? s->odd_b : s->b * lane) & 31;
    const uint32_t c = lane == s->odd ? s->odd_c : s->c * lane, segment = c >> 8 & 31;
    const int most = (int)((lane & segment) | (c & 31 & ~segment));
    const int from = s->mode == 'u'   ? (int)lane - (int)b
                     : s->mode == 'd' ? (int)(lane + b)
                     : s->mode == 'b' ? (int)(lane ^ b)
                                      : (int)((lane & segment) | (b & ~segment));
    *inside = s->mode == 'u' ? from >= most : from <= most;
    return *inside ? (uint32_t)from : lane;
}

static uint32_t mixed_shuffle(const void *what, uint32_t lane) {
    bool inside;
    const uint32_t from = mixed_source(what, lane, &inside);
    return input(from) + (inside ? 0 : 0x10000);
}

static void test_mixed_shuffles(void) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (uint32_t i = 0; i < 4 * 40; i++) {
        char text[300];
        const uint32_t mix = (i / 4 + 1) * 2654435761u;
        const MixedShuffle s = {modes[i % 4][0], mix ^ mix >> 13, mix ^ mix >> 7, 99, 0x1f, i / 4};
        snprintf(text, sizeof text,
                 "mul.lo.u32 w, t, %u; mul.lo.u32 z, t, %u; setp.eq.u32 h, t, %u; "
                 "@h mov.u32 w, 99; @h mov.u32 z, 0x1f; shfl.sync.%s.b32 d|g, a, w, z, -1; "
                 "@!g add.u32 d, d, 0x10000",
                 s.b, s.c, s.odd, modes[i % 4]);
        check(text, LANES_A_WARP, false, mixed_shuffle, &s);
    }
}

/* The common exchange of lanes, and what is almost one: one lane has another distance or segment.
 */
static uint32_t almost_exchanged(const void *what, uint32_t lane) {
    const MixedShuffle *s = what;
    const bool odd = lane == s->odd;
    const uint32_t b = odd ? s->odd_b : s->b, c = odd ? s->odd_c : s->c, segment = c >> 8 & 31;
    const uint32_t from = lane ^ (b & 31), most = (lane & segment) | (c & 31 & ~segment);
    return from <= most ? input(from) : input(lane) + 0x10000;
}

static void test_exchanges(void) {
    static const uint32_t others[][2] = {{1, 0x1f},   {31, 0x1f},  {32, 0x1f},      {2, 0x1e},
                                         {2, 0x1f3f}, {2, 0x101f}, {2, 0x11f},      {2, 0xf},
                                         {2, 0x0},    {2, 0x3f},   {2, 0xffffe0ff}, {66, 0x1f}};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++)
        for (uint32_t odd = 0; odd <= 32; odd += odd == 1 ? 31U : 1U) {
            char text[300]; /* of lane 0, 1 or none; then all lanes are alike */
            const uint32_t b = odd < 32 ? 2 : others[i][0], c = odd < 32 ? 0x1f : others[i][1];
            const MixedShuffle s = {'b', b, c, others[i][0], others[i][1], odd};
            snprintf(text, sizeof text,
                     "setp.eq.u32 h, t, %u; selp.b32 w, %u, %u, h; selp.b32 z, %u, %u, h; "
                     "shfl.sync.bfly.b32 d|g, a, w, z, -1; @!g add.u32 d, d, 0x10000",
                     odd, s.odd_b, b, s.odd_c, c);
            check(text, LANES_A_WARP, false, almost_exchanged, &s);
        }
}

/* A result that comes to where the value, the distance or the segment stood. */
static void test_in_place(void) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (int m = 0; m < 4; m++)
        for (const char *result = "awz"; *result; result++) {
            char text[160];
            const Shuffle shuffle = {modes[m], 2, 32, false};
            snprintf(text, sizeof text,
                     "mov.b32 w, 2; mov.b32 z, %d; shfl.sync.%s.b32 %c|h, a, w, z, -1; "
                     "mov.b32 d, %c",
                     m == 0 ? 0 : 31, modes[m], *result, *result);
            check(text, LANES_A_WARP, false, shuffled, &shuffle);
        }
}

/* 16 lanes take part, and the upper 8 of them read beyond: PTX ISA, shfl, calls that undefined. The
 * other 16 do nothing, have ended or are a group of their own. */
enum { NAN_OF_ALL_TYPES = 0x7fff7fff };

static uint32_t of_sixteen(const void *what, uint32_t lane) {
    const bool groups = *(const bool *)what;
    if (lane < 8 || (groups && lane >= 16 && lane < 24)) return input(lane + 8);
    if (lane < 16) return NAN_OF_ALL_TYPES;
    return groups ? input(lane) : 0; /* the last 8 reach beyond the warp: their own */
}

/* A value that is NaN as fp32 makes the sum of lane 0 wrong, if it is used. */
static uint32_t of_sum(const void *what, uint32_t lane) { return lane == 0 && *(const bool *)what; }

static void test_taking_no_part(void) {
    static const bool no = false, yes = true;
    check("setp.lt.u32 h, t, 16; @h shfl.sync.down.b32 d, a, 8, 31, 0xffff", 32, false, of_sixteen,
          &no);
    check("setp.ge.u32 h, t, 16; @h exit; shfl.sync.down.b32 d, a, 8, 31, -1", 32, false,
          of_sixteen, &no);
    check("setp.lt.u32 h, t, 16; selp.b32 w, 0xffff, 0xffff0000, h; "
          "shfl.sync.down.b32 d, a, 8, 31, w",
          32, false, of_sixteen, &yes);
    check("setp.ge.u32 h, t, 16; @h exit; shfl.sync.down.b32 d|g, a, 8, 31, 0xffff; "
          "selp.b32 d, 0, 1, g", /* the predicate is about the segment */
          32, false, of_sum, &no);
    for (int first = 8; first <= 16; first += 8) {
        char text[600] = "setp.ge.u32 h, t, 16; @h exit; .reg .f32 x, y; cvt.rn.f32.u32 x, t; ";
        for (int step = first; step > 0; step /= 2)
            sprintf(text + strlen(text),
                    "mov.b32 w, x; shfl.sync.down.b32 w, w, %d, 31, 0xffff; mov.b32 y, w; "
                    "add.f32 x, x, y; ",
                    step);
        strcat(text, "setp.eq.u32 g, t, 0; setp.neu.and.f32 g, x, 0f42F00000, g; " /* 120 */
                     "selp.b32 d, 1, 0, g");
        check(text, 32, false, of_sum, first == 8 ? &no : &yes);
    }
}

int main(void) {
    if (!is_on_gpu()) test_taking_no_part(); /* such values are not defined */
    test_shuffles();
    test_mixed_shuffles();
    test_exchanges();
    test_in_place();
    return done_testing();
}

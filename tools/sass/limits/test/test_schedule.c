/* Waves and tails. Catches: a round that is not counted, blocks that share nothing or too much, a
 * list that is taken in another order, a block alone that is as fast as several, resources that are
 * not divided as the hardware does. */
#include "limits/schedule.h"
#include "test/tap.h"

enum { SMS = 4, MOST = 64 };

static double even(int blocks, int resident) {
    double cost[MOST];
    for (int i = 0; i < blocks; i++) cost[i] = 10;
    return schedule_end(cost, blocks, SMS, resident, 1);
}

static void test_waves(void) {
    is_near(even(1, 1), 10, 0, "one block");
    is_near(even(4, 1), 10, 0, "one round");
    is_near(even(5, 1), 20, 0, "one block more is a round more");
    is_near(even(8, 1), 20, 0, "two rounds");
    is_near(even(8, 2), 20, 0,
            "two that share a multiprocessor take as long as one after the other");
    is_near(even(9, 2), 30, 0, "and one more as much as alone");
}

static void test_tails(void) {
    const double rising[] = {1, 1, 1, 1, 1, 1, 1, 9}, falling[] = {9, 1, 1, 1, 1, 1, 1, 1};
    is_near(schedule_end(rising, 8, SMS, 1, 1), 10, 0, "a long block that comes last begins late");
    is_near(schedule_end(falling, 8, SMS, 1, 1), 9, 0, "one that comes first hides the others");
    /* Two on the first, one of 6 and one of 2: the short one ends at 4, the long one at 8. */
    const double shared[] = {6, 5, 5, 5, 2, 1, 1, 1};
    is_near(schedule_end(shared, 8, SMS, 2, 1), 8, 1e-9,
            "blocks that share end by how much is left");
    /* The second multiprocessor ends blocks at 3 and 7, before the first does at 8: it gets both of
     * the blocks that are left. */
    const double late[] = {4, 1.5, 4, 3.5, 10, 1};
    is_near(schedule_end(late, 6, 2, 2, 1), 16, 1e-9, "a block goes where one ends first");
    /* The first one ends its second block at 4, the other one a block at 10. */
    const double second[] = {6, 5, 2, 5, 10};
    is_near(schedule_end(second, 5, 2, 2, 1), 18, 1e-9, "or where the second block is short");
    /* On both a block ends at 4; what is left of the other one is 4 on the first and none on the
     * second. */
    const double tie[] = {2, 2, 6, 2, 10};
    is_near(schedule_end(tie, 5, 2, 2, 1), 18, 1e-9, "of two that have room at once the first");
    is_near(schedule_end(rising, 0, SMS, 1, 1), 0, 0, "no blocks");
}

/* A block that is alone goes on at half the speed of three, of two it is three quarters. */
static void test_alone(void) {
    const double cost[] = {12, 12, 12};
    is_near(schedule_end(cost, 1, 1, 3, 0.5), 24, 1e-9, "one block");
    is_near(schedule_end(cost, 2, 1, 3, 0.5), 32, 1e-9, "two");
    is_near(schedule_end(cost, 3, 1, 3, 0.5), 36, 1e-9, "three have all of it");
    is_near(schedule_end(cost, 3, 1, 1, 0.5), 36, 1e-9, "and so has one, if no other fits");
    const double two[] = {3, 12};
    is_near(schedule_end(two, 2, 1, 3, 0.5), 8 + 18, 1e-9, "what is left at the end is slow");
}

/* What a block needs and what there is, of which one thing alone decides. */
static void test_residents(void) {
    static const struct {
        Residents needs;
        int fit;
        const char *what;
    } rooms[] = {
        {{128, 16, 0, 2048, 65536, 233472, 32, 1024}, 16, "threads"},
        {{97, 16, 0, 2048, 65536, 233472, 32, 1024}, 16, "threads of whole warps"},
        {{32, 16, 0, 320, 65536, 233472, 32, 1024}, 10, "one warp"},
        {{32, 16, 0, 2048, 65536, 233472, 32, 1024}, 32, "places"},
        {{0, 32, 0, 2048, 65536, 233472, 32, 1024}, 32, "places for blocks of nothing"},
        {{128, 0, 0, 2048, 65536, 233472, 32, 1024}, 16, "threads without registers"},
        {{128, 207, 0, 2048, 65536, 233472, 32, 1024}, 2, "registers"},
        {{128, 168, 0, 2048, 65536, 233472, 32, 1024}, 3, "registers, 168"},
        {{128, 161, 0, 2048, 64512, 233472, 32, 1024}, 3, "8 of them at a time per thread"},
        {{128, 160, 0, 2048, 61440, 233472, 32, 1024}, 3, "all that there are"},
        {{33, 8, 0, 2048, 5120, 233472, 32, 1024}, 10, "registers of whole warps"},
        {{32, 1, 0, 2048, 2560, 233472, 32, 1024}, 10, "256 of a warp at least"},
        {{128, 16, 57 << 10, 2048, 65536, 233472, 32, 1024}, 3, "shared memory and the system's"},
        {{128, 16, 57 << 10, 2048, 65536, 233472, 32, 0}, 4, "shared memory alone"},
        {{128, 16, 0, 2048, 65536, 10240, 32, 1024}, 10, "the system's alone"},
        {{128, 16, 0, 2048, 65536, 0, 32, 0}, 16, "threads without shared memory"},
        {{128, 16, 10, 2048, 65536, 25, 32, 0}, 2, "bytes"},
        {{128, 16, 1, 2048, 65536, 15, 32, 0}, 15, "single bytes"},
        {{128, 32, 300 << 10, 2048, 65536, 233472, 32, 1024}, 1, "at least one"},
    };
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        is_int(schedule_residents(&rooms[i].needs), rooms[i].fit, rooms[i].what);
}

int main(void) {
    test_waves();
    test_tails();
    test_alone();
    test_residents();
    return done_testing();
}

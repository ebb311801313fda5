/* The race detector beside the memory model itself, on random programs of a few threads: a vector
 * clock for each thread, a list of all accesses, and release and acquire as PTX defines them.
 * Catches: a race that is none. Races that the detector does not see, because it knows of some
 * lanes of a warp only which they are, are counted: there must be few. */
#include "machine/memory/race.h"
#include "test/tap.h"

enum { WARPS = 2, LANES = 3, THREADS = WARPS * LANES, FLAGS = 2, CELLS = 3, MOST = 400 };
enum { BASE = 1024, FLAG_AT = 1 << 20, MBARRIER = BASE + 512, LIVE = (1 << LANES) - 1 };

typedef struct Clock {
    uint32_t of[THREADS];
} Clock;

typedef struct Past {
    int thread, cell;
    uint32_t when;
    bool writes, strong;
} Past;

/* What the model knows. */
static struct {
    Clock thread[THREADS], fence[THREADS], seen[THREADS], flag[FLAGS], arrived, completed;
    Clock own[FLAGS][THREADS]; /* what each has released there since another's store */
    Past past[MOST];
    int pasts;
} model;

static Race *race;
static RaceReport report;
static uint64_t state;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static void join(Clock *into, const Clock *from) {
    for (int i = 0; i < THREADS; i++)
        if (into->of[i] < from->of[i]) into->of[i] = from->of[i];
}

static void tick(int thread) { model.thread[thread].of[thread]++; }

static void begin(void) {
    memset(&model, 0, sizeof model);
    for (int t = 0; t < THREADS; t++) model.thread[t].of[t] = 1;
    race_begin_block(race);
    for (unsigned w = 0; w < WARPS; w++) race_live(race, w, LIVE);
}

/* Whether the access races, by the model. */
static bool model_access(int thread, int cell, bool writes, bool strong) {
    bool races = false;
    for (int i = 0; i < model.pasts; i++) {
        const Past *p = &model.past[i];
        const bool conflict = p->cell == cell && (p->writes || writes) && !(p->strong && strong);
        races |= conflict && p->when > model.thread[thread].of[p->thread];
    }
    return races;
}

/* One lane's access to a cell: 1 a race by the model, 2 by the detector. */
static int access_cell(int thread) {
    static const RaceAccess accesses[] = {RACE_READ, RACE_WRITE, RACE_ATOMIC, RACE_STRONG_READ,
                                          RACE_STRONG_WRITE};
    const unsigned which = draw(8) % 5, cell = draw(CELLS), lane = (unsigned)thread % LANES;
    const bool writes = which == 1 || which == 2 || which == 4;
    uint32_t address[32] = {0};
    address[lane] = BASE + 4 * cell;
    const int model_says = model_access(thread, (int)cell, writes, which >= 2);
    if (model_says && draw(8)) return 0; /* or no program would be long */
    model.past[model.pasts++] =
        (Past){thread, (int)cell, model.thread[thread].of[thread], writes, which >= 2};
    const int detector_says = race_access(race, (unsigned)(thread / LANES), accesses[which],
                                          1u << lane, address, 4, (uint32_t)model.pasts, &report);
    return model_says + 2 * detector_says;
}

static void write_flag(int thread, unsigned flag, bool releases, bool atomic) {
    Clock *at = &model.flag[flag];
    if (!atomic) {
        *at = model.own[flag][thread];
        for (int t = 0; t < THREADS; t++)
            if (t != thread) memset(&model.own[flag][t], 0, sizeof(Clock));
    }
    join(&model.own[flag][thread], &model.fence[thread]);
    if (releases) join(&model.own[flag][thread], &model.thread[thread]);
    join(at, &model.own[flag][thread]);
    race_strong_write(race, (unsigned)(thread / LANES), (unsigned)(thread % LANES),
                      FLAG_AT + 8 * flag, RACE_STRONG | (releases ? RACE_RELEASES : 0u), atomic);
    tick(thread);
}

static void read_flag(int thread, unsigned flag, bool acquires) {
    join(&model.seen[thread], &model.flag[flag]);
    if (acquires) join(&model.thread[thread], &model.flag[flag]);
    race_strong_read(race, (unsigned)(thread / LANES), (unsigned)(thread % LANES),
                     FLAG_AT + 8 * flag, RACE_STRONG | (acquires ? RACE_ACQUIRES : 0u));
}

static void fence(int thread) {
    join(&model.thread[thread], &model.seen[thread]);
    model.fence[thread] = model.thread[thread];
    race_fence(race, (unsigned)(thread / LANES), 1u << thread % LANES,
               RACE_ACQUIRES | RACE_RELEASES);
    tick(thread);
}

/* Threads first .. first + 31 of the mask meet. */
static void meet(int first, uint32_t lanes) {
    Clock all = {{0}};
    for (int l = 0; l < THREADS; l++)
        if (lanes >> l & 1) join(&all, &model.thread[first + l]);
    for (int l = 0; l < THREADS; l++)
        if (lanes >> l & 1) join(&model.thread[first + l], &all), tick(first + l);
}

static void meet_all(void) {
    meet(0, (1 << THREADS) - 1);
    for (unsigned w = 0; w < WARPS; w++) race_barrier_arrive(race, 0, w, true);
    race_barrier_release(race, 0, (1 << WARPS) - 1);
}

static void arrive(int thread) {
    join(&model.arrived, &model.thread[thread]);
    race_mbarrier_arrive(race, MBARRIER, (unsigned)(thread / LANES), (unsigned)(thread % LANES),
                         RACE_RELEASES, false);
    tick(thread);
    if (draw(2)) return;
    model.completed = model.arrived;
    race_mbarrier_complete(race, MBARRIER);
}

static void wait(int warp, uint32_t lanes) {
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) join(&model.thread[warp * LANES + l], &model.completed);
    race_mbarrier_acquire(race, MBARRIER, (unsigned)warp, lanes, RACE_ACQUIRES);
}

/* One step; what access_cell says of it. */
static int step(void) {
    const int thread = (int)draw(THREADS), warp = thread / LANES;
    const uint32_t lanes = 1u << thread % LANES | draw(LIVE + 1);
    switch (draw(14)) {
    case 0:
        meet(warp * LANES, lanes);
        race_warp_sync(race, (unsigned)warp, lanes);
        return 0;
    case 1:
        if (draw(4) == 0) meet_all();
        return 0;
    case 2:
        arrive(thread);
        return 0;
    case 3:
        wait(warp, lanes);
        return 0;
    case 4:
        fence(thread);
        return 0;
    case 5:
    case 6:
        write_flag(thread, draw(FLAGS), draw(2), draw(2));
        return 0;
    case 7:
    case 8:
        read_flag(thread, draw(FLAGS), draw(2));
        return 0;
    default:
        return access_cell(thread);
    }
}

int main(void) {
    int invented = 0, missed = 0, found = 0;
    uint64_t first = 0;
    race = race_new(BASE, 1024, WARPS, 4);
    for (uint64_t program = 1; program <= 20000; program++) {
        int says = 0;
        state = program;
        begin();
        while (!says && model.pasts < 100) says = step();
        invented += says == 2;
        missed += says == 1;
        found += says == 3;
        if (says == 2 && !first) first = program;
    }
    race_free(race);
    ok(invented == 0, "no race that is none");
    if (first) printf("# %d, the first in program %llu\n", invented, (unsigned long long)first);
    ok(missed < found / 10, "of %d races %d are not seen", found + missed, missed);
    return done_testing();
}

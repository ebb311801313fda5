/* Where lanes meet and what runs in one go, in random kernels, beside the definition: lanes that
 * part meet at the first operation that every path from there to the end passes. Catches: an arrow
 * that is missing or too much, a meeting place that is too early or too late, a loop without an end
 * that is taken for one, a straight piece that goes on where lanes meet. */
#include "decode/cfg.h"
#include "test/run_ptx.h"
#include "test/tap.h"

enum { MOST = 24, END = MOST + 1, NODES = MOST + 2 }; /* the decoder adds an exit; END is behind */

typedef enum Kind {
    MOVE,
    GUARDED_MOVE,
    BARRIER,
    BRANCH,
    GUARDED_BRANCH,
    EXIT,
    GUARDED_EXIT,
    TABLE,
    GUARDED_TABLE
} Kind;

typedef struct Step {
    Kind kind;
    int target[3];
} Step;

static Step step[MOST];
static int steps;
static uint32_t seed = 1;

static int below(int limit) {
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 10) % (uint32_t)limit);
}

static void draw(void) {
    static const Kind kinds[] = {MOVE,           MOVE,           GUARDED_MOVE,   BRANCH,
                                 GUARDED_BRANCH, GUARDED_BRANCH, GUARDED_BRANCH, EXIT,
                                 GUARDED_EXIT,   TABLE,          GUARDED_TABLE,  BARRIER};
    steps = 3 + below(MOST - 3);
    for (int i = 0; i < steps; i++) {
        step[i].kind = kinds[below(12)];
        for (int t = 0; t < 3; t++) step[i].target[t] = below(steps);
    }
}

static void write_kernel(char *text, size_t size) {
    static const char *const forms[] = {"mov.u32 a, 1;", "@p mov.u32 a, 1;", "bar.sync 0;",
                                        "bra.uni L%d;",  "@p bra L%d;",      "ret;",
                                        "@p ret;",       "brx.idx a, T%d;",  "@p brx.idx a, T%d;"};
    size_t n = (size_t)snprintf(text, size,
                                PTX_HEAD ".visible .entry k()\n{\n.reg .pred p; .reg .b32 a;\n");
    for (int i = 0; i < steps; i++) {
        const bool table = step[i].kind == TABLE || step[i].kind == GUARDED_TABLE;
        if (table)
            n += (size_t)snprintf(text + n, size - n, "T%d: .branchtargets L%d, L%d, L%d;\n", i,
                                  step[i].target[0], step[i].target[1], step[i].target[2]);
        n += (size_t)snprintf(text + n, size - n, "L%d: ", i);
        n += (size_t)snprintf(text + n, size - n, forms[step[i].kind],
                              table ? i : step[i].target[0]);
        n += (size_t)snprintf(text + n, size - n, "\n");
    }
    snprintf(text + n, size - n, "}\n");
}

/* ---- The definition -------------------------------------------------------------------------- */

static bool parts(Kind kind) { return kind >= BRANCH; }

/* Where step i may go on, a bit each; number `steps` is the exit that the decoder adds. */
static uint64_t ways(int i) {
    const uint64_t next = 1ull << (i + 1), end = 1ull << END;
    if (i == steps) return end;
    const int *t = step[i].target;
    const uint64_t table = 1ull << t[0] | 1ull << t[1] | 1ull << t[2];
    switch (step[i].kind) {
    case BRANCH:
        return 1ull << t[0];
    case GUARDED_BRANCH:
        return 1ull << t[0] | next;
    case EXIT:
        return end;
    case GUARDED_EXIT:
        return end | next;
    case TABLE:
        return table;
    case GUARDED_TABLE:
        return table | next;
    default:
        return next;
    }
}

/* What is reached from step `from` without passing `without`. */
static uint64_t reached(int from, int without) {
    uint64_t seen = 1ull << from, before = 0;
    while (seen != before) {
        before = seen;
        for (int i = 0; i <= steps; i++)
            if (before >> i & 1 && i != without) seen |= ways(i);
    }
    return seen;
}

static bool ends(int from, int without) { return reached(from, without) >> END & 1; }

/* Whether every path from `from` to the end passes `place`, which is another step. */
static bool passes(int from, int place) { return ends(from, -1) && !ends(from, place); }

/* The first of them: all the others come after it. -1: lanes do not meet before the end. */
static int meeting(int from) {
    for (int place = 0; place <= steps; place++) {
        bool first = place != from && passes(from, place);
        for (int other = 0; first && other <= steps; other++)
            if (other != from && other != place && passes(from, other))
                first = passes(place, other);
        if (first) return place;
    }
    return -1;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static int compare(const Kernel *k) {
    bool joins[NODES] = {false};
    int straight = 0, wrong = k->ops != steps + 1;
    for (int i = 0; i <= steps && !wrong; i++) {
        const int expected = i == steps || parts(step[i].kind) ? meeting(i) : -1;
        wrong += k->op[i].reconverge != expected;
        if (expected >= 0) joins[expected] = true;
    }
    for (int i = steps; i >= 0 && !wrong; i--) {
        const bool goes_on = i < steps && step[i].kind == MOVE;
        straight = !goes_on ? 0 : joins[i + 1] ? 1 : 1 + straight;
        wrong += k->op[i].joins != joins[i] || k->op[i].straight != straight;
    }
    return wrong;
}

/* A kernel of many blocks, in which every branch leaves out one operation. */
static void test_long(void) {
    enum { BRANCHES = 9000 };
    char *text = NULL, error[512] = "";
    size_t size = 0;
    int wrong = 0;
    FILE *out = open_memstream(&text, &size);
    fputs(PTX_HEAD ".visible .entry k()\n{\n.reg .pred p; .reg .b32 a;\n", out);
    for (int i = 0; i < BRANCHES; i++) fprintf(out, "@p bra L%d; mov.u32 a, 1; L%d:\n", i, i);
    fputs("ret;\n}\n", out);
    fclose(out);
    Module *module = module_load(text, size, error, sizeof error);
    const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    for (int i = 0; k && i < BRANCHES; i++) wrong += k->op[2 * i].reconverge != 2 * i + 2;
    ok(k && !wrong, "%d branches (%d wrong) %s", BRANCHES, wrong, error);
    module_free(module);
    free(text);
}

int main(void) {
    static char text[8000], bad[8000];
    int wrong = 0, meet = 0;
    for (int i = 0; i < 1500; i++) {
        char error[512] = "";
        draw();
        write_kernel(text, sizeof text);
        Module *module = module_load(text, strlen(text), error, sizeof error);
        const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
        if (!k || compare(k)) memcpy(bad, text, sizeof bad), wrong++;
        for (int n = 0; k && n < k->ops; n++) meet += k->op[n].joins;
        module_free(module);
    }
    if (!ok(wrong == 0 && meet > 1000, "1500 random kernels (%d wrong), %d places to meet", wrong,
            meet))
        printf("# %s\n", bad);
    test_long();
    return done_testing();
}

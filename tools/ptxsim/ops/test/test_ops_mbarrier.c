/* mbarriers in the search for races: initialising one writes it, and whatever uses it reads it; and
 * a wait by parity must not be able to take one phase for another.
 * Catches: a use that nothing orders behind the initialisation, memory of an mbarrier that is
 * written beside its use, a use that is ordered and is taken for a race; a phase that a wait leaves
 * out, one that ends before a wait has seen the one before, and these where all is in order. */
#include "test/capture.h"
#include "test/tap.h"

#define HEAD                                                                                     \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, z; .reg .b64 w; "             \
             ".reg .pred first, second, g; .shared .align 8 .b64 bar;\nmov.u32 t, %tid.x; "      \
             "setp.eq.u32 first, t, 0; setp.eq.u32 second, t, 32; mov.u32 z, 0; mov.u64 w, 0;\n" \
             "@first mbarrier.init.shared.b64 [bar], 2;\n"

typedef struct Program {
    const char *code, *name;
    bool right;
} Program;

static const Program programs[] = {
    {"bar.sync 0; @second mbarrier.arrive.shared.b64 _, [bar];", "an arrival after a barrier",
     true},
    {"@second mbarrier.arrive.shared.b64 _, [bar];", "one without", false},
    {"@second mbarrier.arrive.expect_tx.shared.b64 _, [bar], 0;", "one that expects bytes", false},
    {"@second mbarrier.test_wait.parity.shared.b64 g, [bar], z;", "a test", false},
    {"@second mbarrier.inval.shared.b64 [bar];", "its end", false},
    {"bar.sync 0; @first mbarrier.arrive.shared.b64 _, [bar]; @second st.shared.u64 [bar], w;",
     "an ordinary write beside an arrival", false},
    {"bar.sync 0; @first mbarrier.arrive.shared.b64 _, [bar]; bar.sync 0; "
     "@second st.shared.u64 [bar], w;",
     "one after a barrier", true},
    {"bar.sync 0; @first mbarrier.arrive.shared.b64 _, [bar]; "
     "@second mbarrier.arrive.shared.b64 _, [bar];",
     "two arrivals", true},
    {"bar.sync 0; @first mbarrier.arrive.shared.b64 _, [bar]; @second mbarrier.inval.shared.b64 "
     "[bar];",
     "the end beside an arrival", false},
    {"bar.sync 0; @first mbarrier.arrive.shared.b64 _, [bar]; @second mbarrier.init.shared.b64 "
     "[bar], 2;",
     "another beginning beside an arrival", false},
};

/* Three warps: a thread of the first ends phases, one of the second waits for them, the third is
 * there to hold up the first. */
#define END_PHASE "@first mbarrier.arrive.shared.b64 _, [bar], 2; "
#define WAIT(parity)                                                                    \
    "@!second bra SEEN" parity "; WAIT" parity ": mbarrier.try_wait.parity.shared.b64 " \
    "g, [bar], " parity "; @!g bra WAIT" parity "; SEEN" parity ": "
#define MEET "bar.sync 0; "
#define HOLD_UP \
    "and.b32 z, t, 32; setp.eq.u32 g, z, 32; @g bra GO_ON; bar.sync 1, 64; bar.sync 1, 64; GO_ON: "

static const Program phases[] = {
    {MEET END_PHASE WAIT("0") MEET END_PHASE WAIT("1"), "two phases, each waited for", true},
    {MEET END_PHASE MEET END_PHASE WAIT("1"), "a phase that a barrier says is over", true},
    {MEET END_PHASE END_PHASE WAIT("1"), "wait may end two phases early", false},
    {MEET END_PHASE WAIT("0") HOLD_UP END_PHASE, "nothing orders that after warp 1's wait", false},
};

/* Whether a program passes, or ends with a fault that says so much. */
static void check(const Program *program, uint32_t threads, const char *says) {
    char text[1500], said[4000];
    uint64_t data[4] = {0};
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, program->code);
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, threads, data, sizeof data, said, sizeof said);
    if (!ok(program->right ? status == LAUNCH_OK
                           : status == LAUNCH_FAULT && strstr(said, says) != NULL,
            "%s: %s", program->name, program->right ? "passes" : "a fault"))
        printf("# %s\n", said);
}

int main(void) {
    for (int race = 0; race < 2; race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            if (race || programs[i].right) /* else who knows how it ends */
                check(&programs[i], 64, "race");
        for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
            if (race || phases[i].right) check(&phases[i], 96, phases[i].name);
    }
    return done_testing();
}

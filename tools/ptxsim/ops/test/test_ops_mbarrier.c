/* mbarriers in the search for races: initialising one writes it, and whatever uses it reads it.
 * Catches: a use that nothing orders behind the initialisation, memory of an mbarrier that is
 * written beside its use, a use that is ordered and is taken for a race. */
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

int main(void) {
    for (int race = 0; race < 2; race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            char text[1500], said[4000];
            uint64_t data[4] = {0};
            const bool right = programs[i].right;
            if (!right && !race) continue; /* who knows how it ends */
            snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, programs[i].code);
            const LaunchStatus status =
                capture_run(STDERR_FILENO, text, 64, data, sizeof data, said, sizeof said);
            if (!ok(right ? status == LAUNCH_OK
                          : status == LAUNCH_FAULT && strstr(said, "race") != NULL,
                    "%s: %s", programs[i].name, right ? "passes" : "a race"))
                printf("# %s\n", said);
        }
    }
    return done_testing();
}

/* What no schedule may decide: which phase of an mbarrier a wait by parity is for, and which use of
 * a named barrier an arrival. Catches: one of these that nobody looks for, or that is found where
 * all is in order; that it is looked for without SIM_RACE. */
#include "test/capture.h"
#include "test/tap.h"

/* Three warps; first is thread 0, second thread 32. */
#define HEAD                                                                                  \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, w; "                       \
             ".reg .pred first, second, warp0, warp1, warp2, g; .shared .align 8 .b64 bar;\n" \
             "mov.u32 t, %tid.x; shr.u32 w, t, 5; setp.eq.u32 first, t, 0; "                  \
             "setp.eq.u32 second, t, 32; setp.eq.u32 warp0, w, 0; setp.eq.u32 warp1, w, 1; "  \
             "setp.eq.u32 warp2, w, 2; @first mbarrier.init.shared.b64 [bar], 2;\nbar.sync 0;\n"

typedef struct Program {
    const char *code, *name;
    bool right;
} Program;

#define TOO_EARLY "this wait may end two phases early"
#define TOO_LATE "nothing orders that after warp 1's wait for the phase before"
#define PHASE_BEFORE "an arrival of warp 1 may be counted in the phase before"
#define USE_BEFORE "this arrival may be counted in the barrier's use before"

/* first ends a phase, second waits for one */
#define END_PHASE "@first mbarrier.arrive.shared.b64 _, [bar], 2; "
#define WAIT(parity)                                                                    \
    "@!second bra SEEN" parity "; WAIT" parity ": mbarrier.try_wait.parity.shared.b64 " \
    "g, [bar], " parity "; @!g bra WAIT" parity "; SEEN" parity ": "
#define TRY(parity) "@second mbarrier.try_wait.parity.shared.b64 g, [bar], " parity "; "
#define ARRIVE(who) "@" who " mbarrier.arrive.shared.b64 _, [bar]; "
#define MEET "bar.sync 0; "
/* All but warp 1 meet, so often that it has run meanwhile. */
#define OTHERS_MEET "@warp1 bra GO_ON; bar.sync 1, 64; bar.sync 1, 64; GO_ON: "

static const Program programs[] = {
    {END_PHASE WAIT("0") MEET END_PHASE WAIT("1"), "two phases, each waited for", true},
    {END_PHASE MEET END_PHASE WAIT("1"), "a phase that a barrier says is over", true},
    {END_PHASE END_PHASE WAIT("1"), TOO_EARLY, false},
    {END_PHASE WAIT("0") OTHERS_MEET END_PHASE, TOO_LATE, false},
    {END_PHASE ARRIVE("second") WAIT("0"), PHASE_BEFORE, false},
    {END_PHASE MEET ARRIVE("second") WAIT("0"), "an arrival that knows its phase", true},
    {TRY("0") ARRIVE("second") ARRIVE("first") WAIT("0"),
     "a try_wait that is over before its phase", true},
    {"@warp0 bar.arrive 1, 64; @warp1 bar.sync 1, 64; @warp1 bar.arrive 2, 64; "
     "@warp0 bar.sync 2, 64; @warp0 bar.arrive 1, 64; @warp1 bar.sync 1, 64;",
     "two warps in turn", true},
    {"@warp0 bar.arrive 1, 64; @warp0 bar.arrive 1, 64; @warp1 bar.sync 1, 64; "
     "@warp1 bar.sync 1, 64;",
     USE_BEFORE, false},
    {"@warp1 bar.sync 1, 64; @warp1 bar.sync 1, 64; @warp2 bar.arrive 1, 64; "
     "@warp2 bar.arrive 1, 64;",
     USE_BEFORE, false},
    {"@warp0 bar.sync 1, 64; @warp1 bar.sync 1, 64; " MEET
     "@warp1 bar.sync 1, 64; @warp2 bar.sync 1, 64;",
     "two barriers of one number, and one between", true},
    {"@warp0 bar.sync 1, 64; @warp1 bar.sync 1, 64; @warp1 bar.sync 1, 64; "
     "@warp2 bar.sync 2, 32; @warp2 bar.sync 1, 64;",
     USE_BEFORE, false},
};

int main(void) {
    for (int race = 0; race < 2; race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            char text[1500], said[4000];
            uint64_t data[4] = {0};
            const Program *program = &programs[i];
            snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, program->code);
            const LaunchStatus status =
                capture_run(STDERR_FILENO, text, 96, data, sizeof data, said, sizeof said);
            const bool found = status == LAUNCH_FAULT && strstr(said, program->name);
            if (!ok(program->right ? status == LAUNCH_OK : found == (race == 1), "%s%s: %s",
                    race ? "" : "not asked: ", program->right ? "passes" : "a fault",
                    program->name))
                printf("# %s\n", said);
        }
    }
    return done_testing();
}

/* Counters in signatures, and how the simulator is asked for them. Catches: a word that is taken
 * for a counter or is not, one in a comment or in a line about another variant, a number under
 * another key, a run of another variant.
 */
#include "analysis/simulated.h"

#include <stdlib.h>

#include "test/tap.h"

static bool asks_for(const char *text) { return asks_for_counters(text, "d128_fp16_causal"); }

static void test_words(void) {
    static const char *const names[] = {"warp_instructions",
                                        "mma_instructions",
                                        "barriers",
                                        "global_load_requests",
                                        "global_load_units",
                                        "global_load_ideal_units",
                                        "global_store_requests",
                                        "global_store_units",
                                        "global_store_ideal_units",
                                        "shared_load_requests",
                                        "shared_load_units",
                                        "shared_load_ideal_units",
                                        "shared_store_requests",
                                        "shared_store_units",
                                        "shared_store_ideal_units",
                                        "blocks"};
    char text[100];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text, "loop LDS == 2 * %s", names[i]);
        ok(is_counter(names[i]) && asks_for(text), "%s is a counter", names[i]);
        snprintf(text, sizeof text, "x%s %s_ 3 # %s", names[i], names[i], names[i]);
        ok(!asks_for(text), "not in another word or a comment");
    }
    ok(!is_counter("shared_bytes") && !asks_for("shared_bytes == 1024"),
       "what the machine code says needs no run");
    ok(!is_counter("barrier") && !is_counter("") && !is_counter("lane_instructions"), "others not");
    ok(asks_for("# barriers\nbarriers"), "behind a comment");
    ok(asks_for("barriers#"), "before one");
    ok(!asks_for("x# barriers"), "not in a comment right behind a word");
    ok(!asks_for("") && !asks_for("# barriers"), "nothing asks for none");
    memset(text, 'x', sizeof text);
    strcpy(text + 80, " barriers");
    ok(asks_for(text), "behind a long word");
}

static void test_scopes(void) {
    ok(asks_for("kernels == 1\nLDS == 2 * barriers\n"), "in a later line");
    ok(asks_for("sm_80 d128 fp16 causal: barriers == 1") && asks_for("softmax: barriers == 1"),
       "in a line about the variant, or about all");
    ok(!asks_for("d64: barriers == 1") && !asks_for("d128 bf16: barriers == 1") &&
           !asks_for("full: barriers == 1\nd128 full: barriers == 2") &&
           !asks_for("LDS == 1\n\nd64: barriers == 1\n"),
       "not in one about others");
    ok(asks_for("full: LDS == 1\nbarriers == 1"), "in a line behind that");
    ok(asks_for("barriers == 1 # d64: barriers"), "a scope stands before the comment");
}

static void test_values(void) {
    static const char json[] = "{\"counters\":{\"my_barriers\":1,\"barriers\":12,\"none\":null,"
                               "\"last\":-1.5e3";
    double value = 7;
    ok(counter_value(json, "barriers", &value) && value == 12, "a number");
    ok(counter_value(json, "last", &value) && value == -1500, "another, at the end");
    ok(!counter_value(json, "none", &value), "null is none");
    ok(!counter_value(json, "absent", &value), "nor is what is not there");
    ok(!counter_value(NULL, "barriers", &value), "nor nothing");
}

/* What the simulator is asked for a file and its variant; echo says it. */
static void asks(const char *file, const char *variant, const char *expected) {
    char *counters = NULL, whole[200];
    Error error;
    snprintf(whole, sizeof whole, "run DEVICE=sim FORMAT=json B=1 H=2 HKV=1 N=300 NKV=330 %s\n",
             expected);
    ok(simulate(file, variant, &counters, &error), "%s of %s", variant, file);
    is_text(counters, whole, "is asked for so");
    free(counters);
}

int main(void) {
    char *counters;
    Error error;
    test_words();
    test_scopes();
    test_values();
    setenv("SIMULATOR", "/bin/echo", 1);
    asks("build/sm_80/07/d64_fp16_full.so", "d64_fp16_full",
         "D=64 DTYPE=fp16 CAUSAL=0 build/sm_80/07");
    asks("07/d128_bf16_causal.so", "d128_bf16_causal", "D=128 DTYPE=bf16 CAUSAL=1 07");
    asks("here.so", "d128_fp16_causal", "D=128 DTYPE=fp16 CAUSAL=1 .");
    setenv("SIMULATOR", "/nowhere/simulator", 1);
    ok(!simulate("here.so", "d64", &counters, &error) && error.status == STATUS_SKIP && !counters,
       "without the simulator it is skipped");
    is_text(error.text, "the signature asks for counters, and /nowhere/simulator is not built",
            "with the reason");
    unsetenv("SIMULATOR");
    if (!simulate("/nowhere/here.so", "d64", &counters, &error))
        ok(strstr(error.text, "build/attention-sim") != NULL, "its usual place is build");
    else
        free(counters);
    return done_testing();
}

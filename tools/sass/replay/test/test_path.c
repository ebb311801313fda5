/* The way of a warp through kernels that are small enough to follow by hand. Catches: a loop that
 * is left too early or never, a loop in a loop whose rounds come all at once, a loop that runs and
 * is not entered, a branch that goes the same way each time, a count that contradicts surer ones
 * and is believed, a path that is not what was counted and does not say so, a warp that ends too
 * early or too late, a called function that is entered without need. */
#include "replay/path.h"
#include "test/sample.h"
#include "test/tap.h"

enum { MOST = 40 };

/* A kernel of instructions, one per line, each with how often all four warps execute it and how
 * sure that is; labels stand alone. Its path is one letter per instruction: a, b, c. */
static Path path_of(const char *code, const double times[], const int sure[], char *letters) {
    char text[2000];
    double of[MOST];
    Path path;
    snprintf(text, sizeof text, "%s%s", KERNEL("k"), code);
    Module module = sample_code(text);
    const int count = module.kernel[0].function->instructions;
    for (int i = 0; i < count; i++) of[i] = 4 * times[i];
    int certain[MOST];
    memcpy(certain, sure, (size_t)count * sizeof *sure);
    const Executions executions = {.of = of, .sure = certain, .unmatched = -1};
    const bool found = path_derive(&module.kernel[0], &executions, 4, &path);
    ok(found, "there is a path");
    for (int i = 0; i < path.steps; i++) *letters++ = (char)('a' + path.step[i]);
    *letters = '\0';
    module_close(&module);
    return path;
}

static void follows(const char *code, const double times[], const int sure[], const char *expected,
                    const char *what) {
    char letters[4000];
    Path path = path_of(code, times, sure, letters);
    is_text(letters, expected, what);
    is_near(path.strayed, 0, 1e-9, "and its counts are the kernel's");
    is_near(path.expected, (double)strlen(expected), 1e-6, "of so many steps");
    path_free(&path);
}

static void test_loops(void) {
    follows("MOV R1, R2\nEXIT\n", (double[]){1, 1}, (int[]){1, 1}, "ab", "no branch");
    follows("MOV R1, R2\n"
            ".L_x_0:\n"
            "FFMA R1, R2, R3, R1\n"
            "@P0 BRA `(.L_x_0)\n"
            "EXIT\n",
            (double[]){1, 3, 3, 1}, (int[]){0, 2, 2, 0}, "abcbcbcd", "three rounds of a loop");
    follows("MOV R1, R2\n"
            ".L_x_0:\n"
            "FADD R1, R2, R3\n"
            ".L_x_1:\n"
            "FFMA R1, R2, R3, R1\n"
            "@P0 BRA `(.L_x_1)\n"
            "@P1 BRA `(.L_x_0)\n"
            "EXIT\n",
            (double[]){1, 2, 4, 4, 0, 1}, (int[]){0, 1, 3, 3, 0, 0}, "abcdcdebcdcdef",
            "two rounds of two rounds each");
}

static void test_branches(void) {
    follows(".L_x_0:\n"
            "FADD R1, R2, R3\n"
            "@P1 BRA `(.L_x_1)\n"
            "FMUL R1, R2, R3\n"
            ".L_x_1:\n"
            "@P0 BRA `(.L_x_0)\n"
            "EXIT\n",
            (double[]){4, 4, 2, 0, 1}, (int[]){2, 2, 1, 0, 0}, "abdabcdabdabcde",
            "a branch that is taken every other time");
    follows("@P1 BRA `(.L_x_1)\n"
            ".L_x_0:\n"
            "FFMA R1, R2, R3, R1\n"
            "@P0 BRA `(.L_x_0)\n"
            ".L_x_1:\n"
            "FADD R1, R2, R3\n"
            "EXIT\n",
            (double[]){0, 2, 2, 1, 1}, (int[]){0, 2, 2, 5, 5}, "abcbcde",
            "a loop that runs is entered, though counts allow that it runs by itself");
}

static void test_rounding(void) {
    char letters[4000];
    Path path = path_of(".L_x_0:\n"
                        "FFMA R1, R2, R3, R1\n"
                        "@P0 BRA `(.L_x_0)\n"
                        "EXIT\n",
                        (double[]){2.5, 2.5, 1}, (int[]){2, 2, 0}, letters);
    is_text(letters, "abababc", "two and a half rounds are three on one way");
    is_near(path.expected, 6, 1e-6, "and stay two and a half in what is expected");
    path_free(&path);
}

static void test_contradiction(void) {
    char letters[4000];
    Path three = path_of(".L_x_0:\n"
                         "FADD R1, R2, R3\n"
                         "@P1 BRA `(.L_x_1)\n"
                         "FMUL R1, R2, R3\n"
                         ".L_x_1:\n"
                         "FFMA R1, R2, R3, R1\n"
                         "@P0 BRA `(.L_x_0)\n"
                         "EXIT\n",
                         (double[]){9, 9, 0, 3, 3, 1}, (int[]){1, 1, 1, 5, 5, 0}, letters);
    is_text(letters, "abdeabdeabdef", "the surest count is believed first");
    path_free(&three);
    Path path = path_of("FADD R1, R2, R3\n"
                        "@P1 BRA `(.L_x_1)\n"
                        "FMUL R1, R2, R3\n"
                        ".L_x_1:\n"
                        "EXIT\n",
                        (double[]){1, 1, 5, 1}, (int[]){9, 9, 1, 0}, letters);
    is_text(letters, "abcd", "what cannot be is not believed");
    is_near(path.strayed, 4 / 4.0, 1e-9, "and it is told how far path and counts are apart");
    is_int(path.worst, 2, "and where");
    path_free(&path);
}

/* Straight on, but for branches to the next instruction: each block runs once. */
static void strays(const double times[], const int sure[], double strayed, int worst,
                   const char *what) {
    char letters[4000];
    Path path = path_of("FADD R1, R2, R3\n"
                        "@P0 BRA `(.L_x_0)\n"
                        ".L_x_0:\n"
                        "FMUL R1, R2, R3\n"
                        "FMUL R1, R2, R3\n"
                        "@P0 BRA `(.L_x_1)\n"
                        ".L_x_1:\n"
                        "EXIT\n",
                        times, sure, letters);
    is_text(letters, "abcdef", what);
    is_near(path.strayed, strayed, 1e-9, "so far apart");
    is_int(path.worst, worst, "there most");
    path_free(&path);
}

static void test_strayed(void) {
    static const int all[] = {1, 1, 1, 1, 1, 1}, few[] = {1, 1, 0, 0, 0, 1};
    strays((double[]){1, 1, 1, 1, 1, 1}, all, 0, 0, "no count is wrong");
    strays((double[]){1, 1, 4, 4, 4, 1}, all, 3 * 3 / 6.0, 2, "one");
    strays((double[]){1, 1, 4, 4, 4, 1}, few, 0, 0, "one that nobody is sure of");
    strays((double[]){1, 1, 0.9, 0.9, 0.9, 1}, all, 3 * 0.1 / 6, 2, "one by a tenth");
    strays((double[]){3, 3, 0, 0, 0, 3}, all, (2 * 2 + 3 + 2) / 6.0, 0, "all: too many and none");
    strays((double[]){1, 1, 3, 3, 3, 7}, all, (2 * 3 + 6) / 6.0, 2, "of equals the first");
    strays((double[]){1, 1, 3, 3, 3, 8}, all, (2 * 3 + 7) / 6.0, 5, "the last is worse");
}

/* Counts of the same block, which a loop executes three times: the second is off by so much. */
static double believed(int first_sure, int second_sure, double second) {
    char letters[4000];
    Path path = path_of(".L_x_0:\n"
                        "FADD R1, R2, R3\n"
                        "FADD R1, R2, R3\n"
                        ".L_x_1:\n"
                        "FMUL R1, R2, R3\n"
                        "@P0 BRA `(.L_x_0)\n"
                        "EXIT\n",
                        (double[]){3, 3, second, second, 1},
                        (int[]){first_sure, first_sure, second_sure, second_sure, 0}, letters);
    const double expected = path.expected;
    path_free(&path);
    return (expected - 1) / 4;
}

static void test_believed(void) {
    is_near(believed(2, 1, 5), 3, 1e-9, "the surer count is believed");
    is_near(believed(1, 2, 5), 5, 1e-9, "wherever it is");
    is_near(believed(2, 2, 5), 3, 1e-9, "of equals the first");
    is_near(believed(0, 1, 5), 5, 1e-9, "and one alone");
    ok(believed(2, 1, 3 + 1.5e-6) > 3 - 1e-5 && believed(2, 1, 3 + 1.5e-6) < 3 + 1e-5,
       "counts that mean the same");
    is_near(believed(2, 1, 3.0001), 3, 1e-9, "and that do not");
}

/* How the letters go on where little was counted. */
static void test_uncounted(void) {
    follows("MOV R1, R2\n"
            ".L_x_0:\n"
            "IADD3 R1, R2, R3, R4\n"
            "@P0 BRA `(.L_x_0)\n"
            "EXIT\n",
            (double[]){0, 0, 0, 1}, (int[]){0, 0, 0, 1}, "abcd",
            "a loop that nobody counted goes round once");
    follows("@P1 BRA `(.L_x_1)\n"
            "FADD R1, R2, R3\n"
            ".L_x_0:\n"
            "IADD3 R1, R2, R3, R4\n"
            "@P0 BRA `(.L_x_0)\n"
            ".L_x_1:\n"
            "EXIT\n",
            (double[]){0, 1, 0, 0, 1}, (int[]){0, 2, 0, 0, 2}, "abcde",
            "nor more with a way round it");
    follows("BRA `(.L_x_1)\n"
            ".L_x_0:\n"
            "FADD R1, R2, R3\n"
            "EXIT\n"
            ".L_x_1:\n"
            "@P0 BRA `(.L_x_0)\n"
            "FMUL R1, R2, R3\n"
            "EXIT\n",
            (double[]){0, 1, 1, 0, 0, 0}, (int[]){0, 4, 4, 0, 0, 0}, "adbc",
            "a branch to what was counted");
    follows("EXIT\n"
            "FADD R1, R2, R3\n"
            ".L_x_0:\n"
            "BRA `(.L_x_0)\n",
            (double[]){1, 7, 0}, (int[]){1, 9, 0}, "a", "what nothing reaches is no part of it");
}

/* Loops that run by themselves for all that counts say: the one with more of them is entered. */
static void test_promise(void) {
    static const char code[] = "@P0 BRA `(.L_x_1)\n"
                               ".L_x_0:\n"
                               "FADD R1, R2, R3\n"
                               "@P1 BRA `(.L_x_0)\n"
                               "BRA `(.L_x_2)\n"
                               ".L_x_1:\n"
                               "FMUL R1, R2, R3\n"
                               "@P1 BRA `(.L_x_1)\n"
                               ".L_x_2:\n"
                               "EXIT\n";
    char letters[4000];
    static const double times[] = {0, 2, 2, 0, 2, 2, 0};
    Path path = path_of(code, times, (int[]){0, 3, 3, 0, 2, 2, 0}, letters);
    is_text(letters, "abcbcdg", "the first");
    path_free(&path);
    path = path_of(code, times, (int[]){0, 2, 2, 0, 3, 3, 0}, letters);
    is_text(letters, "aefefg", "the second");
    path_free(&path);
    path = path_of(code, (double[]){0, 0, 0, 0, 2, 2, 0}, (int[]){0, 9, 9, 0, 3, 3, 0}, letters);
    is_text(letters, "aefefg", "but none that never runs");
    path_free(&path);
    path = path_of("BRX R2 -0x10 (*\"BRANCH_TARGETS .L_x_0,.L_x_1,.L_x_2\"*)\n"
                   ".L_x_0:\n"
                   "FADD R1, R2, R3\n"
                   "@P1 BRA `(.L_x_0)\n"
                   "BRA `(.L_x_2)\n"
                   ".L_x_1:\n"
                   "FMUL R1, R2, R3\n"
                   "@P1 BRA `(.L_x_1)\n"
                   ".L_x_2:\n"
                   "EXIT\n",
                   (double[]){0, 0, 0, 0, 2, 2, 0}, (int[]){0, 9, 9, 0, 3, 3, 0}, letters);
    is_text(letters, "aefefg", "nor of three ways");
    path_free(&path);
}

static void test_ends(void) {
    static const char code[] = "@P0 EXIT\n"
                               ".L_x_0:\n"
                               "FADD R1, R2, R3\n"
                               "EXIT\n";
    char letters[4000];
    follows(code, (double[]){1, 0, 0}, (int[]){1, 1, 0}, "a", "a warp that ends at once");
    follows(code, (double[]){1, 1, 1}, (int[]){1, 1, 0}, "abc", "one that does not");
    follows(code, (double[]){1, 0, 0}, (int[]){0, 0, 0}, "abc", "nor does one that nobody counted");
    follows(".L_x_0:\n"
            "@P0 EXIT\n"
            ".L_x_1:\n"
            "FADD R1, R2, R3\n"
            "BRA `(.L_x_0)\n",
            (double[]){4, 3, 3}, (int[]){1, 1, 1}, "abcabcabca",
            "one that ends in the fourth round");
    Path path = path_of(code, (double[]){1, 0.75, 0.75}, (int[]){1, 1, 1}, letters);
    is_text(letters, "abc", "three in four go on");
    is_near(path.expected, 1 + 0.75 * 2, 1e-9, "which is what is expected");
    path_free(&path);
    path = path_of(code, (double[]){1, 0.25, 0.25}, (int[]){1, 1, 1}, letters);
    is_text(letters, "a", "one in four does");
    is_near(path.expected, 1 + 0.25 * 2, 1e-9, "which is expected, too");
    path_free(&path);
}

static void test_calls(void) {
    static const int none[10] = {0};
    static const double once[10] = {0};
    follows("@P0 BRA `(.L_x_0)\n"
            "CALL.REL.NOINC `(f)\n"
            ".L_x_0:\n"
            "EXIT\n",
            once, none, "ac", "a call that nobody counted is passed over");
    follows("@P0 BRA `(.L_x_0)\n"
            "BRA `(.L_x_1)\n"
            ".L_x_0:\n"
            "CALL.REL.NOINC `(f)\n"
            ".L_x_1:\n"
            "EXIT\n",
            once, none, "abd", "wherever it is");
    follows("@P0 BRA `(.L_x_0)\n"
            "CALL.REL.NOINC `(f)\n"
            ".L_x_0:\n"
            "EXIT\n",
            (double[]){1, 1, 1}, (int[]){1, 1, 1}, "abc", "unless it is counted");
}

/* Every path is a whole way, and the rounds of a branch are spread evenly. */
static void test_turns(void) {
    static const char code[] = ".L_x_0:\n"
                               "FADD R1, R2, R3\n"
                               "@P1 BRA `(.L_x_1)\n"
                               "FMUL R1, R2, R3\n"
                               ".L_x_1:\n"
                               "@P0 BRA `(.L_x_0)\n"
                               "EXIT\n";
    follows(code, (double[]){6, 6, 2, 0, 1}, (int[]){2, 2, 1, 0, 0}, "abdabdabcdabdabdabcde",
            "a branch that is taken two times in three");
    follows(code, (double[]){6, 6, 4, 0, 1}, (int[]){2, 2, 1, 0, 0}, "abcdabcdabdabcdabcdabde",
            "or one time");
    follows(code, (double[]){1, 1, 1, 0, 1}, (int[]){2, 2, 1, 0, 0}, "abcde", "or never");
}

int main(void) {
    test_loops();
    test_branches();
    test_rounding();
    test_contradiction();
    test_strayed();
    test_believed();
    test_uncounted();
    test_promise();
    test_ends();
    test_calls();
    test_turns();
    return done_testing();
}

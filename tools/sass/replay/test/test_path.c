/* The way of a warp through kernels that are small enough to follow by hand. Catches: a loop that
 * is left too early or never, a loop in a loop whose rounds come all at once, a loop that runs and
 * is not entered, a branch that goes the same way each time, a count that contradicts surer ones
 * and is believed, a path that is not what was counted and does not say so. */
#include "replay/path.h"
#include "test/sample.h"
#include "test/tap.h"

enum { MOST = 40 };

/* A kernel of instructions, one a line, each with how often all four warps execute it and how sure
 * that is; labels stand alone. Its path is one letter per instruction: a, b, c. */
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
    ok(strcmp(letters, "abd") == 0 || strcmp(letters, "abcd") == 0,
       "what cannot be is not believed");
    ok(path.strayed > 0.3, "and it is told how far path and counts are apart");
    is_int(path.worst, 2, "and where");
    path_free(&path);
}

int main(void) {
    test_loops();
    test_branches();
    test_rounding();
    test_contradiction();
    return done_testing();
}

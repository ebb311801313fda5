/* Basic blocks, edges and dominators, a line for each kernel. Catches: a block that begins or ends
 * elsewhere, an edge too many or too few, a function that is called and has no entry, a dominator
 * that a path goes round. */
#include "analysis/graph.h"
#include "test/sample.h"
#include "test/tap.h"

static bool follows(const Block *block, int next) {
    for (int n = 0; n < block->nexts; n++)
        if (block->next[n] == next) return true;
    return false;
}

/* Of each block its first instruction, the blocks that may follow, and behind ^ what dominates it;
 * E: it is an entry; -: it is never reached. */
static void is_graph(const char *code, const char *expected, const char *name) {
    char text[2048], got[500] = "";
    snprintf(text, sizeof text, KERNEL("k") "%s", code);
    Module module = sample_code(text);
    Graph graph = graph_build(module.kernel[0].function);
    char *at = got;
    int edges = 0;
    for (int b = 0; b < graph.blocks; b++) {
        const Block *block = &graph.block[b];
        at += sprintf(at, "%s%d:", b ? " " : "", block->first);
        for (int n = 0; n < block->nexts; n++)
            at += sprintf(at, "%s%d", n ? "," : "", block->next[n]);
        if (block->order == -1)
            at += sprintf(at, "-");
        else if (block->dominator == -1)
            at += sprintf(at, "E");
        else
            at += sprintf(at, "^%d", block->dominator);
        for (int i = block->first; i < block->last; i++)
            if (graph_block_of(&graph, i) != b) at += sprintf(at, "?");
        for (int n = 0; n < block->befores; n++)
            if (!follows(&graph.block[block->before[n]], b)) at += sprintf(at, "!");
        edges += block->nexts - block->befores;
        if (block->order >= 0 && graph.reverse_postorder[block->order] != b) at += sprintf(at, "o");
    }
    is_int(edges, 0, "edges are known at both ends");
    is_text(got, expected, name);
    graph_free(&graph);
    module_close(&module);
}

static void test_paths(void) {
    is_graph("MOV R1, R2\nEXIT\n", "0:E", "one block");
    is_graph("@P0 BRA `(.L_x_1)\n"
             "MOV R1, R2\n"
             "BRA `(.L_x_2)\n"
             ".L_x_1:\n"
             "MOV R1, R3\n"
             ".L_x_2:\n"
             "EXIT\n",
             "0:2,1E 1:3^0 3:3^0 4:^0", "two ways that meet: neither dominates what follows");
    is_graph("MOV R1, R2\n"
             ".L_x_0:\n"
             "FADD R1, R2, R3\n"
             "@!P0 EXIT\n"
             "@P1 BRA `(.L_x_0)\n"
             "BRA `(.L_x_0)\n"
             "NOP\n",
             "0:1E 1:1,2^0 4:1^1 5:-", "a loop with two ways back; what nothing reaches");
    is_graph("BRA.DIV UR4, `(.L_x_1)\n"
             "BRX R4 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)\n"
             ".L_x_1:\n"
             "WARPSYNC R2, `(.L_x_2)\n"
             "RET\n"
             ".L_x_2:\n"
             "EXIT\n",
             "0:2,1E 1:2,4^0 2:4,3^0 3:^2 4:^0", "conditions among operands, a table");
    is_graph("JMX R2 (*\"BRANCH_TARGETS .L_x_1\"*)\n"
             "JMP `(.L_x_1)\n"
             "BRXU UR4 -0x10 (*\"BRANCH_TARGETS .L_x_1\"*)\n"
             ".L_x_1:\n"
             "EXIT\n",
             "0:3,1E 1:3^0 2:3- 3:^0", "other jumps");
    is_graph("@P0 BRA `(.L_x_7)\n"
             "BRA `(.L_x_70)\n"
             ".L_x_0:\n"
             "EXIT\n",
             "0:1E 1:^0 2:-", "labels that are nowhere");
}

/* What only looks like a jump, and jumps to where nothing stands. */
static void test_jumps(void) {
    is_graph("@P0 BRA `(.L_x_0)\n"
             "MOV R1, `(.L_x_0)\n"
             "@P1 RET.REL.NODEC R4 `(k)\n"
             ".L_x_0:\n"
             "CALL.REL.NOINC `(.L_x_1)\n"
             "JMP `(.L_x_0)\n"
             ".L_x_1:\n",
             "0:2,1E 1:2^0 3:3^0 4:2^2", "a label behind the last instruction is nowhere");
    is_graph("BRXU UR4 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_9,.L_x_2\"*)\n"
             ".L_x_1:\n"
             "JMX R2\n"
             ".L_x_2:\n"
             "@!P0 BRX R4 -0x10 (*\"BRANCH_TARGETS .L_x_1\"*)\n"
             "JMP P0, `(.L_x_2)\n"
             "EXIT\n",
             "0:1,2E 1:2^0 2:1,3^0 3:2,4^2 4:^3", "a label between others that is nowhere");
    is_graph("WARPSYNC R1\n"
             "BAR.SYNC 0x0\n"
             "EXIT\n",
             "0:1E 1:^0", "a jump without a label goes on");
}

static void test_irreducible(void) {
    is_graph("@P0 BRA `(.L_x_1)\n"
             ".L_x_0:\n"
             "@P1 BRA `(.L_x_2)\n"
             ".L_x_1:\n"
             "@P2 BRA `(.L_x_0)\n"
             ".L_x_2:\n"
             "EXIT\n",
             "0:2,1E 1:3,2^0 2:1,3^0 3:^0", "a loop with two ways in has no header");
}

static void test_calls(void) {
    is_graph("CALL.REL `($one)\n"
             "EXIT\n"
             "        .type           $one,@function\n"
             "$one:\n"
             "FMUL R1, R2, R3\n"
             ".L_x_0:\n"
             "@P0 BRA `(.L_x_0)\n"
             "RET.REL.NODEC R4 `(k)\n"
             "        .type           $two,@function\n"
             "$two:\n"
             "RET.REL.NODEC R4 `(k)\n",
             "0:1E 1:^0 2:3E 3:3,4^2 4:^3 5:E", "functions behind the kernel are entries");
    is_graph("CALL.REL `($one)\n"
             "EXIT\n"
             "        .type           $one,@function\n"
             "$one:\n"
             ".L_x_0:\n"
             "@P0 BRA `(.L_x_2)\n"
             "        .type           $two,@function\n"
             "$two:\n"
             "@P1 BRA `(.L_x_2)\n"
             "        .type           $three,@function\n"
             "$three:\n"
             "@P2 BRA `(.L_x_0)\n"
             ".L_x_2:\n"
             "RET.REL.NODEC R4 `(k)\n",
             "0:1E 1:^0 2:5,3E 3:5,4E 4:2,5E 5:E",
             "functions that run into each other: what three entries lead to has no dominator");
    is_graph("MOV R1, R2\n"
             "own:\n"
             "MOV R1, R2\n"
             "EXIT\n",
             "0:1E 1:^0", "a name within it is none");
}

int main(void) {
    test_paths();
    test_jumps();
    test_irreducible();
    test_calls();
    return done_testing();
}

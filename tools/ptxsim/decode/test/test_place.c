/* The place of an operation as messages name it. Catches: a folder that stays before the file's
 * name, a file that has no folder, a number of no file, an operation without a place. */
#include "test/run_ptx.h"
#include "test/tap.h"

/* Files 2 to 7 are left out, 0 and 9 are none: before and behind the list, which has room for
 * eight, lie names, the first of which fills its room. */
static const char text[] =
    PTX_HEAD ".file 1 \"some/longer/folder/of/kernel.cu\"\n.file 8 \"plain.cu\"\n"
             ".visible .entry k()\n{\n.reg .b32 a;\nmov.u32 a, 1;\n"
             ".loc 1 12 3\nmov.u32 a, 2;\n.loc 8 7 1\nmov.u32 a, 3;\n.loc 2 8 1\nmov.u32 a, 4;\n"
             ".loc 9 9 1\nmov.u32 a, 5;\n.loc 0 10 1\nmov.u32 a, 6;\nret;\n}\n";

int main(void) {
    static const char *const places[] = {"PTX line 9",  "kernel.cu:12", "plain.cu:7",
                                         "PTX line 15", "PTX line 17",  "PTX line 19"};
    char error[512] = "", place[100], few[8];
    Module *module = module_load(text, strlen(text), error, sizeof error);
    const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    if (!ok(k != NULL, "a kernel %s", error)) return done_testing();
    for (int i = 0; i < 6; i++) {
        op_place(k, &k->op[i], place, sizeof place);
        is_text(place, places[i], "the place");
    }
    op_place(k, &k->op[1], few, sizeof few);
    is_text(few, "kernel.", "as much of it as there is room for");
    op_place(k, &k->op[0], few, sizeof few);
    is_text(few, "PTX lin", "of a line of PTX, too");
    module_free(module);
    return done_testing();
}

#include "analysis/ptx_lines.h"

#include "list.h"

#include <ctype.h>
#include <limits.h>

/* .file 1 "/a/b/kernel.cu", possibly with more behind it */
static void read_file_number(Ptx *ptx, const char *line, const char *path) {
    char name[PATH_MAX];
    const char *start = strchr(line, '"');
    if (!start) return;
    snprintf(name, sizeof name, "%s", start + 1);
    name[strcspn(name, "\"")] = '\0';
    path_decode(name);
    if (strcmp(name, path) == 0) ptx->file = atoi(line + strlen(".file"));
}

static PtxPlace read_place(const char *text) {
    PtxPlace place = {0};
    if (sscanf(text, "%d %d %d", &place.file, &place.line, &place.column) != 3)
        place = (PtxPlace){0};
    return place;
}

/* .loc 1 36 58, function_name $L__info_string0, inlined_at 1 114 5 */
static void read_loc(Ptx *ptx, const char *line) {
    const char *call = strstr(line, "inlined_at ");
    PtxLoc *loc = LIST_ADD(ptx->loc, ptx->locs);
    loc->place = read_place(line + strlen(".loc"));
    if (call) loc->call = read_place(call + strlen("inlined_at "));
}

Ptx ptx_read(char *text, const char *path) {
    Ptx ptx = {.source = source_cut(text)};
    ptx.loc_of = list_zeroed((size_t)ptx.source.lines, sizeof *ptx.loc_of);
    for (int i = 0; i < ptx.source.lines; i++) {
        const char *line = source_line(&ptx.source, i + 1);
        if (path && strncmp(line, ".file", strlen(".file")) == 0)
            read_file_number(&ptx, line, path);
        if (strncmp(line, ".loc", strlen(".loc")) == 0) read_loc(&ptx, line);
        ptx.loc_of[i] = ptx.locs - 1;
    }
    return ptx;
}

/* The text behind a brace, a label and a guard: "{ L1: @%p1 bra L2;" gives "bra L2;". */
static const char *instruction_text(const char *line) {
    line += strspn(line, "{ \t");
    const size_t word = strcspn(line, " \t");
    if (word > 0 && line[word - 1] == ':') line += word + strspn(line + word, " \t");
    if (*line != '@') return line;
    line += strcspn(line, " \t");
    return line + strspn(line, " \t");
}

bool ptx_is_opcode(const Ptx *ptx, int number, const char *opcode) {
    const char *text = instruction_text(source_line(&ptx->source, number));
    const size_t length = strlen(opcode);
    if (!islower((unsigned char)*text)) return false; /* a directive, or nothing */
    return !*opcode || (strncmp(text, opcode, length) == 0 && strchr(". \t;", text[length]));
}

static bool same_place(PtxPlace a, PtxPlace b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

/* The nearest .loc before `loc` that is the call it is inlined at, or -1. */
static int caller_of(const Ptx *ptx, int loc) {
    int i = loc - 1;
    while (i >= 0 && !same_place(ptx->loc[i].place, ptx->loc[loc].call)) i--;
    return i;
}

bool ptx_is_from(const Ptx *ptx, int number, int line) {
    int loc = ptx->loc_of[number - 1];
    while (loc >= 0) {
        const PtxLoc *at = &ptx->loc[loc];
        if (at->place.file == ptx->file && at->place.line == line) return true;
        if (at->call.file == 0) return false;
        if (at->call.file == ptx->file && at->call.line == line) return true;
        loc = caller_of(ptx, loc);
    }
    return false;
}

void ptx_free(Ptx *ptx) {
    source_free(&ptx->source);
    free(ptx->loc);
    free(ptx->loc_of);
    *ptx = (Ptx){0};
}

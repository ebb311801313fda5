/* PTX as it is parsed and its calls inlined, whole, and what is refused. WRITE=1 writes the
 * expected texts in corpus/parse anew. Catches: a name that is taken for another one of an inner
 * scope, a label of another place, a number of another base, an initial value elsewhere, a location
 * that is lost, a program that is wrong and is parsed. */
#include "test/stub.h"

#include "ptx/ptx.h"

#define FOLDER "tools/ptxsim/test/corpus/"

/* ---- What was parsed ------------------------------------------------------------------------- */

static void put_variable(const char *what, const Variable *v, FILE *out) {
    fprintf(out, "%s %.*s: space %d, align %u, bytes %llu%s%s", what, v->name.length, v->name.at,
            (int)v->space, v->align, (unsigned long long)v->bytes, v->dynamic ? ", dynamic" : "",
            v->is_kernel_parameter ? ", of a kernel" : "");
    for (uint64_t i = 0; v->initial && i < v->bytes; i++)
        fprintf(out, "%s%02x", i ? " " : ", ", v->initial[i]);
    for (int i = 0; i < v->relocations; i++) {
        const Relocation *r = &v->relocation[i];
        fprintf(out, "; at %llu %s%.*s + %lld", (unsigned long long)r->offset,
                r->generic ? "generic " : "", r->target->name.length, r->target->name.at,
                (long long)r->addend);
    }
    fputc('\n', out);
}

static void put_operand(const Operand *o, FILE *out) {
    fprintf(out, " %s%s%s", o->second ? "|" : "", o->negated ? "!" : "", o->memory ? "[" : "");
    switch (o->kind) {
    case OPERAND_REGISTER:
        fprintf(out, "r%d", o->reg);
        break;
    case OPERAND_NUMBER:
        fprintf(out, "0x%llx", (unsigned long long)o->bits);
        break;
    case OPERAND_SPECIAL:
        fprintf(out, "special %.*s", o->name.length, o->name.at);
        break;
    case OPERAND_VARIABLE:
        fprintf(out, "variable %.*s of %d", o->variable->name.length, o->variable->name.at,
                (int)o->variable->space);
        break;
    case OPERAND_NAME:
        fprintf(out, "name %.*s", o->name.length, o->name.at);
        break;
    case OPERAND_SINK:
        fputc('_', out);
        break;
    case OPERAND_VECTOR:
        fputs("vector", out);
    }
    if (o->offset) fprintf(out, "%+lld", (long long)o->offset);
    if (o->kind == OPERAND_VECTOR || o->elements) {
        fputs(" {", out);
        for (int i = 0; i < o->elements; i++) put_operand(&o->element[i], out);
        fputs(" }", out);
    }
    if (o->memory) fputc(']', out);
}

static void put_instruction(const Instruction *in, int number, FILE *out) {
    fprintf(out, "  %d: '%.*s' line %d, location %d", number, in->text.length, in->text.at,
            in->line, in->location);
    if (in->guard >= 0) fprintf(out, ", %sr%d", in->guard_negated ? "!" : "", in->guard);
    if (in->target >= 0) fprintf(out, ", to %d", in->target);
    if (in->table >= 0) fprintf(out, ", by table %d", in->table);
    fputs("\n     ", out);
    for (int i = 0; i < in->parts; i++)
        fprintf(out, "%s%.*s", i ? "." : "", in->part[i].length, in->part[i].at);
    for (int i = 0; i < in->operands; i++) put_operand(&in->operand[i], out);
    fputc('\n', out);
}

static void put_function(const PtxFunction *f, FILE *out) {
    fprintf(out, "%s %.*s%s, at most %d threads", f->is_kernel ? "kernel" : "function",
            f->name.length, f->name.at, f->has_body ? "" : " without a body", f->max_threads);
    if (f->required[0])
        fprintf(out, ", exactly %u x %u x %u", f->required[0], f->required[1], f->required[2]);
    if (f->min_blocks) fprintf(out, ", at least %d blocks", f->min_blocks);
    if (f->max_registers) fprintf(out, ", at most %d registers", f->max_registers);
    fprintf(out, ", registers of");
    for (int i = 0; i < f->regs; i++) fprintf(out, " %d", f->reg[i]);
    fputc('\n', out);
    for (int i = 0; i < f->results; i++) put_variable("  result", f->result[i], out);
    for (int i = 0; i < f->parameters; i++) put_variable("  parameter", f->parameter[i], out);
    for (int i = 0; i < f->instructions; i++) put_instruction(&f->code[i], i, out);
    for (int i = 0; i < f->tables; i++) {
        fprintf(out, "  table %.*s:", f->table[i].name.length, f->table[i].name.at);
        for (int t = 0; t < f->table[i].targets; t++) fprintf(out, " %d", f->table[i].target[t]);
        fputc('\n', out);
    }
}

static void put_places(const PtxModule *m, FILE *out) {
    for (int i = 0; i < m->files; i++)
        fprintf(out, "file %d: %s\n", i, m->file[i] ? m->file[i] : "-");
    for (int i = 0; i < m->locations; i++) {
        const Location *l = &m->location[i];
        fprintf(out, "location %d: file %d, %d:%d, in %d, of %d\n", i, l->file, l->line, l->column,
                l->parent, l->inlined);
    }
    for (int i = 0; i < m->inlined_functions; i++)
        fprintf(out, "inlined %.*s: %d to %d\n", m->inlined[i].label.length, m->inlined[i].label.at,
                m->inlined[i].first_line, m->inlined[i].last_line);
}

/* Where each instruction is said to be. */
static void put_said(const PtxModule *m, const PtxFunction *f, FILE *out) {
    fputs("  said to be at", out);
    for (int i = 0; i < f->instructions; i++) {
        const Location *l = ptx_location(m, &f->code[i]);
        fprintf(out, l ? " %d:%d" : " ?", l ? l->file : 0, l ? l->line : 0);
    }
    fputc('\n', out);
}

static void put_module(PtxModule *m, FILE *out) {
    put_places(m, out);
    for (int i = 0; i < m->variables; i++) put_variable("variable", m->variable[i], out);
    const int functions = m->functions;
    for (int i = 0; i < functions; i++) {
        char error[300] = "";
        put_function(&m->function[i], out);
        put_said(m, &m->function[i], out);
        if (!m->function[i].is_kernel || !m->function[i].has_body) continue;
        const PtxFunction *whole = ptx_inline(m, &m->function[i], error, sizeof error);
        fprintf(out, "with its calls: %s\n", error);
        if (whole) put_function(whole, out);
    }
}

static void test_file(const char *path, const char *expected) {
    char name[100], error[300] = "", *written = NULL;
    size_t size = 0;
    snprintf(name, sizeof name, FOLDER "%s", path);
    char *text = file_text(fopen(name, "r"));
    FILE *out = open_memstream(&written, &size);
    PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
    if (!ok(module != NULL, "%s is parsed", path)) printf("# %s\n", error);
    if (module) put_module(module, out);
    fclose(out);
    snprintf(name, sizeof name, FOLDER "parse/%s", expected);
    is_file(written, name);
    ptx_free(module);
    free(written);
    free(text);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refused(const char *text, const char *expected) {
    char error[400] = "";
    PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
    ok(!module, "refused: %s", expected);
    is_text(error, expected, "in these words");
    ptx_free(module);
}

/* One statement in the body of a kernel: the line is 2. */
static void refused_inside(const char *statement, const char *expected) {
    char text[600], whole[500];
    snprintf(text, sizeof text,
             ".entry k(.param .b64 a) { .reg .b32 r; .reg .pred p; .reg .b64 w;\n"
             "%s\n}\n",
             statement);
    snprintf(whole, sizeof whole, "PTX line 2: %s", expected);
    refused(text, whole);
}

/* `count` times `piece` between `first` and `last`; to be freed. */
static char *repeated(const char *first, const char *piece, int count, const char *last) {
    char *text = malloc(strlen(first) + (size_t)count * strlen(piece) + strlen(last) + 1);
    char *at = text + sprintf(text, "%s", first);
    for (int i = 0; i < count; i++) at += sprintf(at, "%s", piece);
    strcpy(at, last);
    return text;
}

/* Of a long message the beginning is told. */
static void test_long(void) {
    char *text = repeated(".", "x", 300, "");
    char *expected = repeated("PTX line 1: unknown directive .", "x", 255 - 19, ", near ''");
    refused(text, expected);
    free(text);
    free(expected);
}

static void test_refusals(void) {
    refused("mov.u32 a, b;\n", "PTX line 1: expected '.', near 'mov.u32 a, b;'");
    refused("\n\n.frobnicate 3", "PTX line 3: unknown directive .frobnicate, near ' 3'");
    refused(".param .b32 a;", "PTX line 1: unknown directive .param, near ' .b32 a;'");
    refused(".local .b32 a;", "PTX line 1: unknown directive .local, near ' .b32 a;'");
    refused(".global .b12 a;", "PTX line 1: unknown type 'b12', near ' a;'");
    refused(".global .align 4 a;", "PTX line 1: a variable without a type, near 'a;'");
    refused(".global .b32 ;", "PTX line 1: a variable without a name, near ';'");
    refused(".global .b32 a", "PTX line 1: expected ';', near ''");
    refused(".global .align 12 .b32 a;",
            "PTX line 1: an alignment that is no power of two, near 'a;'");
    refused(".global .align 1048577 .b32 a;",
            "PTX line 1: a number above 1048576, near ' .b32 a;'");
    refused(".global .b32 a[2] = {1, 2, 3};",
            "PTX line 1: more initial values than elements, near '3};'");
    refused(".global .b32 a[] = {1};",
            "PTX line 1: an initial value of unknown size, near ' {1};'");
    refused(".global .b32 a = nobody;", "PTX line 1: unsupported initial value, near ';'");
    refused(".global .b64 a; .global .b32 b = a;",
            "PTX line 1: unsupported initial value, near ';'");
    refused(".global .b32 a[4294967296];", "PTX line 1: an array that is too large, near '];'");
    refused(".global .b32 a[4294967295][2][2];",
            "PTX line 1: an array that is too large, near '][2];'");
    refused(".entry k(.reg .b32 a) {}",
            "PTX line 1: only .param parameters are supported, near ' .b32 a) {}'");
    refused(".entry k() frob {}", "PTX line 1: expected ';', near 'frob {}'");
    refused(".entry ;", "PTX line 1: expected a name, near ';'");
    refused(".file x", "PTX line 1: expected a number, near 'x'");
    refused(".file 1 x", "PTX line 1: expected '\"', near 'x'");
    refused(".file 65537 \"x\"", "PTX line 1: a number above 65536, near ' \"x\"'");
    refused(".global .v3 .b32 a;", "PTX line 1: unknown type 'v3', near ' .b32 a;'");
    refused(".global .b128 a = 1;", "PTX line 1: unsupported initial value, near ';'");
    refused(".global .b64 a = generic(b);",
            "PTX line 1: only variables have an address here: calls through a pointer, such as "
            "those of virtual functions, are not supported, near ');'");
    refused(".global .b64 a; .global .b64 b = generic a;", "PTX line 1: expected '(', near 'a;'");
    refused(".global .b8 a[268435457] = {1};",
            "PTX line 1: an initial value of unknown size, near ' {1};'");
    refused(".global .attribute(.managed", "PTX line 1: a variable without a type, near ''");
    refused(".entry k(param .b32 a) {}", "PTX line 1: expected '.', near 'param .b32 a) {}'");
    refused(".entry k(.param .b32 a .param .b32 b) {}",
            "PTX line 1: expected ')', near '.param .b32 b) {}'");
    refused(".entry k() { L: bra M; { M: bra L; } }", "PTX line 1: unknown label M, near ''");
    refused(".entry k() { { M: bra M; } { bra M; } }", "PTX line 1: unknown label M, near ''");
    refused(".entry k() {\nbra nowhere; }", "PTX line 2: unknown label nowhere, near ''");
    refused_inside("@r bra END; END:", "unknown predicate, near ' bra END; END:'");
    refused_inside("@q bra END; END:", "unknown predicate, near ' bra END; END:'");
    refused_inside("bra r;", "bra without a label, near ''");
    refused_inside("bra A, B;", "bra without a label, near ''");
    refused_inside("=;", "expected an instruction, near '=;'");
    refused_inside("mov.u32 r, =;", "expected an operand, near '=;'");
    refused_inside("mov.u32 r r;", "expected ';', near 'r;'");
    refused_inside("ld.b32 r, [[a]];", "unsupported address, near '];'");
    refused_inside("ld.b32 r, [{r}];", "unsupported address, near '];'");
    refused(".entry k() { .reg .b32 r;\nbrx.idx r, a; }",
            "PTX line 2: brx without its .branchtargets, near ''");
    refused_inside("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y r;",
                   "an opcode of too many parts, near ' r;'");
    refused_inside("x 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;", "too many operands, near '13;'");
    refused_inside("brx.idx r, T, T; T: .branchtargets L; L: }",
                   "brx without its .branchtargets, near ' T: .branchtargets L; L: }'");
    refused_inside("ld.b32 r, [16+4];", "expected ']', near '+4];'");
    refused_inside("ld.b32 r, [w, r];", "expected '{', near 'r];'");
    refused_inside("ld.b32 r, [w, {r];", "expected '}', near '];'");
    refused_inside("mov.b64 w, {r;", "expected '}', near ';'");
    refused_inside(".loc 1048577 1 1", "a number above 1048576, near ' 1 1'");
    refused_inside(".loc 1 1073741825 1", "a number above 1073741824, near ' 1'");
    refused_inside(".loc 1 1 1073741825", "a number above 1073741824, near ''");
    refused_inside("T: .branchtargets ;", "expected a name, near ';'");
    refused_inside("T: .branchtargets A B;", "expected ';', near 'B;'");
    refused_inside("mov.u32 r, 1234567890, 1234567890, 1234567890 1234567890, 1234567890, 12345;",
                   "expected ';', near '1234567890, 1234567890, 12345;'");
    refused_inside("mov.u32 r, 1 12345678901234567890123456789012345678901234567890;",
                   "expected ';', near '1234567890123456789012345678901234567890'");
    refused(
        ".entry k() {\n.loc 1 77 3\nret;\n.loc 3 5 1, function_name f, inlined_at 1 78 3\n.frob; }",
        "PTX line 5 (source line 78): unknown directive .frob, near '; }'");
    refused(".entry k() {\n.loc 2 77 3\n.frob; }",
            "PTX line 3: unknown directive .frob, near '; }'");
    refused(".entry k() {\n.loc 1 77 3\nret; }\n.frob;",
            "PTX line 4: unknown directive .frob, near ';'");
    refused_inside(".frob 1;", "unknown directive .frob, near ' 1;'");
    refused_inside(".reg .b32 x<65537>;", "a number above 65536, near '>;'");
    refused_inside(".reg .b32 x<65535>;", "more than 65536 registers, near ';'");
    refused_inside(".reg .b33 x;", "unknown type 'b33', near ' x;'");
    refused_inside(".reg .b32 x<2;", "expected '>', near ';'");
}

/* Calls that cannot be replaced by a body, in kernel k; `functions` stand before it. */
static void not_inlined(const char *functions, const char *call, const char *expected) {
    char text[900], error[400] = "";
    snprintf(text, sizeof text,
             "%s.entry k() { .reg .pred p; .reg .b32 r; .param .b32 a; .param .b32 b;\n%s;\nret; }",
             functions, call);
    PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
    const PtxFunction *k = module ? ptx_function(module, (Text){"k", 1}) : NULL;
    ok(k && !ptx_inline(module, k, error, sizeof error), "not inlined: %s", call);
    is_text(error, expected, "in these words");
    ptx_free(module);
}

static void test_calls(void) {
    static const char one[] = ".func (.param .b32 o) f(.param .b32 i) { ret; }\n";
    not_inlined("", "call f", "function f: called, but not defined");
    not_inlined("", "call 5", "function k: unsupported call");
    not_inlined("", "call", "function k: unsupported call");
    not_inlined("", "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (a), r, (b), P",
                "function k: a call through a pointer is not supported");
    not_inlined(one, "@p call (a), f, (b)", "function k: unsupported call");
    not_inlined(one, "call f, (b)", "function f: called with other than its .param variables");
    not_inlined(one, "call (a), f", "function f: called with other than its .param variables");
    not_inlined(one, "call (a), f, (r)", "function f: called with other than its .param variables");
    not_inlined(one, "call (a), f, (a, b)",
                "function f: called with other than its .param variables");
    not_inlined(".func f() { call f; ret; }\n", "call f", "function f: recursion is not supported");
    not_inlined(".func g();\n.func f() { call g; ret; }\n.func g() { call f; }\n", "call g",
                "function g: recursion is not supported");
    not_inlined(".func f() { .reg .pred p; @p call f; }\n.func g() { call f; }\n", "call g",
                "function f: unsupported call");
}

/* A return of a function, of whatever kind it is, goes on behind its body; one of a kernel stays.
 */
static void test_returns(void) {
    static const char text[] = ".func f() { .reg .pred p; @p ret.uni; ret; }\n"
                               ".entry k() { call.uni f; call f; ret.uni; }";
    static const struct {
        const char *opcode;
        int parts, target;
    } expected[] = {{"bra", 1, 2}, {"bra", 1, 2}, {"bra", 1, 4}, {"bra", 1, 4}, {"ret", 2, -1}};
    char error[400];
    PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
    const PtxFunction *k = ptx_inline(module, ptx_function(module, (Text){"k", 1}), error, 400);
    is_int(k->instructions, 5, "instructions of a kernel with calls");
    for (int i = 0; i < 5; i++) {
        const Instruction *in = &k->code[i];
        ok(text_is(in->part[0], expected[i].opcode) && in->parts == expected[i].parts &&
               in->target == expected[i].target,
           "%d: %s", i, expected[i].opcode);
    }
    ptx_free(module);
}

/* A kernel with calls nested `depth` deep, and as many registers. */
static const char *inlined(int depth, int registers, char *error, size_t size) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    error[0] = 0;
    for (int i = depth; i-- > 0;) {
        fprintf(out, ".func f%d() { .reg .b32 x<%d>; ", i, i ? 1 : registers - depth - 1);
        if (i < depth - 1) fprintf(out, "call f%d; ", i + 1);
        fprintf(out, "ret; }\n");
    }
    fprintf(out, ".entry k() { .reg .b32 x<2>; call f0; ret; }");
    fclose(out);
    PtxModule *module = ptx_parse(text, length, error, size);
    const PtxFunction *k = module ? ptx_function(module, (Text){"k", 1}) : NULL;
    if (k) ptx_inline(module, k, error, size);
    ptx_free(module);
    free(text);
    return error;
}

static void test_depth(void) {
    char error[400];
    is_text(inlined(63, 1000, error, sizeof error), "", "63 calls in one another");
    is_text(inlined(64, 1000, error, sizeof error), "function f63: calls nested too deep", "64");
    is_text(inlined(2, 65536, error, sizeof error), "", "65536 registers with those of functions");
    is_text(inlined(2, 65537, error, sizeof error),
            "kernel k has more than 65536 registers once every call is replaced by the function's "
            "body",
            "65537");
}

static void parsed(const char *text) {
    char error[400] = "";
    PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
    if (!ok(module != NULL, "parsed: %.60s", text)) printf("# %s\n", error);
    ptx_free(module);
}

/* The compiler writes what is not ASCII as octal digits. */
static void test_paths(void) {
    static const char *const paths[][2] = {{"/j\\303\\274rgen/k.cu", "/j\303\274rgen/k.cu"},
                                           {"\\360\\237\\230\\200", "\360\237\230\200"},
                                           {"/a\\30/\\8/\\", "/a\\30/\\8/\\"},
                                           {"/a\\3031", "/a\3031"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char text[100], error[400] = "";
        snprintf(text, sizeof text, ".file 1 \"%s\"\n.file 2 \"b\"", paths[i][0]);
        PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
        if (!ok(module && module->files == 2 && strcmp(module->file[0], paths[i][1]) == 0,
                "the path %s", paths[i][0]))
            printf("# %s%s\n", error, module ? module->file[0] : "");
        ptx_free(module);
    }
}

/* What may stand there a thousand times, one in another or one after another. */
static void test_many(void) {
    static const struct {
        const char *first, *piece, *last;
        int most; /* 0: there is no limit */
    } texts[] = {
        {".entry k { .reg .pred p; @p mov.pred p, ", "!", "p; }", 998},
        {".entry k { x ", "{", "", 998},
        {".global .b32 a = ", "{", "", 1000},
        {".global .b32 a[1100] = {1", ", {1}", "};", 0},
        {".entry k { .reg .b32 r; mov.u32 r, 1; ", "x {{r}, r, [r]}; ", "}", 0},
        {".entry k { ", "{ } ", "}", 0},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int beyond = 0; beyond < 2; beyond++) {
            const int count = texts[i].most ? texts[i].most + beyond : 1050;
            char *text = repeated(texts[i].first, texts[i].piece, count, texts[i].last);
            char error[400] = "";
            PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
            const bool deep = strstr(error, "nested too deep") != NULL;
            if (!ok(deep == (beyond && texts[i].most), "%d times '%s' in '%s'", count,
                    texts[i].piece, texts[i].first))
                printf("# %s\n", error);
            ptx_free(module);
            free(text);
        }
}

static void test_limits(void) {
    static char deep[5000];
    parsed(".file 65536 \"x\"");
    parsed(".file 1 \"x");
    parsed(".file 1 \"\\303");
    parsed(".pragma \"nounroll\"");
    parsed(".section .debug_str { .b8 1, 2");
    parsed(".section .debug_str { .b8 1, 2 } .global .b32 a;");
    parsed(".entry k { .loc 1048576 1073741824 1073741824 }");
    parsed(".global .b8 a[268435456] = {1};");
    parsed(".global .b32 a[0] = {};");
    parsed("");
    parsed(".entry k { .reg .b32 x<65533>, y, z; .reg .pred p; }");
    parsed(".entry k { x 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12; }");
    parsed(".entry k { a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x; }");
    parsed(".global .b32 a[4294967295]; .global .align 1048576 .b8 b;");
    for (int braces = 999; braces <= 1000; braces++) {
        char *at = deep + sprintf(deep, ".entry k {");
        for (int i = 0; i < braces; i++) *at++ = '{';
        for (int i = 0; i < braces; i++) *at++ = '}';
        strcpy(at, "}");
        if (braces < 1000)
            parsed(deep);
        else
            refused(deep,
                    "PTX line 1: nested too deep, near '}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}'");
    }
}

int main(void) {
    test_file("parse/everything.ptx", "everything.txt");
    test_file("parse/names.ptx", "names.txt");
    test_file("ptx/call.ptx", "call.txt");
    test_file("ptx/inline_asm.ptx", "inline_asm.txt");
    test_file("decode/flow.ptx", "flow.txt");
    test_refusals();
    test_long();
    test_calls();
    test_returns();
    test_depth();
    test_many();
    test_paths();
    test_limits();
    return done_testing();
}

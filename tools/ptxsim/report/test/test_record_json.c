/* Records made by hand as JSON, piece by piece. Catches: a key that has the number of another one,
 * a list without a comma, a text that ends its string early, a name that is taken apart though it
 * was never put together, a line of another file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/module.h"
#include "report/record.h"
#include "test/stub.h"

static char source_path[] = "/tmp/test_record_json.XXXXXX";
static Record record;

/* What the record has between two texts; the second one is left out. */
static const char *between(const char *from, const char *to) {
    static char *text;
    size_t size = 0;
    free(text);
    FILE *out = open_memstream(&text, &size);
    record_json(&record, out);
    fclose(out);
    char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL;
    if (!end) return "neither";
    *end = '\0';
    return begin;
}

/* A record of kernel k of such a module, to be given back. */
static Module *begin(const char *head, const char *body) {
    static char text[4096];
    char error[400] = "";
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_90a\n.address_size 64\n%s"
             ".visible .entry k()\n{\n.reg .b32 a;\n%s\n}\n",
             head, body);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    record = (Record){.kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL};
    if (!record.kernel) printf("Bail out! %s\n", error), exit(1);
    return module;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static void test_head(void) {
    Module *module = begin("", "ret;");
    is_text(between("{", "\"ops\""),
            "{\"kernel\":\"k\",\"file\":\"\",\"async\":\"early\",\"grid\":[0,0,0],\"threads\":"
            "[0,0,0],\"block\":[0,0,0],\"index\":0,\"shared_base\":1024,\"shared_bytes\":0,"
            "\"cut\":0,\n\"source\":[],\n",
            "a kernel of no file");
    module_free(module);
    module = begin(".file 2 \"/nowhere/b.cu\"\n", ".loc 2 3 1\nret;");
    record.late = true;
    record.index = UINT64_MAX;
    record.shared_bytes = 4000000000;
    record.cut = 5000000000;
    for (unsigned i = 0; i < 3; i++)
        record.grid[i] = 4 + i, record.threads[i] = 7 + i, record.block[i] = 1 + i;
    is_text(between("\"file\"", "\"ops\""),
            "\"file\":\"\",\"async\":\"late\",\"grid\":[4,5,6],\"threads\":[7,8,9],"
            "\"block\":[1,2,3],\"index\":-1,\"shared_base\":1024,\"shared_bytes\":4000000000,"
            "\"cut\":5000000000,\n\"source\":[],\n",
            "one whose first file has no name");
    is_text(between("\"ops\"", ",\n\"classes\""),
            "\"ops\":[\n[\"ret\",7,0,[]],\n[\"exit\",7,0,[]]]", "has no lines there");
    module_free(module);
}

static void test_operations(void) {
    char head[200];
    snprintf(head, sizeof head, ".file 1 \"%s\"\n.file 2 \"/nowhere/b.h\"\n", source_path);
    Module *module = begin(head, "mov.b32 a, 0;\n.loc 1 3 1\nmov.b32 a, 1;\n"
                                 ".loc 2 9 1\nmov.b32 a, 2;\n"
                                 ".loc 2 7 1, function_name $L0, inlined_at 1 4 1\nmov.b32 a, 3;\n"
                                 ".loc 1 9 1, function_name $L1, inlined_at 2 8 1\nmov.b32 a, 4;\n"
                                 ".loc 1 9 1, function_name $L2, inlined_at 1 5 1\nmov.b32 a, 5;\n"
                                 ".loc 1 6 1\nret;");
    is_text(between("\"ops\"", ",\n\"classes\""),
            "\"ops\":[\n[\"mov.b32 a, 0\",5,0,[]],\n[\"mov.b32 a, 1\",5,3,[3]],\n"
            "[\"mov.b32 a, 2\",5,0,[]],\n[\"mov.b32 a, 3\",5,4,[4]],\n"
            "[\"mov.b32 a, 4\",5,0,[9]],\n[\"mov.b32 a, 5\",5,5,[9,5]],\n[\"ret\",7,6,[6]],\n"
            "[\"exit\",7,0,[]]]",
            "lines of the kernel's own file alone");
    module_free(module);
}

static void test_counters(void) {
    Module *module = begin("", "mov.b32 a, 0;\nret;");
    InstructionCount count[] = {
        {1, 2, 3, 4, 5, 6, 7, 8}, {11, 12, 13, 14, 15, 16, 17, UINT32_MAX + 1ull}, {0}};
    is_text(between("\"counters\"", "\"run_counters\""), "\"counters\":[],\n", "no counters");
    record.count = count;
    memcpy(record.kernel->count, &count[1], sizeof *count);
    is_text(
        between("\"counters\"", "\"variables\""),
        "\"counters\":[[1,2,3,4,5,6,7,8],[11,12,13,14,15,16,17,4294967296],[0,0,0,0,0,0,0,0]],\n"
        "\"run_counters\":[[11,12,13,14,15,16,17,4294967296],[0,0,0,0,0,0,0,0],"
        "[0,0,0,0,0,0,0,0]],\n",
        "counters of the block, and of all of them");
    module_free(module);
}

/* Lines of a file, as a list. */
static void has_source(const char *bytes, const char *expected) {
    char head[100], whole[100];
    FILE *file = fopen(source_path, "w");
    fputs(bytes, file);
    fclose(file);
    snprintf(head, sizeof head, ".file 1 \"%s\"\n", source_path);
    snprintf(whole, sizeof whole, "\"source\":%s,\n", expected);
    Module *module = begin(head, "ret;");
    is_text(between("\"source\"", "\"ops\""), whole, expected);
    module_free(module);
}

static void test_sources(void) {
    has_source("", "[]");
    has_source("a", "[\"a\"]");
    has_source("a\n", "[\"a\"]");
    has_source("\n", "[\"\"]");
    has_source("\n\n", "[\"\",\"\"]");
    has_source("a b\n\nc", "[\"a b\",\"\",\"c\"]");
    has_source("\t\"<\\>\x1f\x7f\xc3\xa9", "[\"\\u0009\\\"\\u003c\\\\>\\u001f\x7f\xc3\xa9\"]");
    has_source("na\xefve\n", "[\"na\\ufffdve\"]");
}

/* What a variable is called. */
static void test_names(void) {
    static const char *const names[][2] = {{"_ZZ9flash_fwdE2sK", "sK"},
                                           {"_ZZ9flash_fwdPKfE10tile_of_K1", "tile_of_K1"},
                                           {"_ZL4smem", "smem"},
                                           {"_Z4smem", "smem"},
                                           {"_ZZ1kE6tile1x", "tile1x"},
                                           {"_ZZ1kE5x12ab", "x12ab"},
                                           {"_ZZ1kE1s", "s"},
                                           {"_ZZ1kE2sK_0", "_ZZ1kE2sK_0"},
                                           {"_ZN1a4smemE", "_ZN1a4smemE"},
                                           {"_ZZ1kE4sK", "_ZZ1kE4sK"},
                                           {"_ZZ1kE1sK", "_ZZ1kE1sK"},
                                           {"_ZZ1kE12sK", "_ZZ1kE12sK"},
                                           {"_ZZ1kE9ninechars", "ninechars"},
                                           {"_ZZ1kE12", "_ZZ1kE12"},
                                           {"_Z", "_Z"},
                                           {"tile1x", "tile1x"},
                                           {"_1x", "_1x"},
                                           {"Z1x", "Z1x"},
                                           {"s", "s"}};
    enum { NAMES = sizeof names / sizeof *names };
    Module *module = begin("", "ret;");
    Variable variable = {.address = 2000, .bytes = 5000000000};
    for (int i = 0; i < NAMES; i++) {
        char expected[100];
        variable.name = (Text){names[i][0], (int)strlen(names[i][0])};
        record.variable.count = 0;
        *LIST_ADD(record.variable) = &variable;
        snprintf(expected, sizeof expected,
                 "\"variables\":[{\"name\":\"%s\",\"address\":2000,\"bytes\":5000000000}],\n",
                 names[i][1]);
        is_text(between("\"variables\"", "\"tensors\""), expected, names[i][0]);
    }
    Variable dynamic = {.name = {"room", 4}, .address = 1024 + 100, .bytes = 7, .dynamic = true};
    record.shared_bytes = 160;
    *LIST_ADD(record.variable) = &dynamic;
    *LIST_ADD(record.tensor) = (Tensor){1, 1010, 1000, 1040};
    *LIST_ADD(record.tensor) = (Tensor){3, 2000, 1000, 5000002000};
    is_text(between("},{\"name\"", "\"footprints\""),
            "},{\"name\":\"room\",\"address\":1124,\"bytes\":60}],\n"
            "\"tensors\":[{\"parameter\":1,\"bytes\":30},{\"parameter\":3,\"bytes\":5000000000}],"
            "\n",
            "memory that comes with the launch, and tensors from their pointers on");
    free(record.variable.at);
    free(record.tensor.at);
    module_free(module);
}

/* ---- Requests and warps ---------------------------------------------------------------------- */

/* "NAME":[FIRST,FIRST+1,...], one for each lane, is added to a text. */
static void add_list(char *text, size_t size, const char *name, int first) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, ",\"%s\":[%d", name, first);
    for (int l = 1; l < LANES; l++) {
        const size_t more = strlen(text);
        snprintf(text + more, size - more, ",%d", first + l);
    }
    strcat(text, "]");
}

/* A footprint in each space, all of whose numbers differ. */
static void test_footprints(void) {
    static Footprint f[4];
    static char expected[8192] = "\"footprints\":[";
    Module *module = begin("", "ret;");
    for (int i = 0; i < 4; i++) {
        f[i].key = (FootprintKey){.space = (FootprintSpace)i,
                                  .bytes = 8,
                                  .matrices = 4,
                                  .mask = i ? 0x80000001 : UINT32_MAX >> 1,
                                  .tensor = 2};
        f[i].units = (Units){3, 2};
        for (int l = 0; l < LANES; l++) {
            f[i].key.distance[l] = l - 10;
            f[i].unit[l] = (uint8_t)(100 + l);
            f[i].bank[l] = (uint8_t)(200 + l);
            f[i].sector[l] = l - 1;
        }
        static const char *const heads[] = {
            "{\"space\":\"shared\",\"bytes\":8,\"mask\":2147483647",
            ",\n{\"space\":\"global\",\"bytes\":8,\"mask\":-2147483647",
            ",\n{\"space\":\"local\",\"bytes\":8,\"mask\":-2147483647",
            ",\n{\"space\":\"lanes\",\"bytes\":8,\"mask\":-2147483647"};
        strcat(expected, heads[i]);
        add_list(expected, sizeof expected, "distance", -10);
        if (i < 2) strcat(expected, ",\"units\":3,\"ideal\":2");
        if (i == 0) strcat(expected, ",\"matrices\":4");
        if (i == 1) strcat(expected, ",\"tensor\":2");
        if (i < 2) add_list(expected, sizeof expected, i ? "sector" : "wavefront", 100);
        if (i < 2) add_list(expected, sizeof expected, i ? "within" : "bank", 200);
        if (i == 1) strcat(expected, ",\"sectors\":[-1,0,1]");
        strcat(expected, "}");
    }
    strcat(expected, "],\n");
    record.footprints.at = f;
    record.footprints.count = 4;
    is_text(between("\"footprints\"", "\"warps\""), expected, "a footprint in each space");
    module_free(module);
}

static void test_warps(void) {
    Module *module = begin("", "ret;");
    Run runs[] = {{3, 2, UINT32_MAX, 1}, {8, 1, 7, 3}, {0, 4, 0x80000000, 5000000000}};
    Request requests[] = {{0, 5, -9}, {0, 6, 5000000000}, {3, 5, 0}, {4, 7, 1}};
    uint32_t divergent[] = {1, 4};
    WarpRecord warps[2] = {{.steps = 7}, {.steps = 0}};
    warps[0].run.at = runs, warps[0].run.count = 3;
    warps[0].request.at = requests, warps[0].request.count = 4;
    warps[0].divergent.at = divergent, warps[0].divergent.count = 2;
    record.warp = warps;
    record.warps = 2;
    is_text(between("\"warps\"", "\"flights\""),
            "\"warps\":[{\"steps\":7,\"runs\":[3,2,-1,1,8,1,7,0,0,4,-2147483648,4999999996],\n"
            "\"requests\":[0,5,-9,0,6,5000000000,3,5,0,1,7,1],\"divergent\":[1,4]},\n"
            "{\"steps\":0,\"runs\":[],\n\"requests\":[],\"divergent\":[]}],\n",
            "a warp, and one that did nothing");
    module_free(module);
}

/* ---- What is in flight ----------------------------------------------------------------------- */

static void test_flights(void) {
    Module *module = begin("", "ret;");
    Flight flights[] = {{FLIGHT_COPY, 1, 2, 3, 4, 5, 6, 7, 5000000000, -1},
                        {FLIGHT_STORE, 0, 0, 0, 0, NO_STEP, NO_STEP, 0, 0, -1},
                        {FLIGHT_WGMMA, 0, 0, NO_STEP, NO_STEP, 0, NO_STEP, 0, 0, -1},
                        {FLIGHT_LOAD, 0, 0, UINT32_MAX - 1, 0, NO_STEP, 0, 0, 0, 8}};
    Transfer transfers[] = {{1, 2, 3, false, 4, 5, 6, -7, 8, 2, {-9, 10, 11}, {12, 13}},
                            {.step = NO_STEP, .stores = true, .tensor = -1, .layout = -1}};
    record.flight.at = flights, record.flight.count = 4;
    record.transfer.at = transfers, record.transfer.count = 2;
    is_text(between("\"flights\"", "\"products\""),
            "\"flights\":[{\"kind\":\"cp.async\",\"warp\":1,\"group\":2,\"first\":3,\"last\":4,"
            "\"commit\":5,\"wait\":6,\"operations\":7,\"bytes\":5000000000,\"phase\":-1},\n"
            "{\"kind\":\"bulk store\",\"warp\":0,\"group\":0,\"first\":0,\"last\":0,"
            "\"commit\":-1,\"wait\":-1,\"operations\":0,\"bytes\":0,\"phase\":-1},\n"
            "{\"kind\":\"wgmma\",\"warp\":0,\"group\":0,\"first\":-1,\"last\":-1,"
            "\"commit\":0,\"wait\":-1,\"operations\":0,\"bytes\":0,\"phase\":-1},\n"
            "{\"kind\":\"bulk load\",\"warp\":0,\"group\":0,\"first\":4294967294,\"last\":0,"
            "\"commit\":-1,\"wait\":0,\"operations\":0,\"bytes\":0,\"phase\":8}],\n"
            "\"transfers\":[{\"flight\":1,\"warp\":2,\"step\":3,\"stores\":false,\"shared\":4,"
            "\"bytes\":5,\"tensor\":6,\"base\":-7,\"layout\":8,\"units\":12,\"ideal\":13,"
            "\"start\":[-9,10]},\n"
            "{\"flight\":0,\"warp\":0,\"step\":-1,\"stores\":true,\"shared\":0,"
            "\"bytes\":0,\"tensor\":-1,\"base\":0,\"layout\":-1,\"units\":0,\"ideal\":0,"
            "\"start\":[]}],\n",
            "flights of each kind, and copies with a tensor map and without");
    module_free(module);
}

/* B of address 16, leading 32, stride 48 and base offset 5, with each swizzle. */
static void test_products(void) {
    static const struct {
        uint64_t bits;
        int swizzle;
    } b[] = {{0x000a000300020001, 0},
             {0x400a000300020001, 128},
             {0x800a000300020001, 64},
             {0xc00a000300020001, 32}};
    Module *module = begin("", "ret;");
    char expected[400];
    for (int i = 0; i < 4; i++) {
        Product product = {.flight = 1,
                           .warp = 2,
                           .step = 3,
                           .b_descriptor = b[i].bits,
                           .a = -1,
                           .b = i,
                           .n = 16,
                           .accumulate = i,
                           .b_transposed = i};
        record.product.at = &product, record.product.count = 1;
        snprintf(expected, sizeof expected,
                 "\"products\":[{\"flight\":1,\"warp\":2,\"step\":3,\"n\":16,\"accumulate\":%s,"
                 "\"a\":null,\"b\":{\"bits\":\"%016llx\",\"address\":16,\"leading\":32,"
                 "\"stride\":48,\"base_offset\":5,\"swizzle\":%d,\"transposed\":%s,"
                 "\"layout\":%d}}],\n",
                 i ? "true" : "false", (unsigned long long)b[i].bits, b[i].swizzle,
                 i ? "true" : "false", i);
        is_text(between("\"products\"", "\"layouts\""), expected, "A in registers");
    }
    Product product = {.step = NO_STEP, .a_descriptor = 1, .a_transposed = true, .b = 1};
    record.product.at = &product;
    is_text(between("\"step\"", ",\"b\""),
            "\"step\":-1,\"n\":0,\"accumulate\":false,\"a\":{\"bits\":\"0000000000000001\","
            "\"address\":16,\"leading\":0,\"stride\":0,\"base_offset\":0,\"swizzle\":0,"
            "\"transposed\":true,\"layout\":0}",
            "A in shared memory");
    int64_t places[] = {-16, NO_CHUNK, 5000000000, NO_CHUNK};
    Layout layouts[] = {{.chunks = 3, .offset = places}, {.chunks = 0}, {.chunks = 1}};
    layouts[2].offset = &places[3];
    record.layout.at = layouts, record.layout.count = 3;
    is_text(between("\"layouts\"", "\"mbarriers\""),
            "\"layouts\":[[-16,null,5000000000],\n[],\n[null]],\n", "places of chunks");
    module_free(module);
}

static void test_phases(void) {
    Module *module = begin("", "ret;");
    Arrival arrivals[] = {{1, 2, 3}, {4, 5, 6}}, waits[] = {{7, 8, 9}, {10, 11, 12}};
    Phase phases[] = {
        {.where = 1024, .number = 1, .expected = 2, .complete = true, .time = 1ull << 32},
        {.where = 3}};
    phases[0].arrival.at = arrivals, phases[0].arrival.count = 2;
    phases[0].wait.at = waits, phases[0].wait.count = 2;
    record.phase.at = phases, record.phase.count = 2;
    record.barrier.at = &phases[1], record.barrier.count = 1;
    is_text(between("\"mbarriers\"", "\"fragments\""),
            "\"mbarriers\":[{\"at\":1024,\"phase\":1,\"expected\":2,\"complete\":true,"
            "\"time\":4294967296,\"arrivals\":[1,2,3,4,5,6],\"waits\":[7,8,10,11]},\n"
            "{\"at\":3,\"phase\":0,\"expected\":0,\"complete\":false,\"time\":0,"
            "\"arrivals\":[],\"waits\":[]}],\n"
            "\"barriers\":[{\"at\":3,\"phase\":0,\"expected\":0,\"complete\":false,\"time\":0,"
            "\"arrivals\":[],\"waits\":[]}],\n",
            "phases and uses");
    module_free(module);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void test_faults(void) {
    char text[] = "a \"b\"\n";
    Module *module = begin("", "ret;");
    is_text(between("\"fault\"", "}"), "\"fault\":null", "no fault");
    record.fault = (RecordedFault){.happened = true, .warp = -1, .lane = -1};
    is_text(between("\"fault\"", "}}"),
            "\"fault\":{\"text\":\"\",\"warp\":-1,\"lane\":-1,\"step\":0", "one without words");
    record.fault = (RecordedFault){.happened = true,
                                   .text = text,
                                   .warp = 1,
                                   .lane = 2,
                                   .step = 3,
                                   .race = true,
                                   .earlier_step = NO_STEP,
                                   .later_step = 6};
    record.fault.sides = (RaceReport){RACE_UNORDERED,
                                      1040,
                                      {RACE_ACTOR_WARP, 4, 31, 0, RACE_WRITE, 8},
                                      {RACE_ACTOR_WARP, 5, LANES, 0, RACE_READ, 9}};
    is_text(between("\"fault\"", "}}}"),
            "\"fault\":{\"text\":\"a \\\"b\\\"\\u000a\",\"warp\":1,\"lane\":2,\"step\":3,"
            "\"address\":1040,\"earlier\":{\"text\":\"write by warp 4, lane 31\",\"warp\":4,"
            "\"lane\":31,\"op\":8,\"step\":-1},\"later\":{\"text\":\"read by several lanes of "
            "warp 5\",\"warp\":5,\"lane\":-1,\"op\":9,\"step\":6",
            "a race of lanes");
    record.fault.sides.earlier.actor = RACE_ACTOR_COPY;
    record.fault.sides.later.lane = 0;
    is_text(between("\"earlier\"", "}}}"),
            "\"earlier\":{\"text\":\"write by cp.async of warp 4\",\"warp\":4,"
            "\"lane\":-1,\"op\":8,\"step\":-1},\"later\":{\"text\":\"read by warp 5, lane 0\","
            "\"warp\":5,\"lane\":0,\"op\":9,\"step\":6",
            "one of a copy, which has no lane");
    module_free(module);
}

int main(void) {
    const int file = mkstemp(source_path);
    if (file < 0) return 1;
    close(file);
    test_head();
    test_operations();
    test_counters();
    test_sources();
    test_names();
    test_footprints();
    test_warps();
    test_flights();
    test_products();
    test_phases();
    test_faults();
    unlink(source_path);
    return done_testing();
}

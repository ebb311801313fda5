/* What is said of an access that is wrong, word for word, and of which lane. Catches: a number that
 * stands for another one, a lane that is not the one, an access that is called another kind. */
#include "test/capture.h"
#include "test/tap.h"

enum { ROOM = 4096 };
static uint8_t *memory;

/* `code` is executed by lane 3 alone. Its address is `at` in q; p is the memory's. */
static void write_kernel(char *text, size_t size, const char *code, uint64_t at) {
    snprintf(text, size,
             PTX_HEAD
             ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 t, a, b; "
             ".reg .pred g;\n.shared .align 16 .b8 room[64]; .local .align 8 .b8 own[32];\n"
             "ld.param.u64 p, [data]; mov.u64 q, %lld; mov.u32 t, %%tid.x; mov.u32 a, 7;\n"
             "mov.u32 b, room; st.local.u32 [own], a; setp.ne.u32 g, t, 3; @g bra END;\n"
             "%s;\nEND: ret;\n}\n",
             (long long)at, code);
}

static void says_early(bool early, const char *code, uint64_t at, const char *message) {
    const LaunchShape shape = {{1, 1, 1}, {32, 1, 1}, 0, early};
    char text[2000], said[2000] = "", expected[500];
    FILE *file = tmpfile();
    fflush(NULL);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    write_kernel(text, sizeof text, code, at);
    const PtxRun run = run_ptx_shape(text, &shape, memory);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    snprintf(expected, sizeof expected,
             "ptxsim: %s\n  in kernel k, block (0, 0, 0), warp 0, lane 3: thread (3, 0, 0)\n",
             message);
    if (!ok(run.status == LAUNCH_FAULT && strncmp(said, expected, strlen(expected)) == 0, "%s",
            message))
        printf("# %s%s\n", said, run.error);
}

static void says(const char *code, uint64_t at, const char *message) {
    says_early(false, code, at, message);
}

/* `format` has the address `offset` bytes behind the memory's beginning, and the beginning. */
static void says_near(const char *code, int64_t offset, const char *format) {
    char message[300];
    const unsigned long long begin = (unsigned long long)(uintptr_t)memory;
    const unsigned long long at = begin + (unsigned long long)offset;
    snprintf(message, sizeof message, format, at, begin);
    says(code, at, message);
}

static void test_global(void) {
    says_near("ld.global.u32 a, [q]", ROOM,
              "load out of bounds: 4 bytes at 0x%llx, which reach 4 bytes beyond the end of an "
              "allocation of 4096 bytes at 0x%llx");
    says_near("ld.global.v4.u32 {a, b, t, a}, [q]", ROOM + 64,
              "load out of bounds: 16 bytes at 0x%llx, which reach 80 bytes beyond the end of an "
              "allocation of 4096 bytes at 0x%llx");
    says_near("st.global.u16 [q], a", -8,
              "store out of bounds: 2 bytes at 0x%llx, which begin 8 bytes before an allocation of "
              "4096 bytes at 0x%llx");
    says_near("atom.global.add.u32 a, [q], 1", ROOM,
              "atomic out of bounds: 4 bytes at 0x%llx, which reach 4 bytes beyond the end of an "
              "allocation of 4096 bytes at 0x%llx");
    says_near("ld.global.u32 a, [q]", 2, "misaligned global load: 4 bytes at 0x%llx");
    says_near("st.global.u64 [q], p", ROOM - 4, "misaligned global store: 8 bytes at 0x%llx");
    says("ld.global.u32 a, [q]", 1ull << 62,
         "load of 4 bytes at 0x4000000000000000, which is no address of global memory");
    says("st.u16 [q], a", 3ull << 48,
         "store of 2 bytes at 0x3000000000000, which is no address of global memory");
    says("ld.param.u32 a, [q]", 1ull << 50,
         "load of 4 bytes at 0x4000000000000, which is no address of global memory");
}

/* While nothing is allocated, what there is elsewhere can be told. */
static void test_no_allocation(void) {
    char message[200]; /* the host's */
    void *freed = memory_allocate(64);
    const uint64_t at = (uint64_t)(uintptr_t)freed, host = (uint64_t)(uintptr_t)message;
    memory_release(freed);
    says("st.global.u32 [q], a", 0, "store out of bounds: 4 bytes at 0x0, a null pointer");
    says("ld.global.u32 a, [q]", 16, "load out of bounds: 4 bytes at 0x10, 16 bytes beyond null");
    says("ld.global.u32 a, [q]", 1ull << 47,
         "load out of bounds: 4 bytes at 0x800000000000, where nothing is allocated");
    snprintf(message, sizeof message,
             "load out of bounds: 4 bytes at 0x%llx, in memory that was freed",
             (unsigned long long)at);
    says("ld.global.u32 a, [q]", at, message);
    snprintf(message, sizeof message,
             "load out of bounds: 4 bytes at 0x%llx, in memory of the host",
             (unsigned long long)host);
    says("ld.global.u32 a, [q]", host, message);
}

/* Memory that was freed is in reach of what is allocated. As large, it is not far away under a
 * sanitizer either. */
static void test_freed(void) {
    uint8_t *freed = memory_allocate(ROOM);
    const long long offset = freed - (uint8_t *)memory;
    char format[200];
    memory_release(freed);
    snprintf(format, sizeof format,
             "load out of bounds: 4 bytes at 0x%%llx, which %s %lld bytes %s an allocation of 4096 "
             "bytes at 0x%%llx, in memory that was freed",
             offset < 0 ? "begin" : "reach", offset < 0 ? -offset : offset + 4 - ROOM,
             offset < 0 ? "before" : "beyond the end of");
    says_near("ld.global.u32 a, [q]", offset, format);
}

static void test_shared(void) {
    says("ld.shared.u32 a, [room+64]", 0,
         "access outside shared memory: 4 bytes at 0x440, the block has 64 bytes, 0x400 to 0x43f");
    says("st.shared.u64 [room-8], p", 0,
         "access outside shared memory: 8 bytes at 0x3f8, the block has 64 bytes, 0x400 to 0x43f");
    says("st.shared.u32 [room+2], a", 0, "misaligned shared access: 4 bytes at 0x402");
    says("st.shared.u16 [room+4], a; ld.shared.u32 a, [room+4]; not.b32 a, a", 0,
         "shared memory is read before it was written, at 0x406");
    says("ld.shared.u32 a, [q]", 1ull << 40, "0x10000000000 is no address of shared memory");
    says("ld.u32 a, [q]", (1ull << 48) + 1024,
         "shared memory is read before it was written, at 0x400");
    says("mbarrier.init.shared.b64 [room+4], 1", 0,
         "an mbarrier at 0x404, which is not 8-byte aligned");
    says("mbarrier.init.shared.b64 [room+2], 1", 0,
         "an mbarrier at 0x402, which is not 8-byte aligned");
    says("mbarrier.init.shared.b64 [room+1], 1", 0,
         "an mbarrier at 0x401, which is not 8-byte aligned");
    says("mbarrier.init.shared.b64 [room+8], 0", 0,
         "mbarrier at 0x408: an mbarrier count must be from 1 to 1048575");
    says("mbarrier.arrive.shared.b64 _, [room+72]", 0,
         "mbarrier outside shared memory: 8 bytes at 0x448, the block has 64 bytes, 0x400 to "
         "0x43f");
    says("mbarrier.arrive.shared.b64 _, [room+16]", 0,
         "mbarrier at 0x410: this mbarrier was never initialised (mbarrier.init)");
    says("mbarrier.init.shared.b64 [room], 2; mbarrier.arrive.shared.b64 _, [room], 3", 0,
         "mbarrier at 0x400: more arrivals than this phase of the mbarrier expects");
}

static void test_others(void) {
    says("ld.local.u32 a, [own+32]", 0, "access outside local memory: 4 bytes at 0x20 of 32");
    says("st.local.u64 [own+28], p", 0, "access outside local memory: 8 bytes at 0x1c of 32");
    says("mov.u32 b, 40; ld.local.u32 a, [b-4]", 0,
         "access outside local memory: 4 bytes at 0x24 of 32");
    says("TABLE: .branchtargets END, END; brx.idx a, TABLE", 0,
         "indexed branch beyond its 2 targets");
    says_early(true, "ld.global.u32 a, [p]", 0,
               "global load before griddepcontrol.wait: the launch before this one may still be "
               "running");
    says_early(true, "red.global.add.u32 [p], a", 0,
               "global atomic before griddepcontrol.wait: the launch before this one may still be "
               "running");
}

int main(void) {
    test_no_allocation();
    memory = memory_allocate(ROOM);
    test_global();
    test_freed();
    test_shared();
    test_others();
    memory_release(memory);
    return done_testing();
}

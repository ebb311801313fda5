/* What nvcc's stubs register: program parts with kernels and variables, and what is left of them.
 * Catches: a kernel or variable of another program, a program that is gone and still found,
 * counters that are gone with it, PTX that cannot be had and is not said to be so. */
#include "cuda/registry.h"
#include "device/simulator.h"
#include "test/stub.h"

void __cudaRegisterFatBinaryEnd(void **handle);

static const char ptx[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    ".visible .entry write(.param .u64 out)\n{\n.reg .b64 p; .reg .b32 v;\n"
    "ld.param.u64 p, [out]; mov.u32 v, %nctaid.x; st.global.u32 [p], v; ret;\n}\n";
static const char other_ptx[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry write(.param .u64 out)\n{\n.reg .b64 p; .reg .b32 v;\n"
    "ld.param.u64 p, [out]; mov.u32 v, 77; st.global.u32 [p], v; ret;\n}\n";
static const char wrong_ptx[] = "this is no PTX\n";

static const char hosts[2];
enum { WRITE, OTHER };
static char table;
static uint32_t *out;

static void is_error(cudaError_t got, cudaError_t expected, const char *name) {
    ok(got == expected && cudaPeekAtLastError() == expected && cudaGetLastError() == expected &&
           cudaGetLastError() == cudaSuccess,
       "%s: %s", name, cudaGetErrorName(expected));
}

static cudaError_t start(int which, dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    void *arguments[] = {&out};
    memset(out, 0, 64);
    return cudaLaunchKernel(&hosts[which], grid, block, arguments, shared, stream);
}

static cudaError_t start_write(dim3 grid, dim3 block) { return start(WRITE, grid, block, 0, NULL); }

/* What a launch may not call, and called. */
static const char *watched(void) {
    const char *function = simulator_unwatch();
    return function ? function : "nothing";
}

static void test_variables(void) {
    char *address = NULL, bytes[8] = "";
    size_t size = 0;
    is_error(cudaGetSymbolAddress((void **)&address, &table), cudaSuccess, "a variable");
    is_error(cudaGetSymbolSize(&size, &table), cudaSuccess, "and its size");
    ok(address && size == 8 && address[0] == 1 && address[7] == 8, "with its first values");
    is_error(cudaMemcpyToSymbol(&table, "ab", 2, 3, cudaMemcpyHostToDevice), cudaSuccess, "to it");
    is_error(cudaMemcpyFromSymbol(bytes, &table, 3, 2, cudaMemcpyDeviceToHost), cudaSuccess,
             "and from it");
    ok(memcmp(bytes, "\3ab", 3) == 0 && address[5] == 6, "in its middle");
    is_error(cudaMemcpyToSymbol(&table, "ab", 2, 7, cudaMemcpyHostToDevice), cudaErrorInvalidValue,
             "not beyond it");
    is_error(cudaMemcpyToSymbolAsync(&table, "cd", 2, 4, cudaMemcpyHostToDevice, NULL), cudaSuccess,
             "to it, some time");
    is_error(cudaMemcpyFromSymbolAsync(bytes, &table, 4, 3, cudaMemcpyDeviceToHost, NULL),
             cudaSuccess, "and from it");
    ok(memcmp(bytes, "acd\7", 4) == 0, "in its middle, too");
    simulator_watch(NULL);
    cudaMemcpyToSymbolAsync(&table, "cd", 2, 4, cudaMemcpyHostToDevice, NULL);
    is_text(watched(), "cudaMemcpyToSymbolAsync", "no launch may");
    simulator_watch(NULL);
    cudaMemcpyFromSymbolAsync(bytes, &table, 4, 3, cudaMemcpyDeviceToHost, NULL);
    is_text(watched(), "cudaMemcpyFromSymbolAsync", "nor take it to the host");
    simulator_watch(NULL);
    cudaMemcpyAsync(address, "a", 1, cudaMemcpyHostToDevice, NULL);
    is_text(watched(), "cudaMemcpyAsync to a variable of the program", "nor write it");
    simulator_watch(NULL);
    cudaMemsetAsync(address + size - 1, 8, 1, NULL);
    is_text(watched(), "cudaMemsetAsync of a variable of the program", "nor set it");
    ok(registry_in_variable(address) && !registry_in_variable(address - 1) &&
           !registry_in_variable(address + size) && !registry_in_variable(out),
       "it has 8 bytes");
    is_error(cudaGetSymbolAddress((void **)&address, &hosts[0]), cudaErrorInvalidSymbol, "none");
    is_error(cudaMemcpyToSymbolAsync(&hosts[0], "ab", 2, 0, cudaMemcpyHostToDevice, NULL),
             cudaErrorInvalidSymbol, "to none, some time");
    is_error(cudaMemcpyFromSymbolAsync(bytes, &hosts[0], 2, 0, cudaMemcpyDeviceToHost, NULL),
             cudaErrorInvalidSymbol, "from none");
    is_error(cudaGetSymbolSize(&size, &hosts[1]), cudaErrorInvalidSymbol, "nor its size");
    is_error(cudaMemcpyToSymbol(&hosts[0], "ab", 2, 0, cudaMemcpyHostToDevice),
             cudaErrorInvalidSymbol, "to none");
    is_error(cudaMemcpyFromSymbol(bytes, &hosts[0], 2, 0, cudaMemcpyDeviceToHost),
             cudaErrorInvalidSymbol, "from none");
}

/* What is said of a program part whose PTX cannot be had; it has no variable either. */
static void is_useless(Fatbin *fatbin, const char *why) {
    static char host;
    char expected[200];
    void *address, *arguments[] = {&out}, **handle = __cudaRegisterFatBinary(&fatbin->wrapper);
    register_kernel(handle, &host, "write");
    __cudaRegisterVar(handle, &host, NULL, "table", 0, 8, 0, 0);
    const Capture capture = begin_capture(STDERR_FILENO);
    const cudaError_t error =
        cudaLaunchKernel(&host, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL);
    const cudaError_t variable = cudaGetSymbolAddress(&address, &host);
    char *said = end_capture(&capture);
    ok(error == cudaErrorInvalidPtx && variable == cudaErrorInvalidSymbol, "no PTX");
    snprintf(expected, sizeof expected, "ptxsim: %s\n", why);
    is_text(said, expected, "says so once");
    free(said);
    cudaGetLastError();
    __cudaUnregisterFatBinary(handle);
}

static void test_useless(void) {
    static Fatbin fatbin;
    __cudaUnregisterFatBinary(register_ptx(&fatbin, ptx));
    fatbin.bytes[16] = 2; /* machine code */
    is_useless(&fatbin, "this fatbin holds no PTX: build with nvcc "
                        "-gencode ...,code=[sm_80,compute_80]");
    fatbin.wrapper.version = 3;
    is_useless(&fatbin, "this fatbin has a version unknown to the simulator: build with CUDA 13");
}

static int modules(void) {
    int count = 0;
    for (const Module *m = registry_modules(); m; m = m->next) count++;
    return count;
}

/* Another program with a kernel of the same name, and one without any PTX. */
static void test_programs(void **handle) {
    static Fatbin other, wrong;
    void **second = register_ptx(&other, other_ptx), **third = register_ptx(&wrong, wrong_ptx);
    static char gone;
    register_kernel(second, &hosts[OTHER], "write");
    register_kernel(third, &gone, "write");
    __cudaRegisterVar(third, &gone, NULL, "table", 0, 8, 0, 0);
    __cudaRegisterFatBinaryEnd(second);
    is_int(modules(), 1, "a module is loaded when it is asked for");
    is_error(start(OTHER, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, NULL), cudaSuccess, "another");
    ok(out[0] == 77 && modules() == 2, "has its own kernel of that name");
    is_error(start_write((dim3){5, 1, 1}, (dim3){1, 1, 1}), cudaSuccess, "and the first");
    is_int(out[0], 5, "has its own");
    void *arguments[] = {&out}, *address;
    for (int again = 0; again < 2; again++) {
        const Capture capture = begin_capture(STDERR_FILENO);
        const cudaError_t error =
            cudaLaunchKernel(&gone, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL);
        char *said = end_capture(&capture);
        is_error(error, cudaErrorInvalidPtx, "what is no PTX");
        ok(again ? !*said : strncmp(said, "ptxsim: ", 8) == 0, "says so once");
        free(said);
    }
    is_error(cudaGetSymbolAddress(&address, &gone), cudaErrorInvalidSymbol, "nor its variables");
    __cudaUnregisterFatBinary(third);
    is_error(cudaLaunchKernel(&gone, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL),
             cudaErrorInvalidDeviceFunction, "which is gone");
    is_error(cudaGetSymbolAddress(&address, &gone), cudaErrorInvalidSymbol, "as its variable is");
    is_error(cudaGetSymbolAddress(&address, &table), cudaSuccess, "but no other one");
    __cudaUnregisterFatBinary(second);
    is_int(modules(), 2, "the counters of what is gone stay");
    registry_reset_counters();
    is_int(modules(), 1, "until they are reset");
    is_error(start_write((dim3){6, 1, 1}, (dim3){1, 1, 1}), cudaSuccess, "the first is still here");
    __cudaUnregisterFatBinary(handle);
    is_error(start_write((dim3){6, 1, 1}, (dim3){1, 1, 1}), cudaErrorInvalidDeviceFunction,
             "and then it is not");
    is_error(cudaGetSymbolAddress(&address, &table), cudaErrorInvalidSymbol, "nor its variable");
    registry_reset_counters();
    is_int(modules(), 0, "nothing is left");
}

int main(void) {
    static Fatbin fatbin;
    void **handle = register_ptx(&fatbin, ptx);
    register_kernel(handle, &hosts[WRITE], "write");
    __cudaRegisterVar(handle, &table, NULL, "table", 0, 8, 0, 0);
    cudaMalloc((void **)&out, 64);
    test_variables();
    test_useless();
    test_programs(handle);
    cudaFree(out);
    return done_testing();
}

/* What a launch is watched for (common/device/simulator.h). Catches: a function that waits or
 * allocates, or another stream, which is not noted; one that a launch may use and is; a note that
 * stays. */
#include "cuda/watch.h"
#include "device/simulator.h"
#include "test/tap.h"

#include <cuda_runtime_api.h>
#include <string.h>

static cudaStream_t stream;
static cudaEvent_t event;
static void *memory, *pinned;
static int number;

/* A name, and what calls it. */
typedef struct Case {
    const char *name;
    void (*call)(void);
} Case;

static void allocates(void) { cudaMalloc(&memory, 16); }
static void allocates_in_stream(void) { cudaMallocAsync(&memory, 16, stream); }
static void allocates_host(void) { cudaMallocHost(&pinned, 16); }
static void allocates_pinned(void) { cudaHostAlloc(&pinned, 16, 0); }
static void allocates_managed(void) { cudaMallocManaged(&memory, 16, 1); }
static void copies(void) { cudaMemcpy(&number, &number, sizeof number, cudaMemcpyHostToHost); }
static void sets(void) { cudaMemset(memory, 0, 16); }
static void copies_to_host(void) {
    cudaMemcpyAsync(&number, memory, sizeof number, cudaMemcpyDeviceToHost, stream);
}
static void copies_to_symbol(void) {
    cudaMemcpyToSymbol(&number, &number, sizeof number, 0, cudaMemcpyHostToDevice);
}
static void copies_from_symbol(void) {
    cudaMemcpyFromSymbol(&number, &number, sizeof number, 0, cudaMemcpyDeviceToHost);
}
static void frees_in_stream(void) { cudaFreeAsync(memory, stream); }
static void frees(void) { cudaFree(memory); }
static void frees_host(void) { cudaFreeHost(pinned); }
static void creates_stream(void) { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
static void asks_stream(void) { cudaStreamQuery(stream); }
static void waits_for_stream(void) { cudaStreamSynchronize(stream); }
static void destroys_stream(void) { cudaStreamDestroy(stream); }
static void creates_event(void) { cudaEventCreate(&event); }
static void creates_untimed_event(void) { cudaEventCreateWithFlags(&event, 2); }
static void waits_for_event(void) { cudaEventSynchronize(event); }
static void destroys_event(void) { cudaEventDestroy(event); }
static void waits(void) { cudaDeviceSynchronize(); }
static void resets(void) { cudaDeviceReset(); }

/* In an order in which each finds what it needs. */
static const Case forbidden[] = {
    {"cudaStreamCreateWithFlags", creates_stream},
    {"cudaEventCreate", creates_event},
    {"cudaMalloc", allocates},
    {"cudaMemset", sets},
    {"cudaMemcpy", copies},
    {"cudaMemcpyAsync to the host", copies_to_host},
    {"cudaMemcpyToSymbol", copies_to_symbol},
    {"cudaMemcpyFromSymbol", copies_from_symbol},
    {"cudaFree", frees},
    {"cudaMallocAsync", allocates_in_stream},
    {"cudaFreeAsync", frees_in_stream},
    {"cudaMallocHost", allocates_host},
    {"cudaFreeHost", frees_host},
    {"cudaHostAlloc", allocates_pinned},
    {"cudaFreeHost", frees_host},
    {"cudaMallocManaged", allocates_managed},
    {"cudaFree", frees},
    {"cudaEventSynchronize", waits_for_event},
    {"cudaStreamQuery", asks_stream},
    {"cudaStreamSynchronize", waits_for_stream},
    {"cudaEventDestroy", destroys_event},
    {"cudaEventCreateWithFlags", creates_untimed_event},
    {"cudaEventDestroy", destroys_event},
    {"cudaStreamDestroy", destroys_stream},
    {"cudaDeviceSynchronize", waits},
    {"cudaDeviceReset", resets},
};

/* What is noted of a call, or "nothing". */
static const char *noted(void (*call)(void)) {
    simulator_watch(stream);
    call();
    const char *name = simulator_unwatch();
    return name ? name : "nothing";
}

static void enqueues(void) {
    char bytes[16] = {0};
    int device;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, device);
    cudaMemsetAsync(memory, 0, 16, stream);
    cudaMemcpyAsync(memory, bytes, 16, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(event, stream);
    cudaGetLastError();
}

/* Whether something on this stream is on another than the launch was given. */
static bool strays(cudaStream_t on) {
    simulator_watch(stream);
    enqueues();
    cudaMemsetAsync(memory, 0, 16, on);
    simulator_unwatch();
    return simulator_strayed();
}

static void allocates_and_waits(void) {
    allocates();
    waits();
}

/* Three things for a stream, and their codes. */
static cudaError_t codes[3];

static void rehearse(int which) {
    int copied = 7;
    const bool rehearses = simulator_rehearse(which);
    codes[0] = cudaMemsetAsync(memory, 1, 16, stream);
    codes[1] = cudaMemcpyAsync(memory, &copied, sizeof copied, cudaMemcpyHostToDevice, stream);
    codes[2] = cudaMemcpyAsync(&copied, memory, sizeof copied, cudaMemcpyDeviceToHost, stream);
    ok(rehearses && simulator_rehearsed() == 3 && copied == 7,
       "three things are asked for, nothing is done");
}

static bool refused_is(int which) {
    for (int i = 0; i < 3; i++)
        if (codes[i] != (i == which ? cudaErrorLaunchOutOfResources : cudaSuccess)) return false;
    return cudaGetLastError() == (which < 3 ? cudaErrorLaunchOutOfResources : cudaSuccess);
}

static void test_launching(void) {
    ok(!watching_launch(), "nobody launches");
    simulator_watch(stream);
    ok(watching_launch(), "who is watched does");
    simulator_unwatch();
    ok(!watching_launch(), "until it is over");
    simulator_rehearse(0);
    ok(watching_launch(), "and so does who rehearses");
    simulator_rehearsed();
    ok(!watching_launch(), "until that is over");
}

int main(void) {
    test_launching();
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        ok(strcmp(noted(forbidden[i].call), forbidden[i].name) == 0, "%s", forbidden[i].name);
    creates_stream();
    creates_event();
    allocates();
    ok(strcmp(noted(enqueues), "nothing") == 0, "what only enqueues or asks for numbers");
    ok(strcmp(noted(allocates_and_waits), "cudaMalloc") == 0, "of two the first");
    ok(!strays(stream) && strays(NULL) && strays(cudaStreamPerThread) && !strays(stream),
       "something on another stream is noted, until the next launch");
    cudaMemcpyAsync(memory, &number, sizeof number, cudaMemcpyHostToDevice, NULL);
    ok(!simulator_strayed(), "and not what is enqueued between two launches");
    simulator_watch(stream);
    simulator_unwatch();
    waits();
    ok(!simulator_unwatch(), "nothing between two launches");
    number = 5;
    cudaMemcpyAsync(memory, &number, sizeof number, cudaMemcpyHostToDevice, stream);
    for (int which = 0; which <= 3; which++) {
        rehearse(which);
        ok(refused_is(which), "number %d is refused, and no other", which);
    }
    number = 0;
    cudaMemcpyAsync(&number, memory, sizeof number, cudaMemcpyDeviceToHost, stream);
    is_int(number, 5, "what was rehearsed has changed nothing, what is not is executed");
    return done_testing();
}

#include "device/stage_launch.h"

#include "device/simulator.h"
#include "device/stage_code.h"

#include <limits.h>

/* The stage's attention_launch. */
static cudaError_t call(const Stage *stage, const AttentionProblem *shape,
                        const AttentionTensors *tensors, void *workspace) {
    stage_code_enter(stage->name, "attention_launch");
    const cudaError_t code = stage->launch(shape, tensors, workspace, device_stream());
    stage_code_leave();
    return code;
}

/* "attention_launch: cudaErrorInvalidValue (invalid argument)" */
static bool launched(cudaError_t code, const char *what, Error *error) {
    return code == cudaSuccess || error_set(error, STATUS_FAIL, "attention_launch%s: %s (%s)", what,
                                            cudaGetErrorName(code), cudaGetErrorString(code));
}

static bool too_large(Error *error) {
    return error_set(error, STATUS_SKIP,
                     "too large to simulate: choose a smaller B, H, N or NKV, or set FORCE=1");
}

bool launch_worthwhile(const Problem *problem, Error *error) {
    return !simulator_too_long(problem_flops(problem)) || too_large(error);
}

bool launch_begin(const Stage *stage, const Problem *problem, const AttentionTensors *tensors,
                  void *workspace, const Device *device, Error *error) {
    simulator_watch(device_stream());
    const cudaError_t code = call(stage, &problem->shape, tensors, workspace);
    const char *const forbidden = simulator_unwatch();
    const cudaError_t left = cudaGetLastError();
    if (device->simulated && code == cudaErrorLaunchTimeout) return too_large(error);
    return launched(code, "", error) &&
           launched(left, " returned success, but cudaGetLastError reports", error) &&
           (!forbidden || error_set(error, STATUS_FAIL,
                                    "attention_launch called %s: it may only enqueue work, and "
                                    "launches may not share data",
                                    forbidden));
}

bool launch_end(const Device *device, Error *error) {
    if (!device_wait_stream(device, error)) return false;
    const bool idle = device_default_idle();
    return device_wait(device, error) &&
           (idle || error_set(error, STATUS_FAIL,
                              "it used the default stream, not the one that it was given")) &&
           (!simulator_strayed() ||
            error_set(error, STATUS_FAIL, "it used another stream than the one that it was given"));
}

/* In the simulator all that a launch enqueues is refused once, one after the other; nothing is
 * executed meanwhile. */
static bool returns_errors(const Stage *stage, const Problem *problem,
                           const AttentionTensors *tensors, void *workspace, Error *error) {
    for (int which = 0; simulator_rehearse(which); which++) {
        const cudaError_t code = call(stage, &problem->shape, tensors, workspace);
        cudaGetLastError();
        const int count = simulator_rehearsed();
        if (count == 0)
            return error_set(error, STATUS_FAIL,
                             "attention_launch enqueues nothing when it is called again");
        if (which >= count) return true;
        if (code != (cudaError_t)SIMULATOR_REFUSAL)
            return error_set(
                error, STATUS_FAIL,
                "attention_launch does not pass on errors: when operation %d of the %d that "
                "it enqueues failed, it returned %s",
                which + 1, count, cudaGetErrorName(code));
    }
    return true;
}

/* What nobody could simulate, and of which nothing is executed: two heads of 2^32 bytes or half of
 * that, which end what the host computes in 32 bits, and more heads than the y and the z of a
 * launch grid can count. No tensor is there, so a host that reads or writes one crashes. */
static bool launches_large(const Stage *stage, const Problem *problem, const Device *device,
                           Error *error) {
    enum { ROWS = 1 << 24, MANY = 65537, APART = 40 }; /* 2^40 bytes from one tensor to the next */
    const float scale = problem->shape.scale;
    const AttentionProblem shapes[] = {{1, 2, 2, ROWS, ROWS, scale}, {1, MANY, MANY, 1, 1, scale}};
    void *at[6];
    for (uintptr_t i = 0; i < 6; i++) at[i] = (void *)((i + 1) << APART);
    const AttentionTensors tensors = {at[0], at[1], at[2], at[3], at[4]};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const AttentionProblem *const s = &shapes[i];
        if (!simulator_rehearse(INT_MAX)) return true;
        const bool refused = stage_supports(stage, s, device->compute_capability);
        const cudaError_t code = refused ? cudaSuccess : call(stage, s, &tensors, at[5]);
        simulator_rehearsed();
        cudaGetLastError();
        if (code == cudaSuccess) continue;
        return error_set(
            error, STATUS_FAIL,
            "attention_launch would fail for B=%d H=%d HKV=%d N=%d NKV=%d: %s%s", s->batch,
            s->heads, s->kv_heads, s->seq_q, s->seq_kv, cudaGetErrorName(code),
            code == cudaErrorInvalidConfiguration
                ? " (gridDim.y and gridDim.z are at most 65535; only gridDim.x can be larger)"
                : "");
    }
    return true;
}

bool launch_whole(const Stage *stage, const Problem *problem, const AttentionTensors *tensors,
                  void *workspace, const Device *device, Error *error) {
    size_t before = 0, after = 0;
    if (!device_memory_free(&before, error) ||
        !launch_begin(stage, problem, tensors, workspace, device, error) ||
        !launch_end(device, error) || !device_memory_free(&after, error))
        return false;
    const char *const unlisted = simulator_unlisted(stage->kernels);
    if (unlisted)
        return error_set(error, STATUS_FAIL,
                         "it launched the kernel %s, and attention_kernels has no entry with this "
                         "function, as many threads and as much dynamic shared memory",
                         unlisted);
    return !device->simulated || before == after ||
           error_set(error, STATUS_FAIL,
                     "its launch changed the free memory of the device, from %zu to %zu bytes",
                     before, after);
}

bool launch_rehearsed(const Stage *stage, const Problem *problem, const AttentionTensors *tensors,
                      void *workspace, const Device *device, Error *error) {
    return returns_errors(stage, problem, tensors, workspace, error) &&
           launches_large(stage, problem, device, error);
}

/* The description of the device, and waiting for it, on the fake runtime. Catches: a figure in
 * another unit, a peak that is not the published one, a wait without an end, a device that is used
 * after it was lost. */
#include "device/device.h"
#include "device/stage_launch.h"
#include "test/fake_runtime.h"
#include "test/tap.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static Device device;
static Error error;

static void description(void) {
    size_t bytes = 0;
    device = (Device){.simulated = true, .limit = 7};
    setenv("FAKE_MEMORY", "123456789", 1);
    ok(device_count() == 1 && device_open(0, &device, &error), "a device");
    is_text(device.name, "Fake \"GPU\"", "its name");
    ok(!device.simulated && device.index == 0 && device.limit == 0, "a GPU, without a limit yet");
    is_int(device.compute_capability, 90, "compute capability 9.0");
    is_int(device.multiprocessors, 132, "multiprocessors");
    is_int(device.clock_mhz, 1980, "MHz");
    is_int((long long)device.l2_bytes, 1 << 20, "bytes of L2");
    is_int(device.block_shared_bytes, 1 << 20, "bytes of shared memory for a block");
    ok(device.memory_free == 123456789 && device.memory_total == 123456789, "bytes of memory");
    ok(device.driver == 13000 && device.runtime == 13000, "versions");
    is_near(device.peak_gb_s, 1000, 1e-9, "GB/s: 2 transfers of 500 bytes in each of 10^9 clocks");
    ok(device_memory_free(&bytes, &error) && bytes == 123456789, "bytes free now");
    ok(device_stream() != NULL, "a stream of its own");
    unsetenv("FAKE_MEMORY");
    ok(!device_open(1, &device, &error) && error.status == STATUS_USAGE, "there is no second one");
    is_text(error.text, "GPU=1: allowed are 0 to 0", "which is said");
    setenv("FAKE_DEVICES", "0", 1);
    ok(device_count() == 0 && !device_open(0, &device, &error) && error.status == STATUS_SKIP,
       "no device: %s", error.text);
    ok(cudaGetLastError() == cudaSuccess, "which leaves no error behind");
    unsetenv("FAKE_DEVICES");
}

/* Dense fp16 with fp32 sums, for 132 multiprocessors at 1.98 GHz or the clock of the white paper.
 */
static void peaks(void) {
    static const struct {
        const char *capability;
        double tflops;
    } of[] = {{"75", 132 * 1024 * 1.98e-3},  {"80", 132 * 2048 * 1.41e-3},
              {"86", 132 * 1024 * 1.98e-3},  {"89", 132 * 1024 * 1.98e-3},
              {"90", 132 * 4096 * 1.83e-3},  {"100", 132 * 8192 * 1.856e-3},
              {"120", 132 * 1024 * 1.98e-3}, {"70", 0}};
    for (int i = 0; i < 8; i++) {
        setenv("FAKE_CAPABILITY", of[i].capability, 1);
        setenv("FAKE_NAME", "Fake GeForce", 1);
        device_open(0, &device, &error);
        const double half = device.compute_capability == 80 || device.compute_capability >= 90
                                ? device.compute_capability == 120 ? 0.5 : 1
                                : 0.5;
        is_near(device.peak_tflops, half * of[i].tflops, 1e-9, "a GeForce");
        unsetenv("FAKE_NAME");
        device_open(0, &device, &error);
        is_near(device.peak_tflops, of[i].tflops, 1e-9, of[i].capability);
    }
    unsetenv("FAKE_CAPABILITY");
}

static void errors(void) {
    ok(cuda_ok(cudaSuccess, "f()", "a.c", 1, &error), "success is no error");
    fake_error();
    ok(!cuda_ok(cudaErrorInvalidValue, "f(x)", "a.c", 17, &error) && error.status == STATUS_FAIL,
       "an error is one");
    is_text(error.text, "a.c:17: f(x): cudaErrorInvalidValue (a fake error)", "which says where");
    ok(cudaGetLastError() == cudaSuccess, "and is taken back");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void waiting(void) {
    device_open(0, &device, &error);
    device.limit = 1;
    ok(device_default_idle() && device_wait(&device, &error), "an idle device");
    fake_default_stream();
    ok(device_wait_stream(&device, &error) && !device_default_idle(),
       "something in the default stream, which nobody waits for");
    ok(cudaGetLastError() == cudaSuccess, "and which leaves no error");
    fake_default_stream();
    ok(launch_end(&device, &error) == false && error.status == STATUS_FAIL, "%s", error.text);
    ok(cudaGetLastError() == cudaSuccess, "which leaves none either");
    fake_default_stream();
    ok(device_wait(&device, &error) && device_default_idle(), "unless it is waited for");
    ok(cudaGetLastError() == cudaSuccess, "which leaves no error");
    fake_fault();
    ok(!device_wait(&device, &error) && strstr(error.text, "cudaErrorIllegalAddress"),
       "a fault shows: %s", error.text);
    device_restore(&device);
    ok(cudaGetLastError() == cudaSuccess, "is nobody else's");
    ok(device_usable(&error) && device_wait(&device, &error), "and is gone after a reset");
}

/* Whether a reset that does not help loses the device: in a process of its own, which loses it. */
static bool loses_device(void) {
    setenv("FAKE_LOST", "1", 1);
    fake_fault();
    const bool before = device_usable(&error);
    device_restore(&device);
    return before && !device_usable(&error) && error.status == STATUS_SKIP &&
           strcmp(error.text, "not run: the device was lost when an earlier kernel failed") == 0;
}

static void losing(void) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(loses_device() ? 0 : 1);
    ok(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "a fault alone does not lose the device, a reset that fails does");
}

static long rest;                /* nanoseconds of the last one */
static double first_at, last_at; /* when the first and the last began */

/* In the place of the system's. */
int nanosleep(const struct timespec *time, struct timespec *left) {
    rest = time->tv_nsec;
    last_at = now();
    if (first_at == 0) first_at = last_at;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

/* Nothing that waits for the device may be called after it, the end of the program neither. */
static void hanging(void) {
    first_at = 0;
    const double began = now();
    fake_hang();
    ok(!device_wait_stream(&device, &error) && error.status == STATUS_FAIL, "a kernel hangs");
    const double waited = now() - began;
    ok(waited > 0.9 && waited < 4, "for a second");
    ok(rest == 1000000 && first_at >= began + 0.05 && last_at > began + 0.5,
       "of which others have all but the first twentieth");
    is_text(error.text,
            "it did not end within 1 s, and the device is still busy with it: a loop or a wait "
            "that never ends? (LIMIT=10 waits longer)",
            "which is said");
    ok(!device_usable(&error), "the device is lost");
    device_restore(&device); /* must not wait */
    ok(!device_usable(&error), "and stays lost");
}

int main(void) {
    description();
    peaks();
    errors();
    waiting();
    losing();
    hanging();
    const int code = done_testing();
    fflush(NULL);
    _exit(code);
}

/* A stage computed on the CPU, for fake_runtime.c. BUG plants one bug. The rounding functions are
 * those of the program that loads it. */
#include "attention.h"
#include "base/element.h"
#include "test/fake_runtime.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BUG_NONE,
    BUG_ELEMENT,         /* one element of O is off by 1% of the largest */
    BUG_NAN,             /* one element of O is not written */
    BUG_GUARD,           /* writes one element past O */
    BUG_INPUT,           /* changes the last element of V */
    BUG_LSE,             /* LSE lacks one key */
    BUG_TAIL,            /* the rows of the last, partial tile of 64 are not written */
    BUG_HEAD,            /* query head h reads KV head h mod kv_heads */
    BUG_MASK,            /* causal: the diagonal key is masked too */
    BUG_LATER,           /* wrong from the second launch on */
    BUG_FAULT,           /* an illegal address */
    BUG_LAUNCH,          /* the launch returns an error */
    BUG_UNSUPPORTED,     /* not on this device */
    BUG_WORKSPACE,       /* asks for more memory than there is */
    BUG_REFUSES,         /* refuses odd lengths, which the contract has */
    BUG_REFUSES_ALL,     /* refuses every problem on every device */
    BUG_WORKSPACE_GUARD, /* writes one byte before its workspace */
    BUG_SHARED,          /* its blocks need more shared memory than the device has */
    BUG_HANG,            /* never ends */
    BUG_HANG_LATER,      /* the third launch never ends: it is timed then */
    BUG_FAULT_LATER,     /* an illegal address in the third launch */
    BUG_MOVES,           /* the fifth launch flips the last bit of an element */
    BUG_LONG,            /* wrong where there are more than 100 keys and heads share KV heads */
    BUG_SLOW,            /* takes a second */
    BUG_IDLE,            /* does nothing in launches 2 to 5: the warm-up and three that are timed */
    BUG_ADDRESS,         /* reads and writes where the tensors of its first launch were */
    BUG_COUNTER,         /* relies on a workspace of zeros, or of what its last launch left there */
    BUG_STREAM,          /* uses the default stream, whichever it is given */
    BUG_ERROR,           /* leaves an error behind and returns none */
    BUG_WAITS,           /* waits for the device */
    BUG_ZEROS,           /* wrong unless its workspace begins with a zero */
    BUG_SHAPE,           /* wrong if its first launch had another number of keys */
    BUG_SWALLOWS,        /* does not return the error of a launch */
    BUG_MILLIONS,        /* cannot launch 2^24 rows */
    BUG_CRASH,           /* its host code crashes */
    BUG_EXIT,            /* its launch ends the program, with exit code 0 */
    BUG_EXIT_LOADED,     /* so does it as it is loaded */
    BUG_EXIT_ASKED,      /* or when it is asked what it supports */
    BUG_EXIT_ASKED_MORE, /* or how large its workspace is */
    BUG_ABORT,           /* its host code aborts */
    BUG_OVERFLOW,        /* its host code calls itself until the stack is full */
    BUG_EXIT_AT_ONCE,    /* its launch ends the program by _exit, with exit code 0 */
    BUG_EXIT_QUICKLY,    /* and by quick_exit */
    BUG_CRASH_LOADED,    /* its host code crashes as it is loaded */
    BUG_CRASH_ASKED,     /* or when it is asked what it supports */
    BUG_CRASH_MEASURED,  /* or how large its workspace is */
    BUG_NO_KERNEL        /* its attention_kernels has no function */
};

#ifndef BUG
#define BUG BUG_NONE
#endif

static const ElementType type = ELEMENT_BF16 ? TYPE_BF16 : TYPE_FP16;

static void one_row(const AttentionProblem *p, const AttentionTensors *t, int index) {
    const int head = index / p->seq_q % p->heads, batch = index / p->seq_q / p->heads;
    const int row = index % p->seq_q, group = p->heads / p->kv_heads;
    const int kv = batch * p->kv_heads + (BUG == BUG_HEAD ? head % p->kv_heads : head / group);
    const uint16_t *Q = (const uint16_t *)t->Q + (size_t)index * HEAD_DIM;
    const uint16_t *K = (const uint16_t *)t->K + (size_t)kv * (size_t)p->seq_kv * HEAD_DIM;
    const uint16_t *V = (const uint16_t *)t->V + (size_t)kv * (size_t)p->seq_kv * HEAD_DIM;
    const int diagonal = row + p->seq_kv - p->seq_q - (BUG == BUG_MASK);
    float O[HEAD_DIM] = {0}, m = -INFINITY, l = 0, q[HEAD_DIM], k[HEAD_DIM], v[HEAD_DIM];
    elements_to_float(type, Q, HEAD_DIM, q);
    for (int j = 0; j < p->seq_kv && (!CAUSAL || j <= diagonal); j++) {
        float S = 0;
        elements_to_float(type, K + (size_t)j * HEAD_DIM, HEAD_DIM, k);
        elements_to_float(type, V + (size_t)j * HEAD_DIM, HEAD_DIM, v);
        for (int c = 0; c < HEAD_DIM; c++) S += q[c] * k[c];
        const float m_new = fmaxf(m, S * p->scale), rescale = expf(m - m_new);
        const float P = expf(S * p->scale - m_new);
        for (int c = 0; c < HEAD_DIM; c++) O[c] = O[c] * rescale + P * v[c];
        l = l * rescale + (BUG == BUG_LSE && j == 1 ? 0 : P);
        m = m_new;
    }
    for (int c = 0; c < HEAD_DIM; c++)
        ((uint16_t *)t->O)[(size_t)index * HEAD_DIM + (size_t)c] =
            element_from_float(type, l > 0 ? O[c] / l : 0);
    if (t->LSE) t->LSE[index] = l > 0 ? m + logf(l) : -INFINITY;
}

static int launches;

static void plant(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                  cudaStream_t stream) {
    const size_t elements = (size_t)p->batch * (size_t)p->heads * (size_t)p->seq_q * HEAD_DIM;
    static int first_keys;
    if (!first_keys) first_keys = p->seq_kv;
    const size_t kv_elements =
        (size_t)p->batch * (size_t)p->kv_heads * (size_t)p->seq_kv * HEAD_DIM;
    uint16_t *O = t->O;
    if (BUG == BUG_ELEMENT || (BUG == BUG_LATER && launches > 1)) {
        float largest = 0;
        for (size_t i = 0; i < elements; i++)
            largest = fmaxf(largest, fabsf(element_to_float(type, O[i])));
        const float wrong = element_to_float(type, O[elements / 2]) + 0.01f * largest;
        O[elements / 2] = element_from_float(type, wrong);
    }
    if (BUG == BUG_NAN) O[elements / 2] = 0xffff;
    if (BUG == BUG_GUARD) O[elements] = 0;
    if (BUG == BUG_INPUT) ((uint16_t *)(uintptr_t)t->V)[kv_elements - 1] ^= 1;
    if (BUG == BUG_WORKSPACE_GUARD) ((char *)workspace)[-1] = 0;
    if (BUG == BUG_FAULT || (BUG == BUG_FAULT_LATER && launches == 3)) fake_fault();
    if (BUG == BUG_HANG || (BUG == BUG_HANG_LATER && launches == 3)) fake_hang();
    if (BUG == BUG_MOVES && launches == 5) O[elements / 2] ^= 1;
    if (BUG == BUG_ZEROS && *(char *)workspace) O[0] = 0xffff;
    if (BUG == BUG_SHAPE && p->seq_kv != first_keys) O[0] = 0xffff;
    if (BUG == BUG_LONG && p->seq_kv > 100 && p->heads > p->kv_heads) O[0] = 0xffff;
    if (BUG == BUG_SLOW) sleep(1);
    if (BUG == BUG_STREAM || !stream) fake_default_stream();
    if (BUG == BUG_ERROR) fake_error();
    if (BUG == BUG_WAITS) cudaDeviceSynchronize();
}

__attribute__((constructor)) static void loaded(void) {
    if (BUG == BUG_EXIT_LOADED) exit(0);
    if (BUG == BUG_CRASH_LOADED) raise(SIGSEGV);
}

/* The harness asks the runtime about it; it is never run as a kernel. */
static const int not_a_kernel;
const AttentionKernel attention_kernels[] = {
    {"fake", BUG == BUG_NO_KERNEL ? NULL : &not_a_kernel, 128, BUG == BUG_SHARED ? 2 << 20 : 512},
    {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (BUG == BUG_UNSUPPORTED && compute_capability != 120) return "needs compute capability 12.0";
    if (BUG == BUG_REFUSES && p->seq_kv % 2) return "needs an even number of keys";
    if (BUG == BUG_EXIT_ASKED) exit(0);
    if (BUG == BUG_CRASH_ASKED) raise(SIGSEGV);
    if (BUG == BUG_REFUSES_ALL) return "has no time";
    return (double)p->batch * p->heads > INT_MAX ? "needs more than 2^31 - 1 blocks" : NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *p) {
    (void)p;
    if (BUG == BUG_EXIT_ASKED_MORE) exit(0);
    if (BUG == BUG_CRASH_MEASURED) raise(SIGSEGV);
    return BUG == BUG_WORKSPACE         ? (size_t)1 << 50
           : BUG == BUG_WORKSPACE_GUARD ? 1000
           : BUG == BUG_COUNTER         ? sizeof(int)
           : BUG == BUG_ZEROS           ? 1000
                                        : 0;
}

static int deepen(int depth) {
    volatile int here[1024] = {depth};
    return depth < INT_MAX ? deepen(here[0] + 1) + here[1] : 0;
}

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                             cudaStream_t stream) {
    const int rows = p->batch * p->heads * p->seq_q;
    static AttentionTensors first;
    if (BUG == BUG_MILLIONS && p->seq_q >= 1 << 24) return cudaErrorInvalidValue;
    if (BUG == BUG_CRASH) raise(SIGSEGV);
    if (BUG == BUG_EXIT) exit(0);
    if (BUG == BUG_EXIT_AT_ONCE) _exit(0);
    if (BUG == BUG_EXIT_QUICKLY) quick_exit(0);
    if (BUG == BUG_ABORT) abort();
    if (BUG == BUG_OVERFLOW) deepen(0);
    if (!fake_launch()) return BUG == BUG_SWALLOWS ? cudaSuccess : cudaGetLastError();
    if (launches++ == 0) first = *t;
    if (BUG == BUG_LAUNCH) return cudaErrorInvalidValue;
    if (BUG == BUG_IDLE && launches >= 2 && launches <= 5) return cudaSuccess;
    if (BUG == BUG_ADDRESS) t = &first;
    if (BUG == BUG_COUNTER && (*(int *)workspace)++ != launches - 1 && launches > 1)
        return cudaSuccess;
    for (int index = 0; index < rows; index++)
        if (BUG != BUG_TAIL || index % p->seq_q < p->seq_q / 64 * 64) one_row(p, t, index);
    plant(p, t, workspace, stream);
    return BUG == BUG_ERROR ? cudaSuccess : cudaGetLastError();
}

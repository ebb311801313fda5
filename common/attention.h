/* The contract between the harness and a stage: one C ABI, the same for all sixteen.
 *
 * A stage is one CUDA C file that computes, for every row i of Q,
 *
 *     S_i = scale * Q_i K^T + mask,   O_i = softmax(S_i) V,   LSE_i = log(sum_j exp(S_ij))
 *
 * It is compiled once for each variant. Three macros choose the variant:
 *     HEAD_DIM      64 or 128
 *     ELEMENT_BF16  0: Q, K, V and O hold fp16    1: they hold bf16
 *     CAUSAL        0: a query sees every key     1: query i sees keys j <= i + seq_kv - seq_q
 * and TARGET_SM says what it is compiled for: 75, 80, 86, 89, 90, ...
 *
 * The causal mask is aligned bottom-right, as in FlashAttention 2.1 and later. A row that sees no
 * key gives O = 0 and LSE = -inf. Accumulation and softmax are in fp32; where P or O becomes an
 * element, it is rounded to the nearest.
 *
 * Infinities and NaN go where the formula takes them. In Q they stay in their row; in K_j they
 * reach the rows that see key j. In V_j, column c, they reach column c of the rows that give key j
 * weight, and may make column c NaN in other rows of the heads that read this V, whether they see
 * key j or not, for a tensor core computes 0 * NaN. Nothing else is touched. A row whose scores are
 * all -inf is a row without keys; one with a score of +inf has NaN in O and LSE, because the
 * maximum is subtracted, and inf - inf is NaN.
 *
 * Finite inputs have a Q K^T that fp32 can hold, and scores S of at most ATTENTION_MOST_SCORE in
 * magnitude. fp32 has 24 bits: the next number after 10^8 is 10^8 + 8, so beyond it a P_ij may be
 * wrong by a factor of e^8, and neither O nor LSE mean anything. fp32 also holds 2^15 times the sum
 * of |V_jc| over the keys. Where the largest |V_jc| is the last or nearly the last number of its
 * type, O may be infinite: P is rounded to elements, and the sum that divides it is not.
 */
#ifndef ATTENTION_H
#define ATTENTION_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTENTION_MOST_SCORE 1e8

/* One problem. Every count is at least 1, kv_heads divides heads, and head h reads the keys and
 * values of KV head h / (heads / kv_heads): grouped-query attention, multi-query if kv_heads = 1.
 * seq_q + seq_kv is at most 2^31 - 512: both are rounded up to tiles, and a mask adds them. */
typedef struct AttentionProblem {
    int batch;
    int heads;
    int kv_heads;
    int seq_q;
    int seq_kv;
    float scale; /* multiplies Q K^T; positive, and a normal number also times log2(e). The harness
                    passes 1 / sqrt(HEAD_DIM) */
} AttentionProblem;

/* Device pointers, contiguous, 256-byte aligned. Element type: fp16 or bf16 by ELEMENT_BF16. */
typedef struct AttentionTensors {
    const void *Q; /* [batch, heads, seq_q, HEAD_DIM] */
    const void *K; /* [batch, kv_heads, seq_kv, HEAD_DIM] */
    const void *V; /* [batch, kv_heads, seq_kv, HEAD_DIM] */
    void *O;       /* [batch, heads, seq_q, HEAD_DIM] */
    float *LSE;    /* [batch, heads, seq_q], natural logarithm; NULL: not wanted */
} AttentionTensors;

/* What the harness reports about a kernel of the stage. */
typedef struct AttentionKernel {
    const char *name;     /* as in the source */
    const void *function; /* the host-side symbol of the __global__ function */
    int threads;          /* per block, at most */
    int dynamic_shared;   /* bytes per block, as passed at the launch, at most */
} AttentionKernel;

/* All kernels that attention_launch launches, in that order, ended by an entry whose name is NULL.
 * The simulator tells of a launch of any other, or of a larger block. */
extern const AttentionKernel attention_kernels[];

/* NULL if the stage can compute this problem on a device of this compute capability
 * (10 * major + minor: 90 for 9.0), else one sentence that says why not. There are two reasons: the
 * stage runs on no device of this capability, or the problem needs more than 2^31 - 1 blocks. 2^40
 * heads of 2^30 rows must be refused, even by a stage whose grid does not grow. */
const char *attention_supports(const AttentionProblem *problem, int compute_capability);

/* Bytes of scratch memory that attention_launch needs on the current device, for a problem that
 * attention_supports accepts; 0: none, and it may be NULL. */
size_t attention_workspace_bytes(const AttentionProblem *problem);

/* Enqueues the computation on `stream` and returns without waiting. Allocates nothing; `workspace`
 * has attention_workspace_bytes(problem) bytes on the current device, 256-byte aligned, contents
 * undefined. Launches with other outputs and another workspace may run at the same time. Returns
 * the first CUDA error of the launch; one that was there before may be returned in its place. */
cudaError_t attention_launch(const AttentionProblem *problem, const AttentionTensors *tensors,
                             void *workspace, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif

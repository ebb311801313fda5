/* The driver's function for tensor maps, as the runtime gives it. Catches: a function that is none,
 * an argument that takes another one's place, a map that is refused without its reason, one that
 * overlaps itself and is made by attention_launch. */
#include <cuda.h>

#include "device/simulator.h"
#include "machine/tensormap.h"
#include "test/stub.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cudaGetDriverEntryPoint */

typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                           const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                           const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static const cuuint64_t sizes[] = {64, 5}, strides[] = {128};
static const cuuint32_t box[] = {32, 3}, steps[] = {1, 2};
static _Alignas(16) char tensor[16];
static CUtensorMap map;
static Encode encode;

static void is_error(cudaError_t got, cudaError_t expected, const char *name) {
    ok(got == expected && cudaGetLastError() == expected, "%s: %s", name,
       cudaGetErrorName(expected));
}

static cudaError_t find(const char *name, void **function,
                        enum cudaDriverEntryPointQueryResult *status) {
    return cudaGetDriverEntryPointByVersion(name, function, 12000, 0, status);
}

static void test_entry_point(void) {
    void *function = &map;
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
    is_error(find("cuInit", &function, &status), cudaErrorSymbolNotFound,
             "a function of the driver that it has not");
    ok(!function && status == cudaDriverEntryPointSymbolNotFound, "is nowhere");
    is_error(find("cuTensorMapEncodeTiled", &function, &status), cudaSuccess,
             "the one that it has");
    ok(function && status == cudaDriverEntryPointSuccess, "is found");
    is_error(find("cuTensorMapEncodeTiled", (void **)&encode, NULL), cudaSuccess,
             "also where nobody asks for the status");
    is_error(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, 0, &status), cudaSuccess,
             "and without a version");
    ok(function == (void *)encode && status == cudaDriverEntryPointSuccess, "it is the same");
}

/* What is said of a map with these strides and enumerators. */
static void says(CUresult expected, const char *words, cuuint64_t stride, int interleave,
                 int promotion) {
    const cuuint64_t other[] = {stride};
    const Capture capture = begin_capture(STDERR_FILENO);
    const CUresult result =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, tensor, sizes, other, box, steps,
               (CUtensorMapInterleave)interleave, CU_TENSOR_MAP_SWIZZLE_64B,
               (CUtensorMapL2promotion)promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    char *said = end_capture(&capture);
    is_int(result, expected, "a map");
    is_text(said, words, "and what is said of it");
    free(said);
}

#define SAID "ptxsim: cuTensorMapEncodeTiled: "

static void test_refused(void) {
    says(CUDA_SUCCESS, "", 128, 0, 3);
    says(CUDA_ERROR_INVALID_VALUE, SAID "every global stride must be a multiple of 16 bytes\n", 120,
         0, 0);
    says(CUDA_ERROR_INVALID_VALUE, SAID "only CU_TENSOR_MAP_INTERLEAVE_NONE is supported\n", 128, 1,
         0);
    says(CUDA_ERROR_INVALID_VALUE, SAID "the L2 promotion must be one of CUtensorMapL2promotion\n",
         128, 0, 4);
}

#define OVERLAP                                         \
    "two elements of the tensor have the same address " \
    "(strides are in bytes, and begin with that of dimension 1)"

/* Rows of 128 bytes that are 64 bytes apart: the driver does not mind. */
static void test_overlapping(void) {
    says(CUDA_SUCCESS, "", 64, 0, 0);
    simulator_watch(NULL);
    says(CUDA_ERROR_INVALID_VALUE, SAID OVERLAP "\n", 64, 0, 0);
    says(CUDA_SUCCESS, "", 128, 0, 0);
    says(CUDA_ERROR_INVALID_VALUE, SAID "every global stride must be a multiple of 16 bytes\n", 40,
         0, 0);
    simulator_unwatch();
    says(CUDA_SUCCESS, "", 64, 0, 0);
}

/* Each argument in its place. */
static void test_arguments(void) {
    TensorMap made;
    const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, tensor, sizes,
                                   strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    ok(result == CUDA_SUCCESS && tensormap_decode(&map, &made), "a map of all arguments");
    ok(made.element_type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 && made.rank == 2 &&
           made.base == (uintptr_t)tensor && made.swizzle == SWIZZLE_128B && made.fill_nan,
       "type, rank, address, swizzle and fill");
    ok(made.size[0] == 63 && made.size[1] == 4 && made.stride[1] == 128 && made.box[0] == 32 &&
           made.box[1] == 3 && made.step[1] == 2,
       "sizes, strides, box and steps");
}

int main(void) {
    test_entry_point();
    if (!encode) return done_testing();
    test_refused();
    test_overlapping();
    test_arguments();
    return done_testing();
}

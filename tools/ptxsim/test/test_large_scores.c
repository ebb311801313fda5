/* Every stage on scores of up to 6.7e7 that are exact in fp32, where the harness's oracle allows
 * nearly everything: it does not know that these are exact; and on weights that fp16 hardly holds.
 * Catches: a rise of the maxima that is not what O, l and P are scaled by, because fp32 rounds the
 * maxima; a scale that becomes 0 for that reason, and with it the row; a row without weight in a
 * tile that is scaled because of another row; maxima that rise beyond the largest score.
 *
 * STAGE_DIRS: folders of built stages, which the Makefile exports. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"
#include "base/element.h"
#include "test/tap.h"

enum { ROWS = 64, TILE = 128, TILES = 8, KEYS = TILE * TILES, SPIKE = 600, BATCH = 4 };
static const float SCALE = 4; /* a power of two: S is exact, too */

/* Key tiles in the order in which stages take them from 10 on: the last one is number 0. */
static int number_of(int key) { return TILES - 1 - key / TILE; }

/* Eight kinds of rows, by columns 0 to 5 of Q and K; the others are 0. Column 0 adds the same to
 * all scores of a row, another one gives them a form: equal; rising by 6 and then 10 nats from tile
 * to tile; a key 84 nats above the others; a first tile 160 nats above the others, which have no
 * weight; rising by 4 nats, where neighbouring fp32 numbers of log2(e) times the score are 8 apart;
 * a second tile 6.5 nats above the first, and the others 13.25 nats below it: their weights are
 * 30 times the least fp16 number, and a kernel whose m is above the maximum loses them.
 */
enum { COLUMNS = 6, KINDS = 8 };
static const struct Kind {
    float equal;
    int form;
} KIND[KINDS] = {{16384, 0}, {65280, 0}, {0, 1},     {49152, 2},
                 {0, 3},     {49152, 3}, {49152, 4}, {0, 5}};

static float Q_value(int row, int column) {
    const struct Kind kind = KIND[row % KINDS];
    if (column == 0) return kind.equal + (kind.equal == 49152 ? 256 * (float)(row / KINDS) : 0);
    return column == kind.form ? 1 : 0;
}

static float K_value(int key, int column) {
    const int number = number_of(key);
    const float columns[COLUMNS] = {256,
                                    number == 0 ? 0 : 1.5625f + 2.5f * (float)(number - 1),
                                    key == SPIKE ? 21 : 0,
                                    number == 0 ? 40 : 0,
                                    (float)number,
                                    number == 0   ? -1.625f
                                    : number == 1 ? 0
                                                  : -3.3125f};
    return column < COLUMNS ? columns[column] : 0;
}

/* Even columns are the number of the tile, odd ones 0 in the first two tiles. */
static float V_value(int key, int column) {
    return column % 2 == 0 ? (float)number_of(key) : number_of(key) < 2 ? 0 : 49152;
}

typedef struct Due {
    double O[2], LSE;
} Due;

static double rounded(ElementType type, float value) {
    return (double)element_to_float(type, element_from_float(type, value));
}

static Due due_of(ElementType type, int row, int visible) {
    double S[KEYS], most = -INFINITY, l = 0, O[2] = {0};
    for (int key = 0; key < visible; key++) {
        S[key] = 0;
        for (int c = 0; c < COLUMNS; c++)
            S[key] +=
                (double)SCALE * rounded(type, Q_value(row, c)) * rounded(type, K_value(key, c));
        most = fmax(most, S[key]);
    }
    for (int key = 0; key < visible; key++) {
        const double weight = exp(S[key] - most);
        l += weight;
        for (int c = 0; c < 2; c++) O[c] += weight * (double)V_value(key, c);
    }
    return (Due){{O[0] / l, O[1] / l}, most + log(l)};
}

static void *to_device(const void *host, size_t bytes) {
    void *device = NULL;
    cudaMalloc(&device, bytes);
    if (host) cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    return device;
}

/* Rows of O and LSE that are wrong; -1 if the launch failed. All entries of the batch are equal. */
static int wrong_rows(void *stage, int d, ElementType type, bool causal, int batch) {
    static uint16_t Q[BATCH * ROWS * 128], K[BATCH * KEYS * 128], V[BATCH * KEYS * 128],
        O[BATCH * ROWS * 128];
    float LSE[BATCH * ROWS];
    int wrong = 0;
    const AttentionProblem problem = {batch, 1, 1, ROWS, KEYS, SCALE};
    cudaError_t (*launch)(const AttentionProblem *, const AttentionTensors *, void *,
                          cudaStream_t) = NULL;
    size_t (*workspace_bytes)(const AttentionProblem *) = NULL;
    *(void **)&launch = dlsym(stage, "attention_launch");
    *(void **)&workspace_bytes = dlsym(stage, "attention_workspace_bytes");
    for (int i = 0; i < batch * ROWS * d; i++)
        Q[i] = element_from_float(type, Q_value(i / d % ROWS, i % d));
    for (int i = 0; i < batch * KEYS * d; i++) {
        K[i] = element_from_float(type, K_value(i / d % KEYS, i % d));
        V[i] = element_from_float(type, V_value(i / d % KEYS, i % d));
    }
    const size_t rows = sizeof(uint16_t) * (size_t)(batch * ROWS * d), keys = rows / ROWS * KEYS;
    void *on_device[] = {
        to_device(Q, rows),          to_device(K, keys),
        to_device(V, keys),          to_device(NULL, rows),
        to_device(NULL, sizeof LSE), to_device(NULL, workspace_bytes(&problem) + 1)};
    const AttentionTensors t = {on_device[0], on_device[1], on_device[2], on_device[3],
                                on_device[4]};
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    if (launch(&problem, &t, on_device[5], stream) || cudaStreamSynchronize(stream)) return -1;
    cudaMemcpy(O, t.O, rows, cudaMemcpyDeviceToHost);
    cudaMemcpy(LSE, t.LSE, sizeof LSE, cudaMemcpyDeviceToHost);
    for (int row = 0; row < batch * ROWS; row++) {
        const int query = row % ROWS;
        const Due due = due_of(type, query, causal ? query + 1 + KEYS - ROWS : KEYS);
        double got[2];
        bool right = fabs((double)LSE[row] - due.LSE) <= 0x1p-22 * fabs(due.LSE) + 0.01;
        for (int c = 0; c < 2; c++) {
            got[c] = (double)element_to_float(type, O[row * d + c]);
            right = right && fabs(got[c] - due.O[c]) <= 0.02 * due.O[c] + 1e-6;
        }
        wrong += !right;
        if (!right)
            printf("# row %d: O %g %g, not %g %g; LSE %.9g\n", row, got[0], got[1], due.O[0],
                   due.O[1], (double)LSE[row]);
    }
    for (size_t i = 0; i < sizeof on_device / sizeof *on_device; i++) cudaFree(on_device[i]);
    cudaStreamDestroy(stream);
    return wrong;
}

int main(void) {
    char *dirs = getenv("STAGE_DIRS"), path[1000];
    for (char *dir = dirs ? strtok(dirs, " ") : NULL; dir; dir = strtok(NULL, " "))
        for (int variant = 0; variant < 8; variant++) {
            const int d = variant & 1 ? 128 : 64;
            const bool bf16 = variant & 2, causal = variant & 4;
            snprintf(path, sizeof path, "%s/d%d_%s_%s.so", dir, d, bf16 ? "bf16" : "fp16",
                     causal ? "causal" : "full");
            void *stage = dlopen(path, RTLD_NOW);
            if (!stage) continue; /* not built */
            /* Stage 16 makes pieces of the keys of one batch entry, and none of those of four,
             * which take four times as long: in two variants that have nothing in common. */
            const int most = variant == 1 || variant == 6 ? BATCH : 1;
            for (int batch = 1; batch <= most; batch += BATCH - 1) {
                const int wrong = wrong_rows(stage, d, bf16 ? TYPE_BF16 : TYPE_FP16, causal, batch);
                ok(wrong == 0, "%s, batch %d: %d rows wrong", path, batch, wrong);
            }
        }
    if (tap_done > 0) return done_testing();
    puts("1..0 # SKIP STAGE_DIRS names no built stage");
    return 0;
}

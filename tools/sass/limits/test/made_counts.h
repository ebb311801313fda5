/* A kernel of one loop, and the folder with what was counted of it, as tools/limits/count.sh leaves
 * it: for tests of what is built of both. */
#ifndef SASS_MADE_COUNTS_H
#define SASS_MADE_COUNTS_H

#include "limits/counted.h"
#include "test/sample.h"
#include "test/tap.h"

#include <unistd.h>

/* Two warps, of which one has a single lane. */
enum { COUNTED_ROWS = 64, COUNTED_THREADS = 33, COUNTED_WARPS = 2, COUNTED_OPS = 6 };

static const int counted_lengths[LENGTHS] = {256, 512, 768};

/* What blocks are: tiles of query rows, of which all see all keys, or as many as a mask lets them;
 * one for each pair of tiles; as many whatever the length. */
typedef enum Blocks { BLOCKS_FULL, BLOCKS_CAUSAL, BLOCKS_PAIRS, BLOCKS_FIXED } Blocks;

/* Two loads, one of them in the loop, which goes round once for 32 keys. */
static const char counted_ptx[] = ".visible .entry k(\n"            /* 1 */
                                  ")\n"                             /* 2 */
                                  "{\n"                             /* 3 */
                                  "ld.global.f32 %f1, [%rd1];\n"    /* 4 */
                                  "$L1:\n"                          /* 5 */
                                  "ld.global.f32 %f2, [%rd2];\n"    /* 6 */
                                  "fma.rn.f32 %f1, %f2, %f3, %f1\n" /* 7 */
                                  ";\n"                             /* 8 */
                                  "@%p1 bra $L1;\n"                 /* 9 */
                                  "ret;\n"                          /* 10 */
                                  "}\n";
static const char counted_sass[] = "4 LDG.E R1, [R8.64]\n"
                                   ".L_x_0:\n"
                                   "6 LDG.E R2, [R8.64]\n"
                                   "7 FFMA R1, R2, R3, R1\n"
                                   "9 @P0 BRA `(.L_x_0)\n"
                                   "10 EXIT\n";
static const char *const counted_texts[COUNTED_OPS] = {"ld.global.f32 %f1, [%rd1]",
                                                       "ld.global.f32 %f2, [%rd2]",
                                                       "fma.rn.f32 %f1, %f2, %f3, %f1",
                                                       "@%p1 bra $L1",
                                                       "ret",
                                                       "exit"};

/* A module of these lines: "6 LDG.E R2, [R8.64]" is an instruction that was made from line 6 of the
 * PTX; labels stand alone. */
static inline Module counted_module(const char *code, const char *ptx) {
    char text[4096];
    int used = snprintf(text, sizeof text, KERNEL("k"));
    for (; *code; code += strcspn(code, "\n") + 1) {
        int line, skip = 0;
        if (sscanf(code, "%d %n", &line, &skip) == 1)
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "\t//## File \".nv_debug_ptx_txt\", line %d\n", line);
        used += snprintf(text + used, sizeof text - (size_t)used, "%.*s\n",
                         (int)strcspn(code + skip, "\n"), code + skip);
    }
    Module module = sample_code(text);
    module.ptx = strcpy(list_zeroed(strlen(ptx) + 1, 1), ptx);
    return module;
}

static inline FILE *counted_file(const char *folder, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "w");
}

static inline double counted_blocks(Blocks blocks, int length) {
    const double tiles = (double)length / COUNTED_ROWS;
    return blocks == BLOCKS_FIXED   ? 10
           : blocks == BLOCKS_PAIRS ? SIMULATED_HEADS * tiles * tiles
                                    : SIMULATED_HEADS * tiles;
}

/* Rounds of an average block. */
static inline double counted_rounds(Blocks blocks, int length) {
    return (blocks == BLOCKS_CAUSAL ? (length + COUNTED_ROWS) / 2.0 : length) / 32;
}

/* A record; of the recorded block `rounds`, or none. */
static inline void put_record(const char *folder, const char *name, Blocks blocks, int length,
                              double rounds) {
    FILE *out = counted_file(folder, name);
    const double launched = counted_blocks(blocks, length),
                 all = counted_rounds(blocks, length) * launched;
    fprintf(out, "{\"launches\":[{\"kernel\":\"k\",\"grid\":[%g,1,1],\"threads\":[%d,1,1],",
            launched, COUNTED_THREADS);
    fprintf(out, "\"classes\":[\"global load\",\"other\"],\"ops\":[");
    for (int i = 0; i < COUNTED_OPS; i++)
        fprintf(out, "%s[\"%s\",%d,1,[1]]", i ? "," : "", counted_texts[i], i > 1);
    fprintf(out, "],\"run_counters\":[");
    for (int i = 0; i < COUNTED_OPS; i++)
        fprintf(out, "%s[%g,0,0,0,0,0,0,0]", i ? "," : "",
                COUNTED_WARPS * (i == 5           ? 0
                                 : i > 0 && i < 4 ? all
                                                  : launched));
    fprintf(out, "],\"counters\":[");
    for (int i = 0; i < COUNTED_OPS && rounds > 0; i++)
        fprintf(out, "%s[%g]", i ? "," : "",
                COUNTED_WARPS * (i == 5           ? 0
                                 : i > 0 && i < 4 ? rounds
                                                  : 1));
    fprintf(out, "]}]}\n");
    fclose(out);
}

/* All that is counted, with so many bytes that are read for each key, or for each pair of keys. The
 * two recorded blocks go round so often. */
static inline void put_counts(const char *folder, Blocks blocks, double read, bool pairs,
                              double first, double second) {
    char name[32];
    FILE *out = counted_file(folder, "lengths");
    for (int j = 0; j < LENGTHS; j++) fprintf(out, "%d ", counted_lengths[j]);
    fclose(out);
    for (int j = 0; j < LENGTHS; j++) {
        const double length = counted_lengths[j];
        snprintf(name, sizeof name, "%d.json", counted_lengths[j]);
        put_record(folder, name, blocks, counted_lengths[j], 0);
        snprintf(name, sizeof name, "%d.txt", counted_lengths[j]);
        out = counted_file(folder, name);
        fprintf(out,
                "counters\n\nk\n  blocks\n  global memory, read  1 B requested, %.0f B distinct",
                read * length * (pairs ? length : 1));
        fprintf(out, "\n  0 mma instructions\n");
        fclose(out);
    }
    put_record(folder, "first.json", blocks, counted_lengths[0], first);
    put_record(folder, "second.json", blocks, counted_lengths[0], second);
}

static inline void remove_counts(const char *folder) {
    static const char *const names[] = {"lengths",  "256.json",   "512.json",
                                        "768.json", "256.txt",    "512.txt",
                                        "768.txt",  "first.json", "second.json"};
    char path[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

#endif

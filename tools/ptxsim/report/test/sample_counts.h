/* A small snapshot for the tests of the report and the annotated source. */
#ifndef SAMPLE_COUNTS_H
#define SAMPLE_COUNTS_H

#include "decode/counts.h"

enum { SAMPLE_INSTRUCTIONS = 12 };

static const InstructionInfo sample_info[SAMPLE_INSTRUCTIONS] = {
    {CLASS_INTEGER, 0, 3, "add.s32"},          {CLASS_GLOBAL_LOAD, 0, 3, "ld.global.f32"},
    {CLASS_SHARED_STORE, 0, 4, "st.shared"},   {CLASS_BARRIER, 0, 5, "bar.sync 0"},
    {CLASS_SHARED_LOAD, 0, 6, "ld.shared"},    {CLASS_MMA, 0, 6, "mma.sync"},
    {CLASS_CP_ASYNC, 0, 7, "cp.async"},        {CLASS_BRANCH, 0, 8, "@p bra"},
    {CLASS_GLOBAL_STORE, 0, 9, "st.global"},   {CLASS_LDMATRIX, 1, 2, "ldmatrix"},
    {CLASS_BULK_LOAD, -1, 0, "cp.async.bulk"}, {CLASS_WGMMA, 0, 9, "wgmma"},
};

static const InstructionCount sample_count[SAMPLE_INSTRUCTIONS] = {
    {.executions = 1000000, .lanes = 32000000},
    {.executions = 100, .lanes = 3200, .requests = 100, .units = 3200, .ideal_units = 400},
    {.executions = 10, .lanes = 320, .requests = 10, .units = 10, .ideal_units = 10},
    {.executions = 8, .lanes = 256},
    {.executions = 50, .lanes = 1600, .requests = 50, .units = 400, .ideal_units = 50},
    {.executions = 16, .lanes = 512},
    {.executions = 20,
     .lanes = 640,
     .requests = 15,
     .units = 60,
     .ideal_units = 60,
     .second_units = 80,
     .second_ideal_units = 80},
    {.executions = 6, .lanes = 96, .divergent = 2},
    {.executions = 4, .lanes = 64, .requests = 4, .units = 8, .ideal_units = 8},
    {.executions = 5, .lanes = 160, .requests = 5, .units = 20, .ideal_units = 20},
    {.executions = 1, .lanes = 1, .requests = 1, .units = 512, .ideal_units = 512},
    {.executions = 12, .lanes = 384},
};

static const KernelCounts sample_kernel = {
    .name = "flash_fwd",
    .launches = 1,
    .blocks = 8,
    .grid = {2, 4, 1},
    .block = {128, 1, 1},
    .shared_bytes = 32768,
    .instructions = SAMPLE_INSTRUCTIONS,
    .info = sample_info,
    .count = sample_count,
    .distinct_load_sectors = 943,
    .distinct_store_sectors = 8,
};

/* File 0 is written by the test, file 1 does not exist. */
static const char *sample_files[2] = {NULL, "/nonexistent/helpers.h"};
static const CountsSnapshot sample = {1, &sample_kernel, 2, sample_files};

#endif

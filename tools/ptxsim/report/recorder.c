#include "report/recorder.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/scheduler.h"
#include "report/cut.h"
#include "report/record.h"

/* A kernel's record; once the kernel is gone, what was to be said of it. */
typedef struct Recorded {
    Record *record; /* NULL: see text */
    char *text;
} Recorded;

static struct {
    Recorded *at; /* one for each kernel */
    int count, room;
} recorded;

static bool is_of(const Recorded *one, const Kernel *kernel) {
    return one->record && one->record->kernel == kernel;
}

static bool was_recorded(const Kernel *kernel) {
    for (int i = 0; i < recorded.count; i++)
        if (is_of(&recorded.at[i], kernel)) return true;
    return false;
}

void recorder_forget(const Kernel *kernel) {
    for (int i = 0; i < recorded.count; i++) {
        Recorded *one = &recorded.at[i];
        size_t size;
        if (!is_of(one, kernel)) continue;
        FILE *out = open_memstream(&one->text, &size);
        if (!out) abort();
        record_json(one->record, out);
        if (fclose(out) != 0) abort();
        record_free(one->record);
        one->record = NULL;
    }
}

enum { MOST_STEPS = 500 * 1000 }; /* more make a page slow */
static const uint64_t NO_BLOCK = UINT64_MAX;

/* The block that SIM_BLOCK asks for; false if there is none of that number. */
static bool choose_block(const Kernel *kernel, uint64_t blocks, uint64_t *index) {
    const char *wanted = getenv("SIM_BLOCK");
    *index = (blocks - 1) / 2;
    if (!wanted || !*wanted) return true;
    if (strcmp(wanted, "none") == 0) {
        *index = NO_BLOCK;
        return true;
    }
    char *end;
    *index = strtoull(wanted, &end, 10);
    if (isdigit((unsigned char)*wanted) && *end == 0 && *index < blocks) return true;
    fprintf(stderr, "ptxsim: SIM_BLOCK=%s: kernel %s has blocks 0 to %llu\n", wanted, kernel->name,
            (unsigned long long)blocks - 1);
    return false;
}

Record *recorder_begin(const Kernel *kernel, const uint32_t grid[3], const uint32_t threads[3],
                       uint64_t blocks) {
    const char *path = getenv("SIM_RECORD");
    uint64_t index;
    if (!path || !*path || was_recorded(kernel)) return NULL;
    if (!choose_block(kernel, blocks, &index)) return NULL;
    return record_new(kernel, index, grid, threads);
}

bool recorder_run(Record *record, Block *block, uint64_t index) {
    if (!record || record->index != index) return block_run(block, index);
    record_begin(record, block);
    block->record = record;
    const bool good = block_run(block, index);
    block->record = NULL;
    record_end(record, block);
    return good;
}

bool recorder_choose_fault(Record *record, uint64_t index) {
    if (record->fault.happened || record->index == NO_BLOCK) return false;
    record->index = index;
    return true;
}

static void write_all(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "ptxsim: SIM_RECORD=%s cannot be written\n", path);
        return;
    }
    fputs("{\"format\":1,\"launches\":[\n", out);
    for (int i = 0; i < recorded.count; i++) {
        if (i) fputs(",\n", out);
        if (recorded.at[i].record)
            record_json(recorded.at[i].record, out);
        else
            fputs(recorded.at[i].text, out);
    }
    fputs("\n]}\n", out);
    const bool whole = !ferror(out);
    if (fclose(out) == 0 && whole) return;
    fprintf(stderr, "ptxsim: SIM_RECORD=%s: the disk is full\n", path);
    if (truncate(path, 0) != 0) return; /* so that nobody takes a part for the whole */
}

void recorder_end(Record *record) {
    if (!record) return;
    if (!record->warp && record->index != NO_BLOCK) { /* the launch ended before its block came */
        record_free(record);
        return;
    }
    record_cut(record, MOST_STEPS);
    recorded.at = queue_room(recorded.at, recorded.count, &recorded.room, sizeof *recorded.at);
    recorded.at[recorded.count++] = (Recorded){record, NULL};
    write_all(getenv("SIM_RECORD"));
}

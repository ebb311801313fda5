#include "machine/mbarrier_word.h"

#include <string.h>

#include "machine/access.h"
#include "machine/observe.h"

uint8_t *mbarrier_bytes(Warp *warp, int lane, uint32_t address) {
    if (address & 7) fault(warp, lane, "an mbarrier at 0x%x, which is not 8-byte aligned", address);
    return shared_range(warp, lane, address, sizeof(uint64_t), "mbarrier");
}

uint64_t mbarrier_get(Warp *warp, int lane, uint32_t address) {
    uint64_t word;
    memcpy(&word, mbarrier_bytes(warp, lane, address), sizeof word);
    return word;
}

void mbarrier_put(Block *block, uint32_t address, uint64_t word) {
    memcpy(shared_zero(block) + address, &word, sizeof word);
    shared_mark_written(block, address, sizeof word);
}

void mbarrier_require(Warp *warp, int lane, uint32_t address, MbarrierStatus status) {
    if (status == MBARRIER_OK) return;
    fault(warp, lane, "mbarrier at 0x%x: %s", address, mbarrier_message(status));
}

void mbarrier_phase_ended(Warp *warp, int lane, uint32_t address) {
    Block *block = warp->block;
    block->progress++;
    (*mbarrier_phases(block, address))++;
    const int passed = block->race ? race_mbarrier_passes(block->race, address) : -1;
    if (passed >= 0)
        fault(
            warp, lane,
            "mbarrier at 0x%x: a phase ends here, and nothing orders that after warp %d's wait for "
            "the phase before, which may therefore end too late or never",
            address, passed);
    if (block->race) race_mbarrier_complete(block->race, address);
    if (block->record) observe_mbarrier_complete(block->record, address);
}

void mbarrier_require_sure(Warp *warp, int lane, uint32_t address) {
    const int unsure = race_mbarrier_unsure(warp->block->race, address);
    if (unsure >= 0)
        fault(
            warp, lane,
            "mbarrier at 0x%x: an arrival of warp %d may be counted in the phase before, for which "
            "somebody waits: nothing orders it after the end of that",
            address, unsure);
}

void mbarrier_await_copy_at(Warp *warp, int lane, uint32_t address) {
    uint64_t word = mbarrier_get(warp, lane, address);
    mbarrier_require(warp, lane, address, mbarrier_await_copy(&word));
    mbarrier_put(warp->block, address, word);
}

void mbarrier_arrive_at(Warp *warp, int lane, uint32_t address, uint32_t count) {
    uint64_t word = mbarrier_get(warp, lane, address);
    bool completed = false;
    Record *record = warp->block->record;
    if (record) observe_mbarrier_arrive(record, warp, address, count);
    mbarrier_require(warp, lane, address, mbarrier_arrive(&word, count, &completed));
    mbarrier_put(warp->block, address, word);
    if (completed) mbarrier_phase_ended(warp, lane, address);
}

void mbarrier_complete_at(Warp *warp, int lane, uint32_t address, uint32_t bytes) {
    uint64_t word = mbarrier_get(warp, lane, address);
    bool completed = false;
    mbarrier_require(warp, lane, address, mbarrier_complete_tx(&word, bytes, &completed));
    mbarrier_put(warp->block, address, word);
    if (completed) mbarrier_phase_ended(warp, lane, address);
}

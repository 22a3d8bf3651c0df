/* What the process that made a shared live file may ask its recorder. */
#include "aggstats/shared.h"
#include "live_owner.h"
#include "recorder_state.h"

unsigned aggstats_recorder_shared_in_flight(struct aggstats_recorder *recorder, uint64_t *ret_ops) {
    return shared_blocks_in_flight(&recorder->shared, &recorder->live, &recorder->layout, ret_ops);
}

void aggstats_recorder_forget_dead(struct aggstats_recorder *recorder) {
    aggstats_recorder_shared_in_flight(recorder, NULL);
}

void aggstats_recorder_shared_facts(const struct aggstats_recorder *recorder, struct aggstats_shared_facts *ret_facts) {
    struct live_header *header = recorder->live.header;
    *ret_facts = (struct aggstats_shared_facts){.threads_max = header->shared_threads};
    if (header->shared_threads > 0)
        ret_facts->crowded_threads =
            __atomic_load_n(&live_shared(header, &recorder->layout)->crowded, __ATOMIC_RELAXED);
    for (size_t i = 0; i < AGGSTATS_NOTES; i++)
        ret_facts->notes[i] = __atomic_load_n(&header->notes[i], __ATOMIC_RELAXED);
    for (size_t i = 0; i < AGGSTATS_SUMS; i++)
        ret_facts->sums[i] = __atomic_load_n(&header->sums[i], __ATOMIC_RELAXED);
}

void aggstats_maker_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more) {
    __atomic_fetch_add(&recorder->live.header->notes[note], more, __ATOMIC_RELAXED);
}

struct aggstats_named *aggstats_maker_named(struct aggstats_recorder *recorder) {
    return &live_shared(recorder->live.header, &recorder->layout)->named;
}

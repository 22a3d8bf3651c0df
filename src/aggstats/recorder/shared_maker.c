/* What the process that made a shared live file may ask its recorder. */
#include <string.h>
#include <time.h>

#include "aggstats/shared.h"
#include "base.h"
#include "recorder_state.h"

unsigned aggstats_recorder_shared_in_flight(struct aggstats_recorder *recorder, uint64_t *ret_ops) {
    uint64_t ops = 0;
    const unsigned busy = recorder->live.is_shared ? shared_part_in_flight(&recorder->shared, &ops) : 0;
    if (ret_ops)
        *ret_ops = ops;
    return busy;
}

void aggstats_recorder_shared_facts(const struct aggstats_recorder *recorder, struct aggstats_shared_facts *ret_facts) {
    struct shared_numbers numbers;
    *ret_facts = (struct aggstats_shared_facts){.threads_max = recorder->live.header->shared_threads};
    if (!recorder->live.is_shared || shared_part_read_numbers(&recorder->shared, &numbers) < 0)
        return;
    ret_facts->crowded_threads = numbers.crowded;
    ret_facts->broken_threads = __atomic_load_n(&recorder->broken_threads, __ATOMIC_RELAXED);
    memcpy(ret_facts->sums, numbers.sums, sizeof(numbers.sums));
    for (size_t i = 0; i < AGGSTATS_NOTES; i++)
        ret_facts->notes[i] = numbers.notes[i] + __atomic_load_n(&recorder->own_notes[i], __ATOMIC_RELAXED);
}

void aggstats_maker_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more) {
    __atomic_fetch_add(&recorder->own_notes[note], more, __ATOMIC_RELAXED);
}

/* ---- Programs ---- */

int aggstats_maker_name(struct aggstats_recorder *recorder, unsigned note, const char *name) {
    struct aggstats_named_program program = {
        .state = AGGSTATS_NAMED_WHOLE, .note = note, .start_ns = read_clock_ns(CLOCK_MONOTONIC)};
    if (!recorder->live.is_shared || recorder->own_named_count >= AGGSTATS_NAMED_OWN_MAX)
        return -1;
    memcpy(program.name, name, strnlen(name, sizeof(program.name)));
    shared_part_write_named(&recorder->shared, recorder->own_named_count, 0, &program, sizeof(program));
    return (int)recorder->own_named_count++;
}

void aggstats_maker_name_pid(const struct aggstats_recorder *recorder, int number, uint32_t pid) {
    shared_part_write_named(&recorder->shared, (unsigned)number, offsetof(struct aggstats_named_program, pid), &pid,
                            sizeof(pid));
}

void aggstats_maker_name_take_back(const struct aggstats_recorder *recorder, int number) {
    const uint32_t state = AGGSTATS_NAMED_TAKEN_BACK;
    shared_part_write_named(&recorder->shared, (unsigned)number, offsetof(struct aggstats_named_program, state), &state,
                            sizeof(state));
}

void aggstats_maker_read_named(const struct aggstats_recorder *recorder, struct aggstats_named *ret_named) {
    *ret_named = (struct aggstats_named){0};
    if (recorder->live.is_shared)
        shared_part_read_named(&recorder->shared, ret_named);
}

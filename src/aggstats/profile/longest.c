/* The longest call of an op. A thread raises it before it counts the call's bucket, so a reader that reads buckets
 * first finds no longer call in them. Unlike counters it is also lowered, when it is moved into a window (window.h):
 * hence an atomic exchange, on a path that few calls take. */
#include "longest.h"

#include "base.h"

/* Returns false if a signal handler or another thread has noted a longer call meanwhile. */
static bool raise_to(uint64_t *longest_cycles, uint64_t latency_cycles) {
    uint64_t seen = __atomic_load_n(longest_cycles, __ATOMIC_RELAXED);
    while (seen < latency_cycles)
        if (__atomic_compare_exchange_n(longest_cycles, &seen, latency_cycles, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

/* After nested calls the thread names no call as in flight, although the outer one is. */
static uint64_t current_object(const struct aggstats_block *block) {
    return block->current_op != 0 ? block->current_object : 0;
}

void aggstats_note_longest(const struct aggstats_block *block, struct aggstats_counters *counters, unsigned resolution,
                           uint64_t latency_cycles) {
    uint64_t *beside = aggstats_beside(counters, resolution);
    if (!raise_to(&counters->longest_cycles, latency_cycles))
        return;
    __atomic_store_n(&beside[AGGSTATS_LONGEST_OBJECT], 0, __ATOMIC_RELEASE);
    __atomic_store_n(&beside[AGGSTATS_LONGEST_OF], latency_cycles, __ATOMIC_RELEASE);
    __atomic_store_n(&beside[AGGSTATS_LONGEST_OBJECT], current_object(block), __ATOMIC_RELEASE);
}

/* The object belongs to the longest call if it was the same before and after that was read, and that is the longest. */
struct longest longest_read(const struct aggstats_counters *counters, unsigned resolution) {
    const uint64_t *beside = aggstats_beside_const(counters, resolution);
    uint64_t object = __atomic_load_n(&beside[AGGSTATS_LONGEST_OBJECT], __ATOMIC_ACQUIRE);
    uint64_t of_cycles = __atomic_load_n(&beside[AGGSTATS_LONGEST_OF], __ATOMIC_ACQUIRE);
    uint64_t object_again = __atomic_load_n(&beside[AGGSTATS_LONGEST_OBJECT], __ATOMIC_ACQUIRE);
    struct longest longest = {.cycles = __atomic_load_n(&counters->longest_cycles, __ATOMIC_ACQUIRE)};
    if (object == object_again && of_cycles == longest.cycles)
        longest.object = object;
    return longest;
}

struct longest longest_take(struct aggstats_counters *counters, unsigned resolution) {
    struct longest longest = longest_read(counters, resolution);
    uint64_t taken_cycles = __atomic_exchange_n(&counters->longest_cycles, 0, __ATOMIC_ACQ_REL);
    return taken_cycles == longest.cycles ? longest : (struct longest){.cycles = taken_cycles};
}

void longest_raise(struct longest *longest, struct longest other) {
    if (other.cycles > longest->cycles)
        *longest = other;
}

struct longest longest_get(const struct aggstats_counters *counters, unsigned resolution) {
    return (struct longest){.cycles = counters->longest_cycles,
                            .object = aggstats_beside_const(counters, resolution)[AGGSTATS_LONGEST_OBJECT]};
}

void longest_put(struct aggstats_counters *counters, unsigned resolution, struct longest longest) {
    uint64_t *beside = aggstats_beside(counters, resolution);
    counters->longest_cycles = longest.cycles;
    beside[AGGSTATS_LONGEST_OF] = longest.cycles;
    beside[AGGSTATS_LONGEST_OBJECT] = longest.object;
}

bool longest_is_possible(const uint64_t *buckets, unsigned resolution, uint64_t longest_cycles) {
    unsigned bucket = aggstats_bucket_of(longest_cycles, resolution);
    if (buckets[bucket] == 0)
        return false;
    while (++bucket < 64 * resolution)
        if (buckets[bucket] > 0)
            return false;
    return true;
}

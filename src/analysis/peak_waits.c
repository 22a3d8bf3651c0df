/* Causes of the calls in a range of buckets. */
#include "peak_waits.h"

#include <string.h>

#include "base.h"

static bool is_known(const struct aggstats_cause *cause) {
    return cause->why.kind != AGGSTATS_CAUSE_UNKNOWN;
}

/* Those that did not fit are stored without a name. */
static bool has_name(const struct aggstats_cause *cause) {
    return cause->why.kind != AGGSTATS_CAUSE_REST;
}

static uint64_t calls_in(const struct aggstats_cause *cause, const struct peak *peak) {
    uint64_t calls = 0;
    for (unsigned bucket = peak->first; cause->buckets && bucket <= peak->last; bucket++)
        calls += cause->buckets[bucket];
    return calls;
}

/* Inserts the cause, unless PEAK_WAITS_MAX others have more calls. */
static void add_cause(struct peak_waits *waits, const struct aggstats_cause *cause, uint64_t calls) {
    size_t place = waits->count;
    while (place > 0 && waits->waits[place - 1].calls < calls)
        place--;
    if (place == PEAK_WAITS_MAX)
        return;
    waits->count += waits->count < PEAK_WAITS_MAX;
    memmove(&waits->waits[place + 1], &waits->waits[place], (waits->count - 1 - place) * sizeof(waits->waits[0]));
    waits->waits[place] = (struct peak_wait){.cause = cause, .calls = calls};
}

static void settle_shares(struct peak_waits *waits, const struct peak *peak) {
    for (size_t i = 0; i < waits->count; i++)
        waits->waits[i].share = (double)waits->waits[i].calls / (double)waits->known_calls;
    while (waits->count > 0 && waits->waits[waits->count - 1].share < PEAK_WAITS_SHARE_MIN)
        waits->count--;
    if (waits->known_calls > peak->calls)
        waits->known_calls = peak->calls;
}

struct peak_waits peak_waits_find(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                                  const struct peak *peak) {
    struct peak_waits waits = {.count = 0};
    for (size_t i = 0; i < profile->cause_count; i++) {
        const struct aggstats_cause *cause = &profile->causes[i];
        if (strcmp(cause->op, op->name) != 0 || !is_known(cause))
            continue;
        uint64_t calls = calls_in(cause, peak);
        waits.known_calls += calls;
        if (calls > 0 && has_name(cause))
            add_cause(&waits, cause, calls);
    }
    settle_shares(&waits, peak);
    return waits;
}

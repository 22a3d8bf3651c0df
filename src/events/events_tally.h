/* Private: counters of ops, for all calls or those of one group. */
#ifndef EVENTS_TALLY_H
#define EVENTS_TALLY_H

#include "aggstats.h"
#include "events_reader.h"

struct events_tally {
    struct aggstats_op_profile *ops[EVENTS_OPS_MAX]; /* NULL: no call yet */
    uint64_t total_cycles;
};

/* Errors: -ENOMEM, -EOVERFLOW the sum of latencies, or of bytes, does not fit 64 bits; it is not counted then */
int events_tally_count(struct events_tally *tally, const struct events_file *file, const struct event *event,
                       unsigned resolution);

/* Adds b's to a's, and empties b. Errors: as above */
int events_tally_add(struct events_tally *a, struct events_tally *b, unsigned resolution);

/* Hands the ops over to a profile that has none; of a group, as these have it: without bytes, failures and longest
 * calls.
 * Errors:  -ENOMEM */
int events_tally_hand_over(struct events_tally *tally, bool is_group, struct aggstats_profile *profile);

void events_tally_finish(struct events_tally *tally);

#endif

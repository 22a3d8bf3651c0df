/* Where the time went, as parts of one bar: of the wall time if the latency of all calls is no more than that, else of the
 * latency summed over threads. Pure functions.
 *
 * Invariants:
 *   - The parts add up to whole_cycles, and none is 0.
 *   - Operations come first, the largest total first, then those that are not named; what is outside of calls is last.
 *   - Calls of several threads may overlap. Then a part of the wall time that is latency is an upper bound, and what is
 *     left for the time outside of calls a lower one. */
#ifndef TIME_PARTS_H
#define TIME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats.h"
#include "answer_model.h"

enum time_part_kind {
    TIME_OP,           /* one operation */
    TIME_OTHER_OPS,    /* several that are not named */
    TIME_CPU,          /* on a CPU, outside of calls */
    TIME_QUEUE,        /* waiting for a CPU */
    TIME_CPU_OR_WAITS, /* one of the others; which is not known, because CPU time within calls is not known */
    TIME_WAITS,        /* other waits */
    TIME_QUEUE_WAITS,  /* other waits, and waiting for a CPU */
    TIME_OUTSIDE,      /* outside of calls: no more is known */
};

enum time_part_bound { TIME_EXACT, TIME_AT_MOST, TIME_AT_LEAST };

struct time_part {
    enum time_part_kind kind;
    enum time_part_bound bound;
    const struct aggstats_op_profile *op; /* of TIME_OP. Owner: the profile */
    size_t op_count;                      /* of TIME_OTHER_OPS */
    double cycles;
};

#define TIME_PARTS_OPS_MAX 5
#define TIME_PARTS_MAX (TIME_PARTS_OPS_MAX + 4)

struct time_parts {
    double whole_cycles; /* 0: nothing is known, there is no part */
    bool is_wall;        /* of the wall time; else of the latency summed over threads */
    bool may_overlap;    /* calls of several threads may be in flight at once */
    bool has_unmeasured; /* some calls were not measured, or have not ended: they are outside */
    double queued_most;  /* waiting for a CPU, at most; 0: unknown, less than ANSWER_SHARE_MIN, or a part of its own */
    struct time_part parts[TIME_PARTS_MAX];
    size_t count;
};

/* model: of that profile */
void time_parts_make(const struct aggstats_profile *profile, const struct answer_model *model,
                     struct time_parts *ret_parts);

#endif

/* Whether a call counts, and its subject. */
#ifndef CALL_OF_H
#define CALL_OF_H

#include "aggstats/shared_groups.h"

/* 0: it does not count; else CALL_COUNTS, and the subject if the run has groups that need it. */
typedef uint32_t call_of;
#define CALL_COUNTS (1U << 31)

_Static_assert(AGGSTATS_SUBJECT_BITS < 31, "both fit");

static inline aggstats_subject call_of_subject(call_of of) {
    return of & ~CALL_COUNTS;
}

/* For the thread's block; 0: unknown */
static inline uint64_t call_of_object(call_of of) {
    return aggstats_subject_object(call_of_subject(of));
}

#endif

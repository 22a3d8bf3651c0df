/* What the calls of a peak waited for, if slow calls were watched. Pure functions. */
#ifndef PEAK_WAITS_H
#define PEAK_WAITS_H

#include <stddef.h>

#include "aggstats.h"
#include "peaks.h"
#include "wide_count.h"

#define PEAK_WAITS_MAX 3
#define PEAK_WAITS_SHARE_MIN 0.05

struct peak_wait {
    const struct aggstats_cause *cause; /* Owner: the profile */
    uint64_t calls;                     /* calls of the peak with this main cause */
    double share;                       /* of the peak's known calls, from 0 to 1 */
};

struct peak_waits {
    struct peak_wait waits[PEAK_WAITS_MAX]; /* those with most calls first; each has at least PEAK_WAITS_SHARE_MIN */
    size_t count;
    wide_count known_calls; /* calls of the peak with a known cause: the others were not slow, or not watched. Not more
                             * than the peak's calls, even if causes have calls from before a rotation */
};

/* Assigns causes to a peak by latency: a cause has its calls in the buckets of its operation. */
struct peak_waits peak_waits_find(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                                  const struct peak *peak);

#endif

/* What the calls of a peak have waited for, as far as somebody has looked for slow calls. Pure functions. */
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
    uint64_t calls;                     /* of the peak, for which it was the main cause */
    double share;                       /* of the peak's known calls, from 0 to 1 */
};

struct peak_waits {
    struct peak_wait waits[PEAK_WAITS_MAX]; /* those of most calls first; each has PEAK_WAITS_SHARE_MIN at least */
    size_t count;
    wide_count known_calls; /* of the peak, whose cause was found: others were not slow, or nobody looked. Not more than
                             * the peak's, also where causes have calls that the operation had before a rotation */
};

/* Relates causes to a peak by latency: a cause has its calls in the buckets of its operation. */
struct peak_waits peak_waits_find(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                                  const struct peak *peak);

#endif

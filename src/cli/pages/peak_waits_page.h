/* What the calls of peaks have waited for, in words. */
#ifndef PEAK_WAITS_PAGE_H
#define PEAK_WAITS_PAGE_H

#include "aggstats.h"
#include "screen.h"
#include "units.h"

/* A line below a histogram for each peak of which that is known:
 *     "  peak at 30.1 ms: 94.0 % waiting for the ext4 journal to commit"
 * Shares are of its calls. If some were not slow, or nobody looked at them, it says of how many it speaks:
 *     "  peak at 30.1 ms: of 85 slow calls 94.0 % waiting for the ext4 journal to commit" */
void peak_waits_print(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                      const struct units *units, const struct screen *screen);

#endif

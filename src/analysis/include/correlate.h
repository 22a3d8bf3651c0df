/* Operations of one profile that belong together, because they have exactly the same number of calls. */
#ifndef CORRELATE_H
#define CORRELATE_H

#include "peaks.h"

#define CORRELATE_CHANCE_MAX 0.05 /* if more coincidences are expected by chance, a number proves nothing */

/* An op, or some of its peaks that are next to each other. */
struct correlate_part {
    const struct aggstats_op_profile *op; /* of the given profile */
    unsigned first_peak;                  /* from 0 */
    unsigned last_peak;
    unsigned peak_count; /* of the whole op */
    struct peak calls;   /* of all these peaks */
};

/* Parts of at least two ops with the same number of calls. */
struct correlation {
    uint64_t calls;
    double chance; /* number of such coincidences expected near this number, if all numbers were independent */
    struct correlate_part *parts; /* by op, in the order of the profile, then peak */
    size_t part_count;
};

struct correlations {
    struct correlation *found; /* most calls first */
    size_t count;
    struct correlate_part *parts;
};

/* Finds them: all ranges of adjacent peaks of all ops are compared by their finished calls. Equal small numbers prove
 * nothing: with n ranges between half and twice a number c there are n (n - 1) / 2 pairs, each equal with a probability
 *   of one in 3/2 c. Numbers with more than CORRELATE_CHANCE_MAX expected coincidences are left out.
 * Owner:   the caller finishes *ret_correlations; it points into profile
 * Errors:  -ENOMEM; *ret_correlations untouched
 * Source:  thesis §7.2.1, where two peaks of readdir had as many elements as readpage (adds the test for chance) */
int correlate_profile(const struct aggstats_profile *profile, struct correlations *ret_correlations);

void correlate_finish(struct correlations *correlations);

#endif

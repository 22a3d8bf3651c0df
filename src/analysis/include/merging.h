/* The sum of many profiles: of any resolution, added up at the coarsest of them, and of any clock rate.
 *
 * Memory does not grow with the number of profiles: there is one sum per clock rate, up to a bound; only the first few
 * values of each label are kept, and a bounded number of groups. Only calls in flight need memory without a bound,
 * since all of them are kept. Each rate has a sum of its own, which is rescaled once, at the end. Rescaling many small
 * profiles one by one would shift all their few calls in the same direction by rounding. */
#ifndef MERGING_H
#define MERGING_H

#include "aggstats.h"
#include "merging_groups.h"

#define MERGING_RATES_MAX 16
#define MERGING_LABELS_MAX 64
#define MERGING_VALUES_MAX 4

/* One header line of the profiles so far. */
struct merging_label {
    char *key;
    char *value;                      /* of the first profile that has it */
    char *values[MERGING_VALUES_MAX]; /* different ones: the first in byte order */
    size_t value_count;
    uint64_t holder_count; /* profiles that have the label */
    bool differs;
    bool is_list; /* some of the values are, of profiles that were merged */
    bool more;    /* there are more values than those kept */
};

/* Zeroed: the sum of no profiles. */
struct merging {
    struct aggstats_profile sums[MERGING_RATES_MAX]; /* [0]: at the rate of the first profile */
    struct merging_groups groups[MERGING_RATES_MAX]; /* of each */
    size_t sum_count;
    uint64_t added_count;
    uint64_t merged_count;   /* like added_count, but a merged profile counts as the number it was made of */
    uint64_t rescaled_count; /* of merged_count, those of other rates than the first one's */
    int64_t start_ns;        /* the earliest; meaningful if all_have_start */
    bool all_have_start;
    struct merging_label labels[MERGING_LABELS_MAX];
    size_t label_count;
};

/* Adds a profile.
 * Errors:  -EXDEV it is of another layer than those before, -EDOM its clock rate is unknown and theirs is known, or
 *          vice versa, -EOVERFLOW, -E2BIG more operations than a profile can have, -ENOMEM. After an error only
 *          merging_finish() may be called */
int merging_add(struct merging *merging, const struct aggstats_profile *profile);

/* The layer of the profiles added so far, or NULL. Owner: merging */
const char *merging_layer(const struct merging *merging);

/* The sum, with groups. A label with several values lists them, with "..." for more; "approximate" says what was rounded.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -EINVAL nothing was added, and as above; *ret_profile untouched */
int merging_result(struct merging *merging, struct aggstats_profile *ret_profile);

void merging_finish(struct merging *merging);

#endif

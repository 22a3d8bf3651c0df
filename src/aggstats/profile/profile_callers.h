/* Private: which functions of programs slow calls came from, in profiles. */
#ifndef PROFILE_CALLERS_H
#define PROFILE_CALLERS_H

#include "aggstats.h"

#define PROFILE_CALLERS_MAX 4096 /* callers of one profile; limits the cost of a hostile text */

/* Errors: -ENOMEM; of sums -EOVERFLOW; of differences -ERANGE */
void profile_free_callers(struct aggstats_profile *profile);
int profile_append_caller(struct aggstats_profile *profile, const struct aggstats_caller *caller);
int profile_copy_callers(const struct aggstats_profile *profile, struct aggstats_profile *copy);
struct aggstats_caller *profile_find_caller(const struct aggstats_profile *profile, const struct aggstats_caller *same);
void profile_sort_callers(struct aggstats_profile *profile);
int profile_add_callers(struct aggstats_profile *sum, const struct aggstats_profile *addend);
int profile_subtract_callers(struct aggstats_profile *difference, const struct aggstats_profile *earlier);

#endif

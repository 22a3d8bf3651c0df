/* Private: calls of profiles, causes of slow calls, and functions that made slow calls. */
#ifndef PROFILE_SLOW_H
#define PROFILE_SLOW_H

#include "aggstats.h"

/* Limits for one profile. Causes and callers are searched linearly, so the limits bound the cost of a hostile text. */
#define PROFILE_CAUSES_MAX 4096
#define PROFILE_SLOW_CALLS_MAX 1024
#define PROFILE_CALLERS_MAX 4096

/* For the rest, if an op has too many. */
static const struct aggstats_why other_causes = {
    .kind = AGGSTATS_CAUSE_REST, .id = "other_causes", .words = "other causes"};

/* Freeing and copying are of calls in flight, too; sums and differences are not.
 * Errors: -ENOMEM; of sums -EOVERFLOW; of differences -ERANGE */
void profile_free_slow(struct aggstats_profile *profile);
void profile_free_callers(struct aggstats_profile *profile);
int profile_give_cause_buckets(const struct aggstats_profile *profile, struct aggstats_cause *cause); /* empty ones */
int profile_append_cause(struct aggstats_profile *profile, const struct aggstats_cause *cause);
int profile_append_caller(struct aggstats_profile *profile, const struct aggstats_caller *caller);
int profile_copy_slow(const struct aggstats_profile *profile, struct aggstats_profile *copy);
struct aggstats_cause *profile_find_cause(const struct aggstats_profile *profile, const char *op,
                                          const struct aggstats_why *why);
struct aggstats_caller *profile_find_caller(const struct aggstats_profile *profile, const struct aggstats_caller *same);
void profile_sort_slow(struct aggstats_profile *profile);
int profile_add_slow(struct aggstats_profile *sum, const struct aggstats_profile *addend);
int profile_subtract_slow(struct aggstats_profile *difference, const struct aggstats_profile *earlier);

#endif

/* Private: the memory of profiles, and changing profiles.
 *
 * A function that changes a profile works on a copy and replaces the profile at the end, so that an error leaves the
 * profile as it was. */
#ifndef PROFILE_OWNED_H
#define PROFILE_OWNED_H

#include "aggstats.h"

#define CLEANUP_PROFILE __attribute__((cleanup(aggstats_profile_finish)))

/* The number of buckets that each op has. */
static inline unsigned profile_bucket_count(const struct aggstats_profile *profile) {
    return 64 * profile->resolution;
}

/* Deep copy; NULL for none. Errors: -ENOMEM */
int labels_copy(const struct aggstats_label *labels, size_t count, struct aggstats_label **ret_labels);
void labels_free(struct aggstats_label *labels, size_t count);

/* Appends a copy of op, with buckets of the profile's resolution. Errors: -ENOMEM */
int profile_append_op(struct aggstats_profile *profile, const struct aggstats_op_profile *op);
void profile_free_op(struct aggstats_op_profile *op);

/* The op of that name, or NULL. Owner: the profile. */
struct aggstats_op_profile *profile_find_op(const struct aggstats_profile *profile, const char *name);

/* True unless more calls have failed than ended. */
bool profile_failures_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

/* Lowers failures until they are not more than the calls that ended. A failure may be counted just after a window began
 * although its call ended before: it does not belong to the window, but nobody knows which of the failures it is. */
void failures_limit(uint64_t failures[AGGSTATS_FAILURES], uint64_t most);

/* Makes the longest call unknown, except for its bucket. */
void profile_forget_longest(struct aggstats_op_profile *op);

/* The same if it is not in the last bucket that has calls. */
void profile_settle_longest(struct aggstats_op_profile *op, unsigned resolution);

/* True if it is possible, or unknown. */
bool profile_longest_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

/* For a profile of a recorder that has ended: calls that have not ended, and are not listed in flight, were left
 * (left_calls). */
void profile_settle_left(struct aggstats_profile *profile);

/* True unless more calls were left than have not ended. */
bool profile_left_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

/* Find one, or append an empty one; NULL if there is none, or no memory. Owner: the profile */
const struct aggstats_joint_profile *profile_find_joint(const struct aggstats_profile *profile, const char *op_name,
                                                        enum aggstats_value value);
struct aggstats_joint_profile *profile_add_joint(struct aggstats_profile *profile, const char *op_name);
void profile_free_joints(struct aggstats_profile *profile);

/* Appends a group without calls, with the clock and resolution of the whole profile; NULL without memory.
 * Owner:   the profile */
struct aggstats_group *profile_add_group(struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                         enum aggstats_who who, uint64_t id, const char *name);
void profile_drop_last_group(struct aggstats_profile *profile);
void profile_free_groups(struct aggstats_profile *profile);

/* Lowers the op's total to the largest that its buckets allow. */
void profile_limit_total(struct aggstats_op_profile *op, unsigned resolution);

/* Replaces *profile by *replacement, which is left empty. */
void profile_replace(struct aggstats_profile *profile, struct aggstats_profile *replacement);

/* Reduces the resolution, in place; both must be valid (profile_scale.c). */
void profile_coarsen(struct aggstats_profile *profile, unsigned resolution);

#endif

/* Private: what profiles own, and how they are changed.
 *
 * What changes a profile works on a copy and puts it in the profile's place at the end, so that an error leaves the
 * profile as it was. */
#ifndef PROFILE_OWNED_H
#define PROFILE_OWNED_H

#include "aggstats.h"
#include "profile_buckets.h"

#define CLEANUP_PROFILE __attribute__((cleanup(aggstats_profile_finish)))

/* Deep copy; NULL for none. Errors: -ENOMEM */
int labels_copy(const struct aggstats_label *labels, size_t count, struct aggstats_label **ret_labels);
void labels_free(struct aggstats_label *labels, size_t count);

/* Appends a copy of op, with buckets of the profile's resolution. Errors: -ENOMEM */
int profile_append_op(struct aggstats_profile *profile, const struct aggstats_op_profile *op);
void profile_free_op(struct aggstats_op_profile *op);

/* The op of that name, or NULL. Owner: the profile. */
struct aggstats_op_profile *profile_find_op(const struct aggstats_profile *profile, const char *name);

/* No more calls have failed than ended. */
bool profile_failures_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

/* Makes failures not more than the calls that ended. A failure that was counted just after a window began, of a call
 * that ended just before, is none of the window's own; which one it is of those seen, nobody knows. */
void failures_limit(uint64_t failures[AGGSTATS_FAILURES], uint64_t most);

/* The longest call is not known any more, but for its bucket. */
void profile_forget_longest(struct aggstats_op_profile *op);

/* The same if it is not in the last bucket that has calls. */
void profile_settle_longest(struct aggstats_op_profile *op, unsigned resolution);

/* Whether it is there, or not known. */
bool profile_longest_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

/* When nobody counts any more: calls that have not ended, and are not listed in flight, were left (left_calls). */
void profile_settle_left(struct aggstats_profile *profile);

/* No more calls were left than have not ended. */
bool profile_left_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

/* Appends an empty joint profile of that op; NULL without memory. Owner: the profile */
struct aggstats_joint_profile *profile_add_joint(struct aggstats_profile *profile, const char *op_name);
void profile_free_joints(struct aggstats_profile *profile);

/* Appends a group without calls, with the whole's clock and resolution; NULL without memory. Owner: the profile */
struct aggstats_group *profile_add_group(struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                         enum aggstats_who who, uint64_t id, const char *name);
void profile_drop_last_group(struct aggstats_profile *profile);
void profile_free_groups(struct aggstats_profile *profile);

/* Sorts groups by grouping, then by total latency, largest first (then by number), and the ops of each; `other` comes
 * last in its grouping. */
void profile_sort_groups(struct aggstats_profile *profile);

/* Makes the op's total one that its buckets allow, if it is larger. */
void profile_limit_total(struct aggstats_op_profile *op, unsigned resolution);

/* Puts *replacement in the place of *profile; *replacement is left empty. */
void profile_replace(struct aggstats_profile *profile, struct aggstats_profile *replacement);

/* To a coarser resolution, in place; both are valid ones (profile_scale.c). */
void profile_coarsen(struct aggstats_profile *profile, unsigned resolution);

#endif

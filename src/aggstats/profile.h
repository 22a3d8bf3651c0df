/* Private: helpers for what profiles own. */
#ifndef PROFILE_H
#define PROFILE_H

#include "aggstats.h"

/* Appends an empty joint profile of that op; NULL without memory. Owner: the profile */
struct aggstats_joint_profile *profile_add_joint(struct aggstats_profile *profile, const char *op_name);

/* Appends a group without calls, with the whole's clock and resolution; NULL without memory. Owner: the profile */
struct aggstats_group *profile_add_group(struct aggstats_profile *profile, enum aggstats_who who, uint64_t id,
                                         const char *name);
void profile_drop_last_group(struct aggstats_profile *profile);

/* Sorts groups by total latency, largest first (then by number), and the ops of each; `other` comes last. */
void profile_sort_groups(struct aggstats_profile *profile);

/* Deep copy; NULL for none. Errors: -ENOMEM */
int labels_copy(const struct aggstats_label *labels, size_t count, struct aggstats_label **ret_labels);
/* The op of that name, or NULL. Owner: the profile. */
struct aggstats_op_profile *profile_find_op(const struct aggstats_profile *profile, const char *name);

void labels_free(struct aggstats_label *labels, size_t count);

#endif

/* Private: programs that were not seen, in profiles. A program is known by its kind and its name. */
#ifndef PROFILE_UNSEEN_H
#define PROFILE_UNSEEN_H

#include "aggstats.h"

#define PROFILE_UNSEEN_MAX 64 /* of one profile: sums keep those that ran longest. Their number is in not_seen */

extern const char *const unseen_words[AGGSTATS_UNSEEN_KINDS + 1]; /* the last is NULL */

/* Errors: -ENOMEM, -EOVERFLOW */
int profile_copy_unseen(const struct aggstats_profile *profile, struct aggstats_profile *copy);
int profile_add_all_unseen(struct aggstats_profile *sum, const struct aggstats_profile *other);

#endif

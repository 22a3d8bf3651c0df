/* What groups did between two snapshots of one profile.
 *
 * Groups are not as steady as operations. One of which nothing was heard for long is added to the others, and begins
 * anew with its next call; a process may have the number of one that is gone; callers that were not known yet come to
 * the group that they belong to; and while a snapshot is taken calls go on, so that one group may be told a few calls
 * less than the time before, for others that have them. None of this may show calls that were not made. */
#ifndef GROUPS_DIFFERENCE_H
#define GROUPS_DIFFERENCE_H

#include "aggstats.h"

/* The difference of everything, as top_subtract(), and of each group.
 * before:  NULL: nothing, so that the difference is `now`
 * Owner:   the caller finishes *ret_difference
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_difference untouched */
int groups_difference(const struct aggstats_profile *before, const struct aggstats_profile *now,
                      struct aggstats_profile *ret_difference);

#endif

/* Processes or users whose calls a profile tells apart: what they are called, and which of them are meant. */
#ifndef GROUPS_H
#define GROUPS_H

#include "aggstats.h"

#define GROUPS_ID_SIZE 24

/* The first of the profile's groupings; AGGSTATS_UNGROUPED: it has none. */
enum aggstats_grouping groups_first(const struct aggstats_profile *profile);

/* The next one, round and round. */
enum aggstats_grouping groups_next(const struct aggstats_profile *profile, enum aggstats_grouping grouping);

/* Titles of the columns: "process", "user" or "program", "pid", "uid" or "". */
const char *groups_name_title(enum aggstats_grouping grouping);
const char *groups_id_title(enum aggstats_grouping grouping);

/* "grep", "kernel" or "other": any bytes. Owner: the group */
const char *groups_name(const struct aggstats_group *group);

/* The name cut to so many bytes: of a path its last parts are kept, but if the last does not fit its beginning. */
void groups_cut_name(const struct aggstats_group *group, size_t columns, char ret_text[AGGSTATS_GROUP_NAME_SIZE]);

/* "4711"; "" for the kernel, others, and where groups have names only */
void groups_format_id(const struct aggstats_group *group, char ret_text[GROUPS_ID_SIZE]);

/* Makes the profile that of the groups that `who` names: by number, by name, "kernel" or "other"; several are added up.
 * A file's path may lack the first slash. What cannot be told of them alone is gone: intervals, joint profiles, calls
 * in flight. grouping: AGGSTATS_UNGROUPED: the first in which there are such groups
 * Errors:  -ENOENT there are none, -ENOMEM, -EOVERFLOW; *profile untouched */
int groups_select(struct aggstats_profile *profile, enum aggstats_grouping grouping, const char *who);

/* ---- What groups did between two snapshots of one profile --------------------------------------- */

/* Groups are not as steady as operations. One of which nothing was heard for long is added to the others, and begins
 * anew with its next call; a process may have the number of one that is gone; callers that were not known yet come to
 * the group that they belong to; and while a snapshot is taken calls go on, so that one group may be told a few calls
 * less than the time before, for others that have them. None of this may show calls that were not made.
 *
 * The difference of everything, as top_subtract(), and of each group.
 * before:  NULL: nothing, so that the difference is `now`
 * Owner:   the caller finishes *ret_difference
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_difference untouched */
int groups_difference(const struct aggstats_profile *before, const struct aggstats_profile *now,
                      struct aggstats_profile *ret_difference);

#endif

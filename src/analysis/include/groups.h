/* Groups of a profile: their names, selecting some of them, and their differences. */
#ifndef GROUPS_H
#define GROUPS_H

#include "aggstats.h"

#define GROUPS_ID_SIZE 24

/* The first of the profile's groupings; AGGSTATS_UNGROUPED: it has none. */
enum aggstats_grouping groups_first(const struct aggstats_profile *profile);

/* The next one, cyclically. */
enum aggstats_grouping groups_next(const struct aggstats_profile *profile, enum aggstats_grouping grouping);

/* Titles of the columns: "process", "user" or "program", "pid", "uid" or "". */
const char *groups_name_title(enum aggstats_grouping grouping);
const char *groups_id_title(enum aggstats_grouping grouping);

/* "grep", "kernel" or "other": any bytes. Owner: the group */
const char *groups_name(const struct aggstats_group *group);

/* The directory to which paths of files and directories are relative, in profiles of a mount. NULL: the paths are
 * absolute, or the directory is unknown.
 * Owner:   the profile */
const char *groups_base(const struct aggstats_profile *profile);

/* "4711"; "" for "kernel", "other", and where groups have names only */
void groups_format_id(const struct aggstats_group *group, char ret_text[GROUPS_ID_SIZE]);

/* ---- The directory that paths are in ------------------------------------------------------------ */

/* A directory: the first bytes of a group's name. */
struct groups_prefix {
    const char *path; /* NULL: none but "/". Owner: the group */
    size_t length;
    double weight; /* of the groups in it */
};

/* How much a group counts, at least 0. */
typedef double (*groups_weigh_fn)(const struct aggstats_group *group, const void *context);

/* The deepest directory that groups with a weight of at least `least` are in. Files are in their directory, and a
 * directory is in itself. Only groups with an absolute path count.
 * grouping: by file or directory
 * least:   more than half of all weights */
struct groups_prefix groups_find_prefix(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                        double least, groups_weigh_fn weigh, const void *context);

/* ---- Choosing ----------------------------------------------------------------------------------- */

/* Reduces the profile to the groups that `who` names: by number, by name, "kernel" or "other"; several are added up.
 * The first slash of a file's path may be missing. Intervals, joint profiles and calls in flight are dropped, since
 * they are not known by group. grouping: AGGSTATS_UNGROUPED: the first that has such groups
 * Errors:  -ENOENT there are none, -ENOMEM, -EOVERFLOW; *profile untouched */
int groups_select(struct aggstats_profile *profile, enum aggstats_grouping grouping, const char *who);

/* The label that names the groups which groups_select() has chosen; NULL: it was not called. Owner: the profile */
const struct aggstats_label *groups_chosen(const struct aggstats_profile *profile);

/* Reduces the profile, and each of its groups, to some operations. Groups without calls of these are dropped. The heading
 * gets a line that says so. names: without OP_, in letters of either case
 * Errors:  -ENOMEM; *profile untouched */
int groups_keep_ops(struct aggstats_profile *profile, const char *const *names, size_t count);

/* ---- Differences of groups between two snapshots of one profile --------------------------------- */

/* Groups change more than operations. A group without calls for long is added to `other`, and begins anew with its next
 * call. A process may have the number of an earlier one. Callers that were not identified yet are moved to their group.
 * And calls go on while a snapshot is taken, so that a group may show a few calls less than the time before, and
 * another group has them. In none of these cases the difference may show calls that were not made.
 *
 * The difference of the whole, as top_subtract(), and of each group.
 * before:  NULL: nothing, so that the difference is `now`
 * Owner:   the caller finishes *ret_difference
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_difference untouched */
int groups_difference(const struct aggstats_profile *before, const struct aggstats_profile *now,
                      struct aggstats_profile *ret_difference);

#endif

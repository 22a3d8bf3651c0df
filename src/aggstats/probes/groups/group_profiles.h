/* Private: the profiles of groups of callers (thesis §3.1; LatencyTOP has one for each process).
 *
 * Bounded: when a group more is needed than there may be, the one that has called least recently is added to `other`.
 * Not thread-safe; see grouping.h. */
#ifndef GROUP_PROFILES_H
#define GROUP_PROFILES_H

#include "aggstats/caller_groups.h"
#include "layout.h"

/* Time between two identifications of a group that makes calls: grows from the minimum to the maximum. */
#define CHECK_INTERVAL_MIN_NS 1000000
#define CHECK_INTERVAL_MAX_NS 1000000000

struct group {
    enum aggstats_who who;
    struct aggstats_identity identity;
    uint64_t seen;               /* number of the latest call, of all groups'; 0: nobody's */
    uint64_t missed_cycles_max;  /* as struct aggstats_group's */
    struct aggstats_cache cache; /* of its calls, and what was shown when marked */
    struct aggstats_cache cache_shown;
    struct aggstats_counters **ops; /* [2][op_count]; NULL: never called. Then, of these, what was shown when marked */
};

struct groups {
    struct layout layout;
    unsigned count_max;
    unsigned count;       /* of places ever used */
    struct group *places; /* [count_max]; they do not move */
    struct group kernel;
    struct group other;
    uint64_t calls; /* seen so far */
};

/* Errors: -ENOMEM; groups_finish() frees what there is */
int group_init(struct group *group, enum aggstats_who who, unsigned op_count);
void group_finish(struct group *group, unsigned op_count);

/* It has not called yet. */
void group_forget_calls(struct group *group, unsigned op_count);

/* count_max: 0: only the kernel's and others. Errors: -ENOMEM; groups_finish() frees what there is */
int groups_init(struct groups *groups, const struct layout *layout, unsigned count_max);
void groups_finish(struct groups *groups);

/* The group of that identity; NULL: there is none. has_ids: by number and instance; else by name */
struct group *groups_find(struct groups *groups, const struct aggstats_identity *identity, bool has_ids);

/* Adds a group. ret_was_folded: all places were in use; the least recently seen group was added to the others, and the
 * new group has its place.
 * Errors:  NULL: -ENOMEM */
struct group *groups_add(struct groups *groups, const struct aggstats_identity *identity, bool *ret_was_folded);

/* Calls of one bucket. */
struct group_calls {
    uint64_t calls;
    uint64_t cycles;
    unsigned bucket;
};

/* Counts calls. Without memory they are missing from the groups. */
void groups_count_calls(struct groups *groups, struct group *group, unsigned op, const struct group_calls *more);

/* Adds bytes of calls. */
void group_add_cache(struct group *group, const struct aggstats_cache *cache);

/* Adds calls that were counted elsewhere. Errors: -ENOMEM */
int groups_add_bucket(struct groups *groups, struct group *group, unsigned op, const struct group_calls *more);

/* Takes a place that was never used, and gives it no identity; there must be such a place.
 * Errors:  NULL: -ENOMEM */
struct group *groups_take_unused(struct groups *groups);

/* Moves all calls of `from` to `into`, and frees the place of `from`. */
void groups_unite(struct groups *groups, struct group *from, struct group *into);

/* Adds the calls of `from` to `into`; `from` keeps them.
 * Errors:  -ENOMEM; `into` may have got some of the calls */
int groups_add_calls(const struct groups *groups, const struct group *from, struct group *into);

/* Nobody has called yet. */
void groups_clear(struct groups *groups);

/* What was shown of a group since it was marked is taken from it, or shown again. Calls that came into it with another
 * group meanwhile, by groups_unite(), have brought their marks. */
void group_end_marks(struct group *group, const struct layout *layout, bool take);
void groups_end_marks(struct groups *groups, bool take);

/* Gives groups to a profile that has its ops: together they never have more calls than these. First
 * groups_show_begin(), which shows all but the others, last groups_show_end(), in between these, and more groups, by
 * group_show().
 * Errors:  -ENOMEM; the caller finishes the profile */
struct groups_showing {
    struct aggstats_profile *profile;
    enum aggstats_grouping grouping;
    const char (*op_names)[AGGSTATS_NAME_SIZE];
    const struct layout *layout;
    bool marks;     /* what is shown is marked: for groups_end_marks(), also after an error */
    uint64_t *left; /* [op_count][buckets]: what the whole has that no group has yet */
};

int groups_show_begin(struct groups *groups, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                      enum aggstats_grouping grouping, struct aggstats_profile *profile,
                      struct groups_showing *ret_showing);
int group_show(struct groups_showing *showing, struct group *group);

/* Shows the group `other`, made of the calls of the whole profile that no shown group has. may_miss: `other` may have
 * calls of any group */
int groups_show_rest(struct groups_showing *showing, bool may_miss);

/* After the group `other` has been shown: adds to it the calls of the whole profile that no shown group has. Such calls
 * ended before the groups began, or were in flight then. They are not marked. ret_calls: their number */
int groups_show_unseen(struct groups_showing *showing, uint64_t *ret_calls);
void groups_show_end(struct groups_showing *showing);

#endif

/* Private: profiles of objects (files, directories), of which there may be any number: those that take most of the
 * time, in bounded memory.
 *
 * Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi: Efficient computation of frequent and top-k elements in data
 * streams, ICDT 2005), with latencies as weights. An object is kept or not; each kept one has a bound, which the sum of
 * its latencies never exceeds. If there is no room for a new object, the one with the smallest bound is evicted, and
 * the new one takes over its bound, as the latency that it may have missed. Differs: a kept object has the whole
 * profile of its calls since it was added, and the profile of an evicted one is added to `other`. So
 *   - all counts are exact: a call is in one profile, and all together are the whole;
 *   - a bound exists for the latency of calls that a kept object has missed: missed_cycles_max, which is in `other`. 0:
 *     it has missed none;
 *   - an object that is not kept has taken no more than the largest bound of evicted ones. Bounds add up to the latency
 *     of all calls, so that is no more than the count_max-th part of it. All objects that took more are kept.
 * A rotation subtracts what was saved from the bounds too (heavy_end_marks()). Not thread-safe; see grouping.h. */
#ifndef HEAVY_H
#define HEAVY_H

#include "group_profiles.h"

/* The entry of a place in groups. */
struct heavy_entry {
    uint64_t object;
    uint64_t bound_cycles; /* the latency of its counted calls, plus the latency that it may have missed */
    uint32_t heap_index;
    uint32_t chain_next; /* place + 1; 0 ends the chain */
    bool is_named;
    bool has_called; /* since its name was last asked for */
    bool is_marked;  /* as of the marking of the groups */
    int64_t check_ns;
    int64_t check_interval_ns;
};

struct heavy {
    struct groups groups;
    struct heavy_entry *entries; /* [count_max] */
    uint32_t *heap;              /* [count]: places, the smallest bound first */
    uint32_t *chains;            /* [chain_count]: place + 1 of the first */
    uint32_t chain_count;        /* a power of two */
    uint64_t evicted_cycles;     /* the largest bound of evicted ones */
    uint64_t evicted_since_mark;
};

/* Errors: -ENOMEM; heavy_finish() frees what was allocated, also for a zeroed struct */
int heavy_init(struct heavy *heavy, const struct layout *layout, unsigned count_max);
void heavy_finish(struct heavy *heavy);

/* Counts calls. Without memory they are missing. object 0: they count in `other` */
void heavy_count_calls(struct heavy *heavy, uint64_t object, unsigned op, const struct group_calls *calls);

/* Adds bytes of calls. */
void heavy_add_cache(struct heavy *heavy, uint64_t object, const struct aggstats_cache *cache);

/* Objects whose names should be asked for now, or all that have been used since they were. ret_objects: [count_max].
 * Returns how many */
unsigned heavy_due(const struct heavy *heavy, int64_t now_ns, bool all, uint64_t *ret_objects);

/* The result of asking for a name. is_known false: the name may be outdated, or is the reason why there is none; it is
 * shown until there is a name, and kept if it begins with the known one */
void heavy_note(struct heavy *heavy, uint64_t object, bool is_known, const char *name, int64_t now_ns);

/* A name that may be right: shown until more is known. It will still be asked for. */
void heavy_guess(struct heavy *heavy, uint64_t object, const char *name);

/* Forgets all calls. */
void heavy_clear(struct heavy *heavy);

/* As grouping_show() and grouping_end_marks(). Objects with the same name are shown as one group. ret_unseen: as
 * ret_calls of groups_show_unseen(); NULL: groups_show_unseen() is not called */
int heavy_show(struct heavy *heavy, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
               enum aggstats_grouping grouping, struct aggstats_profile *profile, uint64_t *ret_unseen);
void heavy_end_marks(struct heavy *heavy, bool take);

#endif

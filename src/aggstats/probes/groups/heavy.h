/* Private: profiles of what calls work on (files, directories), of which there may be any number: those that take most
 * of the time, in bounded memory.
 *
 * Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi: Efficient computation of frequent and top-k elements in data
 * streams, ICDT 2005), with latencies as weights. An object is kept or not; each kept one has a bound, which its whole
 * latency never exceeds. Where an object comes that is not kept, and there is no room, the one with the smallest bound
 * goes and the newcomer takes its bound over, as what it may have missed.
 * Differs: a kept object has the whole profile of its calls since it came, and the profile of one that goes is added to
 * the others'. So
 *   - exact are all counts: a call is in one profile, and all together are the whole;
 *   - bounded is what a kept object missed: calls of at most missed_cycles_max, which are among the others. 0: none
 * are;
 *   - what is not kept has taken no more than the largest bound of those that went, and so, since bounds add up to the
 *     latency of all calls, no more than the count_max-th part of it. All that took more are kept.
 * A rotation takes what was saved from bounds, too (heavy_end_marks()).
 * Not thread-safe; see grouping.h. */
#ifndef HEAVY_H
#define HEAVY_H

#include "group_profiles.h"

/* Of a place in groups. */
struct heavy_entry {
    uint64_t object;
    uint64_t bound_cycles; /* its own, and what it may have missed */
    uint32_t heap_index;
    uint32_t chain_next; /* place + 1; 0 ends the chain */
    bool is_named;
    bool has_called; /* since its name was last asked for */
    bool is_marked;  /* as it was when groups were marked */
    int64_t check_ns;
    int64_t check_interval_ns;
};

struct heavy {
    struct groups groups;
    struct heavy_entry *entries; /* [count_max] */
    uint32_t *heap;              /* [count]: places, the smallest bound first */
    uint32_t *chains;            /* [chain_count]: place + 1 of the first */
    uint32_t chain_count;        /* a power of two */
    uint64_t evicted_cycles;     /* the largest bound of those that went */
    uint64_t evicted_since_mark;
};

/* Errors: -ENOMEM; heavy_finish() frees what there is, also of a zeroed one */
int heavy_init(struct heavy *heavy, const struct layout *layout, unsigned count_max);
void heavy_finish(struct heavy *heavy);

/* Counts a call. Without memory for it the call is missing. object 0: it is among the others */
void heavy_count(struct heavy *heavy, uint64_t object, unsigned op, uint64_t latency_cycles);

/* Objects whose names are to be asked for by now, or all that have called since they were. ret_objects: [count_max].
 * Returns how many */
unsigned heavy_due(const struct heavy *heavy, int64_t now_ns, bool all, uint64_t *ret_objects);

/* The name has been asked for. is_known false: it may be, or is the reason why there is none; kept until there is a
 * name, or if it begins with that */
void heavy_note(struct heavy *heavy, uint64_t object, bool is_known, const char *name, int64_t now_ns);

/* It is to be asked for, and may be called so: shown until more is known. */
void heavy_guess(struct heavy *heavy, uint64_t object, const char *name);

/* Nothing has called yet. */
void heavy_clear(struct heavy *heavy);

/* As grouping_show() and grouping_end_marks(). Those of one name are shown as one. */
int heavy_show(struct heavy *heavy, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
               enum aggstats_grouping grouping, struct aggstats_profile *profile);
void heavy_end_marks(struct heavy *heavy, bool take);

#endif

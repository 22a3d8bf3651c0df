/* Private: the groups of one grouping, which group each caller belongs to, and when to check that again: a process may
 * change its name (execve(2)), and a number may be reused. Not thread-safe; see grouping.h. A table is off, and
 * has no memory but its own, until grouping_table_begin(), and after grouping_table_end(). */
#ifndef GROUPING_TABLE_H
#define GROUPING_TABLE_H

#include "aggstats/caller_groups.h"
#include "call_queue.h"
#include "first_calls.h"
#include "heavy.h"

#define CALLERS_SETS 256U
#define CALLERS_WAYS 16U
#define CALLERS_MAX (CALLERS_SETS * CALLERS_WAYS)

struct caller {
    bool is_used;
    uint64_t key;
    struct group *group;  /* NULL: not identified yet */
    struct group pending; /* its calls until then; made when first needed. Its identity is what is known so far */
    bool has_called;      /* since it was last checked */
    bool is_gone;         /* as of the last check */
    uint64_t seen;        /* as in struct group */
    int64_t check_ns;
    int64_t check_interval_ns;
};

/* Sixteen to a set. Until a caller is identified its entry keeps its calls. A bounded memory: a caller that was displaced
 * is identified again. */
struct callers {
    unsigned op_count;
    struct caller sets[CALLERS_SETS][CALLERS_WAYS];
};

struct grouping_table {
    struct aggstats_grouping_options options; /* never change */
    bool is_on;                               /* set by the caller, once it has begun */
    struct first_calls *first_calls;
    bool has_ids; /* groups have numbers; else names only, and unknown callers are in `other` */
    struct groups groups;
    struct callers *callers;
    struct heavy *heavy; /* for groupings by object, in place of groups and callers; NULL: by caller */
};

/* Off. first_calls is borrowed, and used if the options say so. NULL: no memory. */
struct grouping_table *grouping_table_create(const struct aggstats_grouping_options *options,
                                             struct first_calls *first_calls);

/* Errors: -ENOMEM; it is off then */
int grouping_table_begin(struct grouping_table *table, const struct layout *layout);

/* It is off, and has forgotten everything. */
void grouping_table_end(struct grouping_table *table);

/* NULL is fine. */
void grouping_table_destroy(struct grouping_table *table);

void grouping_table_count(struct grouping_table *table, const struct queued_call *call);

void grouping_table_add_calls(struct grouping_table *table, const struct aggstats_group_calls *calls);

/* The callers, or objects, to identify now; all: objects also before their time. Returns how many; if it is off,
 * none. Noting something about them does nothing then */
unsigned grouping_table_due(const struct grouping_table *table, bool all, uint64_t ret_keys[CALLERS_MAX]);

/* The result for a caller. identity: NULL: it has ended */
void grouping_table_note(struct grouping_table *table, uint64_t key, const struct aggstats_identity *identity);

/* Forgets all calls. */
void grouping_table_reset(struct grouping_table *table);

/* As grouping_show() and grouping_end_marks(). If groups have names only, callers without a name when they are marked
 * stay in `other`. ret_unseen: as groups_show_unseen()'s; NULL: without that */
int grouping_table_show(struct grouping_table *table, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                        struct aggstats_profile *profile, uint64_t *ret_unseen);
void grouping_table_end_marks(struct grouping_table *table, bool take);

#endif

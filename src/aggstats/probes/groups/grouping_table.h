/* Private: the groups of one grouping, and who its callers are. Not thread-safe; see grouping.h. */
#ifndef GROUPING_TABLE_H
#define GROUPING_TABLE_H

#include "call_queue.h"
#include "callers.h"
#include "first_calls.h"
#include "heavy.h"

struct grouping_table {
    struct aggstats_grouping_options options;
    struct first_calls *first_calls;
    bool has_ids; /* groups have; else names only, and who is not known is among the others */
    struct groups groups;
    struct callers callers;
    struct heavy *heavy; /* by what calls work on: in place of groups and callers; NULL: by who calls */
};

/* first_calls is borrowed, and asked if the options say so. NULL: no memory. */
struct grouping_table *grouping_table_create(const struct layout *layout,
                                             const struct aggstats_grouping_options *options,
                                             struct first_calls *first_calls);

/* NULL is fine. */
void grouping_table_destroy(struct grouping_table *table);

void grouping_table_count(struct grouping_table *table, const struct queued_call *call);

/* The callers, or objects, to be asked for by now; all: objects also earlier. Returns how many */
unsigned grouping_table_due(const struct grouping_table *table, bool all, uint64_t ret_keys[CALLERS_MAX]);

/* An object has been asked for, as heavy_note(). */
void grouping_table_note_name(struct grouping_table *table, uint64_t object, bool is_known, const char *name);

/* As heavy_guess(). */
void grouping_table_guess_name(struct grouping_table *table, uint64_t object, const char *name);

/* A caller has been asked for. identity: NULL: it is gone */
void grouping_table_note(struct grouping_table *table, uint64_t key, const struct aggstats_identity *identity);

/* Nobody has called yet. */
void grouping_table_reset(struct grouping_table *table);

/* As grouping_show() and grouping_end_marks(). Where groups have names only, callers who have none yet when they are
 * marked stay among the others. */
int grouping_table_show(struct grouping_table *table, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                        struct aggstats_profile *profile);
void grouping_table_end_marks(struct grouping_table *table, bool take);

#endif

/* Private: which group each caller belongs to, and when to check that again: a process may take another name
 * (execve(2)), and a number may be used anew.
 *
 * Until it is known who a caller is, it keeps its calls itself. A bounded memory: a caller that has been displaced is
 * found out anew. Not thread-safe; see grouping.h. */
#ifndef CALLERS_H
#define CALLERS_H

#include "group_profiles.h"

#define CALLERS_SETS 256U
#define CALLERS_WAYS 16U
#define CALLERS_MAX (CALLERS_SETS * CALLERS_WAYS)

struct caller {
    bool is_used;
    uint64_t key;
    struct group *group;  /* NULL: it is not known who it is */
    struct group pending; /* its calls until then; made when first needed. Its identity is what is known so far */
    bool has_called;      /* since it was last checked */
    bool is_gone;         /* as was found then */
    uint64_t seen;        /* as struct group's */
    int64_t check_ns;
    int64_t check_interval_ns;
};

struct callers {
    unsigned op_count;
    struct caller sets[CALLERS_SETS][CALLERS_WAYS];
};

void callers_finish(struct callers *callers);

/* NULL: not known. */
struct caller *callers_find(struct callers *callers, uint64_t key);

/* Where a caller that is not known can go: a free place, or that of the one in its set that was seen least recently,
 * whose calls must be taken from it first; rather of one who is known. */
struct caller *callers_place(struct callers *callers, uint64_t key);

/* Puts a new caller there. It is to be checked now. Errors: -ENOMEM; the place is free then */
int callers_put(struct callers *callers, struct caller *place, uint64_t key, int64_t now_ns);

/* After it was checked: the next time is later the longer it has been known, a second at most. */
void callers_set_next_check(struct caller *caller, int64_t now_ns);

/* The group is no more: who was in it is not known. */
void callers_forget(struct callers *callers, const struct group *group);

/* The callers that are to be checked by now, because they have called since the last time. Returns how many */
unsigned callers_due(const struct callers *callers, int64_t now_ns, uint64_t ret_keys[CALLERS_MAX]);

#endif

/* Private: which group each caller belongs to, and when to check that again: a process may change its name (execve(2)),
 * and a number may be reused.
 *
 * Until a caller is identified its entry keeps its calls. A bounded memory: a caller that was displaced is identified
 * again. Not thread-safe; see grouping.h. */
#ifndef CALLERS_H
#define CALLERS_H

#include "group_profiles.h"

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

struct callers {
    unsigned op_count;
    struct caller sets[CALLERS_SETS][CALLERS_WAYS];
};

void callers_finish(struct callers *callers);

/* NULL: unknown. */
struct caller *callers_find(struct callers *callers, uint64_t key);

/* The place for a new caller: a free place in its set, or the place of the least recently seen caller. The caller of
 * this function must first take over the calls of the displaced caller. Identified callers are displaced first. */
struct caller *callers_place(struct callers *callers, uint64_t key);

/* Puts a new caller there, to be checked now. Errors: -ENOMEM; the place is free then */
int callers_put(struct callers *callers, struct caller *place, uint64_t key, int64_t now_ns);

/* Call after a check: the longer the caller is known, the later the next check, a second at most. */
void callers_set_next_check(struct caller *caller, int64_t now_ns);

/* The group is deleted: its callers are unknown now. */
void callers_forget(struct callers *callers, const struct group *group);

/* The callers to check now, because they have called since the last time. Returns how many */
unsigned callers_due(const struct callers *callers, int64_t now_ns, uint64_t ret_keys[CALLERS_MAX]);

#endif

/* Private: which group each caller belongs to, and when to look again: a process may take another name (execve(2)), and
 * a number may be used anew.
 *
 * A bounded memory: a caller that has been displaced is found out anew. Not thread-safe; see grouping.h. */
#ifndef CALLERS_H
#define CALLERS_H

#include "groups.h"

#define CALLERS_SETS 256U
#define CALLERS_WAYS 4U
#define CALLERS_MAX (CALLERS_SETS * CALLERS_WAYS)

struct caller {
    uint32_t number;
    struct group *group; /* NULL: the place is free */
    bool is_identified;
    bool has_called; /* since it was last looked at */
    uint64_t seen;   /* as struct group's */
    int64_t check_ns;
    int64_t check_interval_ns;
};

struct callers {
    struct caller sets[CALLERS_SETS][CALLERS_WAYS];
};

/* NULL: not known. */
struct caller *callers_find(struct callers *callers, uint32_t number);

/* Remembers a caller that is not; another may be displaced. It is to be looked at now. */
struct caller *callers_add(struct callers *callers, uint32_t number, struct group *group, int64_t now_ns);

/* After it was looked at: the next time is later the longer it has been known, a second at most. */
void callers_set_next_check(struct caller *caller, int64_t now_ns);

/* The group is no more. */
void callers_forget(struct callers *callers, const struct group *group);

/* The callers that are to be looked at by now, because they have called since the last time. Returns how many */
unsigned callers_due(const struct callers *callers, int64_t now_ns, uint32_t ret_numbers[CALLERS_MAX]);

#endif

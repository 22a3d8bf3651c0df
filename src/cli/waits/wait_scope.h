/* Whose waits are looked at, as options say it. */
#ifndef WAIT_SCOPE_H
#define WAIT_SCOPE_H

#include "attach_processes.h"
#include "containers.h"
#include "wait_view.h"

struct wait_scope {
    const struct attach_processes *processes; /* count 0: all */
    struct attach_cgroup cgroup;
    char *whose; /* "process 4711 (postgres)"; NULL: of all of the machine */
};

/* cgroup: as for attach_cgroup_find(); NULL: all
 * Owner:   the caller finishes *ret_scope; processes must outlive it
 * Errors:  reported to the user */
int wait_scope_find(const struct attach_processes *processes, const char *cgroup, struct wait_scope *ret_scope);
void wait_scope_finish(struct wait_scope *scope);

/* What may be given for --by. */
#define WAIT_BY_WORDS "program", "process", "thread", "cgroup",

/* word: one of these; NULL: nobody */
enum wait_by wait_by_of_word(const char *word);

#endif

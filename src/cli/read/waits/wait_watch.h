/* Watches what threads wait for: all of the machine, some processes with their descendants, or a control group. */
#ifndef WAIT_WATCH_H
#define WAIT_WATCH_H

#include "attach_processes.h"
#include "containers.h"
#include "lock_watch.h"
#include "wait_cgroups.h"
#include "wait_holders.h"
#include "wait_view.h"

/* The threads whose waits are looked at, by the options. */
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

struct wait_watch {
    struct waits *waits;
    struct thread_causes table;
    struct wait_causes *causes;
    struct wait_cgroups *cgroups;
    struct wait_holders *holders;
    struct wait_sums sums;
    struct lock_watch *locks; /* NULL: not looked at; else the watch destroys it */
    int64_t begin_ns;         /* of the monotonic clock; of the last mark */
    int64_t read_ns;          /* when it was read last */
    uint64_t unseen;          /* waits of what is watched whose ends the kernel did not report */
};

/* processes: those that are watched, with their descendants; cgroup must outlive the watch
 * Owner:   the caller finishes *ret_watch
 * Errors:  reported to the user */
int wait_watch_start(const struct attach_processes *processes, const struct attach_cgroup *cgroup,
                     struct wait_watch *ret_watch);

/* Which locks of the kernel they fight for, too; owners are known from then on. Errors: reported to the user */
int wait_watch_locks(struct wait_watch *watch);

void wait_watch_finish(struct wait_watch *watch);

/* Adds what has happened since the last time. Call often enough: the kernel has room for 65,536 kinds of waits.
 * Errors:  those of bpf(2) */
int wait_watch_read(struct wait_watch *watch);

/* The same, and looks for the holders of what is waited for now, for pages that show them. Reads /proc. */
int wait_watch_read_with_holders(struct wait_watch *watch);

/* Since the last mark. Owner and errors: as wait_view_make() */
int wait_watch_view(struct wait_watch *watch, enum wait_by by, struct wait_view *ret_view);
void wait_watch_mark(struct wait_watch *watch);

/* Waits that were not counted. */
struct waits_losses wait_watch_lost(const struct wait_watch *watch);

#endif

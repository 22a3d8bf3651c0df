/* What a preloaded object knows of the run that it is part of, from one variable of the environment:
 *
 *     OSPROF_POSIX=CLOCK LIVE//DIRECTORY//DIRECTORY...    without the blank
 *
 * CLOCK is the number of the clock's kind, LIVE the path of the shared live file; all paths are absolute and have no
 * doubled slashes. Without it everything passes through. The live file is joined at the first call that counts, so a
 * process that has none costs nothing.
 *
 * All functions keep errno, may be called in signal handlers and before constructors, and take no lock. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats.h"
#include "below.h"

#define PRELOAD_VARIABLE "OSPROF_POSIX"

enum preload_state {
    PRELOAD_NOT_STARTED, /* nobody has called yet; constructors of other objects may be first */
    PRELOAD_STARTING,
    PRELOAD_OFF,
    PRELOAD_ON, /* there is a run to be part of */
};

struct preload {
    struct aggstats_recorder *recorder; /* atomic; NULL: not joined */
    const pid_t *pid;                   /* whose memory this is; 0: not known yet. NULL: never known */
    uint32_t clock_kind;
    int state; /* atomic; enum preload_state */
};

extern struct preload preload;

/* Set while this thread is in code of our own, whose calls do not count. */
extern AGGSTATS_THREAD_LOCAL bool preload_is_inside;

/* The operations that the live file must have. */
struct preload_ops {
    const char *const *names;
    unsigned count;
    unsigned starved_note; /* what a process adds one to that has missed calls before it could join */
};

/* Reads the environment, once. Returns whether there is a run; for other threads, meanwhile, there is none. */
bool preload_start(void);

/* Whether there is a run, and this call is not one of our own. */
static inline bool preload_looks(void) {
    int state = __atomic_load_n(&preload.state, __ATOMIC_ACQUIRE);
    return (state == PRELOAD_ON || (state == PRELOAD_NOT_STARTED && preload_start())) && !preload_is_inside &&
           !aggstats_shared_is_inside;
}

/* Joins the live file, if that is not done. False: it cannot be joined, and from now on everything passes through; but
 * who lacks descriptors or memory now may join later. */
bool preload_join(const struct preload_ops *ops);

/* From now on everything passes through. */
void preload_stop(void);

/* Whether this process is the one whose memory this is, and not a child of vfork(2), which has its parent's memory but
 * its own descriptors and current directory. */
bool preload_owns_memory(void);

/* The number of the process whose memory this is, as far as that is known; else 0. */
static inline pid_t preload_pid(void) {
    return preload.pid ? *preload.pid : 0;
}

/* Where a path is, seen from all directories: the nearest counts. */
enum below_place preload_place_of(const char *base, const char *path);

/* So many bytes at the beginning of a path are enough to see where it is. */
size_t preload_prefix_bytes(void);

#endif

/* The run that observes a process. A preloaded object learns about the run from one variable of the environment:
 *
 *     OSPROF_POSIX=CLOCK [LETTER[NUMBER]]... LIVE//DIRECTORY//DIRECTORY...    without the blanks
 *
 * CLOCK is the number of the clock's kind, LIVE the path of the shared live file. All paths are absolute and have no
 * doubled slashes. Without the variable everything passes through. Letters say which files count (scope.h):
 *
 *     a        all; no directories follow, which else must
 *     e        files of any kind
 *     dNUMBER  files on the device of major number 0 and this minor number, without asking the kernel
 *     pNUMBER  no files on that device
 *
 * A preloaded object keeps only memory in the program: no descriptor, thread or handler, and takes no lock that a fork
 * could leave locked. So all processes of a run count in one live file (aggstats/shared.h). Each process joins the file
 * when it begins, as later it may have another user or another root directory. A word in a block of counters names the
 * thread that owns the block; when this thread has ended, the block is free. State that a child of fork must initialise
 * again is in memory that the kernel zeroes for the child (wiped_page.h). A child of vfork shares the memory, and only
 * removes knowledge about descriptors. The call of a cancelled thread is ended by its unwinding (unwind.c).
 *
 * All functions keep errno, may be called in signal handlers and before constructors, and take no lock. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats.h"
#include "aggstats/shared_groups.h"
#include "wrapper.h"

#define PRELOAD_VARIABLE "OSPROF_POSIX"

enum preload_state {
    PRELOAD_NOT_STARTED, /* no call yet; constructors of other objects may run first */
    PRELOAD_STARTING,
    PRELOAD_OFF,
    PRELOAD_ON,       /* this process is observed by a run */
    PRELOAD_STILL,    /* this process is not observed any more; programs that it executes may be */
    PRELOAD_FILTERED, /* the process has forbidden itself system calls: nor are programs that it executes observed */
};

struct preload {
    struct aggstats_recorder *recorder; /* atomic; NULL: not joined */
    const pid_t *pid;                   /* of the process that owns this memory; 0: unknown yet. NULL: never known */
    unsigned groupings;                 /* of the live file, as bits; valid once joined */
    bool may_share_memory;              /* atomic; of a process that never has, all memory is its own */
    uint32_t clock_kind;
    int state; /* atomic; enum preload_state */
};

extern struct preload preload;

/* The groupings for which calls have subjects. */
#define PRELOAD_OBJECT_GROUPINGS (1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_FILESYSTEM)

/* Set while this thread is in code of our own, whose calls do not count. */
extern AGGSTATS_THREAD_LOCAL bool preload_is_inside;

/* The operations that the live file must have. */
struct preload_ops {
    const char *const *names;
    unsigned count;
    const char *mark;      /* by which osprof knows that the library is its own */
    unsigned awaited_note; /* decremented by a process that joins */
    unsigned starved_note; /* incremented by a process that missed calls before it could join */
};

/* Reads the environment, once. Returns whether there is a run; other threads see none meanwhile. */
bool preload_start(void);

static inline bool preload_is_on(void) {
    return __atomic_load_n(&preload.state, __ATOMIC_ACQUIRE) == PRELOAD_ON;
}

/* True if there is a run, and this call is not one of our own. */
static inline bool preload_looks(void) {
    int state = __atomic_load_n(&preload.state, __ATOMIC_ACQUIRE);
    return wrapper_has_thread() && (state == PRELOAD_ON || (state == PRELOAD_NOT_STARTED && preload_start())) &&
           !preload_is_inside && !aggstats_shared_is_inside;
}

/* Joins the live file. Returns false if that fails: everything passes through from now on. But if only descriptors or
 * memory were lacking, a later call may join. */
bool preload_join_now(const struct preload_ops *ops);

/* The same, unless that is done. */
static inline bool preload_join(const struct preload_ops *ops) {
    return __builtin_expect(__atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE) != NULL, 1) || preload_join_now(ops);
}

/* Of the live file, if there is a run. */
const char *preload_live_path(void);

/* If there is a run, everything passes through from now on. state: PRELOAD_STILL, or later PRELOAD_FILTERED */
void preload_leave(enum preload_state state);

/* Asks the kernel whether this process owns its memory, and notes its number if it does. */
bool preload_ask_owner(void);

/* True if this process owns its memory. False in a child of vfork(2), which has its parent's memory but its own
 * descriptors and current directory. */
static inline bool preload_owns_memory(void) {
    return !__atomic_load_n(&preload.may_share_memory, __ATOMIC_RELAXED) || preload_ask_owner();
}

/* Call before a process is made that shares this memory. A child without a thread area may call it (wrapper.h). */
void preload_share_memory(void);

/* Asks who this process is. Keeps errno */
unsigned preload_find_caller(void);

/* The number of this process, or its program, for groups; 0 if unknown. Behind the process's number is this one plus 1;
 * 0: not asked for yet. */
static inline unsigned preload_caller(void) {
    const pid_t caller = preload.pid ? preload.pid[1] : 1;
    return __builtin_expect(caller != 0, 1) ? (unsigned)caller - 1 : preload_find_caller();
}

/* The number of the process that owns this memory; 0 if unknown. */
static inline pid_t preload_pid(void) {
    if (__builtin_expect(preload.pid && *preload.pid == 0, 0))
        preload_ask_owner(); /* in a child of fork(2) */
    return preload.pid ? *preload.pid : 0;
}

#endif

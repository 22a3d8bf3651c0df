/* What other processes read from storage and write to it while the command runs, by the kernel's sums for each of them
 * (proc_pid_io(5)). An ordinary user sees only those of his own processes. */
#ifndef RUN_OTHERS_H
#define RUN_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats.h"

enum run_way { RUN_READ, RUN_WRITTEN, RUN_WAYS };

/* The sums of all processes at one time. */
struct run_look;

/* Looks, in a thread of its own: the kernel may make a reader wait. Returns NULL if that is not possible */
struct run_look *run_look_start(void);

/* Waits until it is done, at most a second.
 * Owner:   the caller finishes it; if it is not done, it is lost, and the result is NULL */
struct run_look *run_look_wait(struct run_look *look);
void run_look_finish(struct run_look *look);

/* A process, and what it has read or written between two looks, or since it started. */
struct run_other {
    uint64_t pid;
    uint64_t bytes;
    bool has_children; /* the sum may be that of its children, which it has waited for */
    char program[AGGSTATS_PROGRAM_SIZE];
};

#define RUN_OTHERS_MAX 8

/* Those with the most bytes, by descending bytes. */
struct run_others {
    struct run_other others[RUN_OTHERS_MAX];
    size_t count;
};

/* Finds them. The kernel's threads, init, and our own children are not among them.
 * begun_ns: by CLOCK_BOOTTIME: processes that have started since then count from their start */
void run_others_find(const struct run_look *first, const struct run_look *second, int64_t begun_ns, enum run_way way,
                     struct run_others *ret_others);

/* True if it has a file open on that file system, or is in a directory there. */
bool run_other_is_on(const struct run_other *other, dev_t device);

#endif

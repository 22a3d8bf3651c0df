/* Who holds what a thread waits for: the holder of a file lock, the process that serves or the server that exports a
 * file system, the other end of a pipe, the disk; and what that one waits for, as a chain.
 *
 * Everything is read from /proc and /sys. No file of a watched file system is opened or asked for its attributes, so
 * nothing here waits for one. What is not known is left out. */
#ifndef HOLDERS_H
#define HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats.h"
#include "aggstats/slow.h"
#include "causes.h"
#include "thread_cause.h"

/* A lock of the kernel, from a program that watches these. */
struct holders_kernel_lock {
    uint64_t owner; /* the number of its thread, as of gettid(2); 0: unknown */
    char function[CAUSE_FUNCTION_SIZE];
};

/* Finds the lock of the kernel for which a thread waits. Returns false if it waits for none
 * Threads: that of holders_find() */
typedef bool (*holders_kernel_lock_fn)(void *context, uint64_t thread, struct holders_kernel_lock *ret_lock);

struct holders_options {
    const struct thread_causes *causes;
    /* Look for holders in the descriptors of all processes: up to some 100 ms on a large machine. Without it ends of
     * pipes, FUSE daemons and holders of locks by descriptions are not found. */
    bool may_scan;
    holders_kernel_lock_fn find_kernel_lock; /* NULL: none is known */
    void *kernel_lock_context;
};

struct holders_waiter {
    uint64_t process;
    uint64_t thread;
    const struct thread_reading *reading; /* its cause and stack; NULL: is read. Owner: the caller */
    dev_t device;                         /* of the file system that its call is on; 0: unknown, is read if possible */
    const char *path;                     /* of the call's file; NULL: the same. Owner: the caller */
};

/* Reads the chain of holders that the waiter waits for. If a process ends meanwhile, the chain ends before it.
 * Returns true if it says more than the waiter's own cause
 * Threads: any. May wait for a moment to find out whether a thread runs */
bool holders_find(const struct holders_options *options, const struct holders_waiter *waiter,
                  struct aggstats_chain *ret_chain);

/* ---- As the recorder's watcher of slow calls asks for causes and holders ------------------------ */

struct slow_holders {
    const struct thread_causes *causes; /* borrowed */
    int64_t next_ns;                    /* put off until then, by CLOCK_MONOTONIC; 0 at first */
};

/* An aggstats_cause_fn, for threads of this process and others; context: a struct slow_holders. */
bool slow_holders_look(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

/* Finds the holder for a thread that has been read, if that is wanted; of a thread that has changed its wait since, none
 * is found. It takes at most about a tenth of a CPU: a machine with many processes or mounts is looked at less often.
 * device: of the file system that the call is on; 0: unknown, is read if possible */
void slow_holders_find(struct slow_holders *holders, const struct aggstats_look *look,
                       const struct thread_reading *reading, dev_t device, struct aggstats_wait *wait);

#endif

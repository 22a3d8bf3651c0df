/* What is asked of who waits for whom; the answer is a struct aggstats_chain. */
#ifndef HOLDERS_CHAIN_H
#define HOLDERS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
    bool
        may_scan; /* look for holders in the descriptors of all processes: up to some 100 ms on a large machine. Without
                    * it ends of pipes, FUSE daemons and holders of locks by descriptions are not found */
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

#endif

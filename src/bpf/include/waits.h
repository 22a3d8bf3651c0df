/* Waits of all threads of the machine, counted in the kernel, by the kernel functions in which a thread waits. Kernel
 * threads and threads of this process are not counted. The kernel detaches the programs when this process ends, even if
 * it is killed.
 *
 * Needs what the collector needs (collector.h), and is not for a PID namespace of its own. */
#ifndef WAITS_H
#define WAITS_H

#include <stdint.h>

#include "collector.h"
#include "waited.h"

struct waits; /* opaque */

/* of: only waits of these processes and their descendants count
 * Owner:   the caller finishes *ret_waits
 * Errors:  -errno, with *ret_why filled: a clause, for the user; nothing is attached then */
int waits_start(const struct process_numbers *of, struct waits **ret_waits, char ret_why[COLLECTOR_WHY_SIZE]);

/* Since when waits count, of the monotonic clock. */
int64_t waits_begin_ns(const struct waits *waits);

/* Receives the sum of ended waits of one thread in one place. */
typedef void waits_ended_fn(void *context, const struct waited_cell *cell, const struct waited_sum *sum);

/* Receives a thread that is waiting now. */
typedef void waits_now_fn(void *context, const struct waiting_now *now);

struct waits_readers {
    waits_ended_fn *ended;
    waits_now_fn *now; /* NULL: not wanted */
    void *context;
};

/* Calls the readers for all waits that have ended since the last time, each once; and for each thread that waits now.
 * Errors:  those of bpf(2) and read(2); what could not be read is read the next time, or lost
 * Threads: one at a time */
int waits_read(struct waits *waits, const struct waits_readers *readers);

/* The functions of a stack, the innermost first, a line each: for kernel_stack_parse(). Known for stacks that were used
 * lately.
 * Owner:   the caller frees *ret_functions
 * Errors:  -ENOENT, -ENOMEM, those of bpf(2)
 * Threads: one at a time */
int waits_name_stack(struct waits *waits, uint64_t number, char **ret_functions);

/* What was not counted. */
struct waits_losses {
    uint64_t no_room;   /* waits: the kernel had no room for them */
    uint64_t skipped;   /* times that a program was not run, for its CPU was in it already: each may have lost a wait */
    uint64_t processes; /* descendants of watched processes that are not watched: there was no room for them */
    uint64_t unseen;    /* waits: the kernel did not report their ends; 0 here, as they are in cells of WAITED_UNSEEN */
};

/* Threads: any */
struct waits_losses waits_lost(const struct waits *waits);

/* NULL is fine. */
void waits_finish(struct waits *waits);

#endif

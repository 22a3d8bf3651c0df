/* Contention of the kernel's locks by all threads of the machine, counted in the kernel. Kernel threads, threads of
 * this process, and waits that had begun before are not counted. The kernel detaches the programs when this process
 * ends, even if it is killed.
 *
 * Needs what the collector needs (collector.h), and Linux 5.19. */
#ifndef LOCKS_H
#define LOCKS_H

#include <stdint.h>

#include "locked.h"
#include "waits.h"

struct locks; /* opaque */

/* beside: only fights of the processes that it watches count; NULL: of all
 * Owner:   the caller finishes *ret_locks; beside must outlive it
 * Errors:  -errno, with *ret_why filled: a clause, for the user; nothing is attached then */
int locks_start(const struct waits *beside, struct locks **ret_locks, char ret_why[COLLECTOR_WHY_SIZE]);

/* A thread that is asleep for a lock now. */
typedef void locks_now_fn(void *context, const struct locked_now *now);

/* Of a cell the kind is an enum locked_kind. Who span and was asleep in one fight is in a cell of each. */
struct locks_readers {
    waits_ended_fn *ended;
    locks_now_fn *now; /* NULL: not wanted */
    void *context;
};

/* As waits_read(). */
int locks_read(struct locks *locks, const struct locks_readers *readers);

/* As waits_name_stack(). The innermost functions are those of the lock, and of the tracepoint. */
int locks_name_stack(struct locks *locks, uint64_t number, char **ret_functions);

/* Fights that were not counted. Threads: any */
struct waits_losses locks_lost(const struct locks *locks);

/* NULL is fine. */
void locks_finish(struct locks *locks);

#endif

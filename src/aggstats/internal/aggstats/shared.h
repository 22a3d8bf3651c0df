/* libaggstats, inside this project: a live file in which any number of processes count, one after the other and at once.
 *
 * Whoever makes it has a recorder of aggstats_recorder_create_shared(), and reads what all have counted with
 * aggstats_live_read(): its own snapshots show what its own threads have counted. Each thread that counts has a block
 * of the file, which is the next thread's, of whatever process, when it has ended, be it by exec or SIGKILL. So the
 * file grows with the threads that there are at one time, not with all that there have been. */
#ifndef AGGSTATS_SHARED_H
#define AGGSTATS_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats/recorder.h"

#define AGGSTATS_SHARED_THREADS_MAX 65536U

/* As aggstats_recorder_create(), with a live file in which so many threads of other processes, at one time, may count.
 * shared_threads: 1..AGGSTATS_SHARED_THREADS_MAX */
int aggstats_recorder_create_shared(const struct aggstats_recorder_options *options, uint64_t shared_threads,
                                    struct aggstats_recorder **ret_recorder);

/* Counts in a shared live file from now on. It must have these operations, in this order. The calling thread has room
 * there at once, other threads from their first calls on.
 * Owner:   the process, for as long as it lives. The recorder may be given to aggstats_begin(), aggstats_end(),
 *          aggstats_end_with(), aggstats_count() and aggstats_recorder_note(), and to nothing else
 * Errors:  -EBADMSG not such a file, those of opening and mapping it, -ENOMEM
 * Fork:    a child, however it is made, counts in the file as a process of its own. It and all new threads need the
 *          file's path then; a thread that does not get to it counts for nothing, and the file says that it is
 *          incomplete
 * Files:   none stays open
 * Signals: not in a handler */
int aggstats_recorder_join(const char *live_path, const char *const *op_names, unsigned op_count,
                           struct aggstats_recorder **ret_recorder);

/* Set while this thread makes calls of the library's own to get to its block, in its first call that counts: who stands
 * before libc's functions must not count these, or they would come here again. */
extern AGGSTATS_THREAD_LOCAL bool aggstats_shared_is_inside;

/* Adds to a number in the shared file, whose meaning is its users'. note: below AGGSTATS_NOTES. Threads: any */
void aggstats_recorder_note(struct aggstats_recorder *recorder, unsigned note, uint64_t more);

/* Of the file's maker: a call in flight of a thread that has ended in it, as by exec or SIGKILL, is not shown any more.
 * It stays counted, and never ends.
 * Threads: any */
void aggstats_recorder_forget_dead(struct aggstats_recorder *recorder);

#endif

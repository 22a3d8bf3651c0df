/* libaggstats, inside this project: a live file in which any number of processes count, one after the other and at
 * once.
 *
 * The process that makes it has a recorder of aggstats_recorder_create_shared(), and reads all counts with
 * aggstats_live_read(): its own snapshots show only its own threads. Each thread that counts has a block of the file.
 * When it has ended, also by exec or SIGKILL, the next thread of any process takes the block over. So the file grows
 * with the largest number of threads at one time, not with the number of all threads. */
#ifndef AGGSTATS_SHARED_H
#define AGGSTATS_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats/live.h"
#include "aggstats/recorder.h"

#define AGGSTATS_SHARED_THREADS_MAX 65536U

/* Notes: processes with calls that were not counted, as they could not open the file. */
#define AGGSTATS_NOTE_MISSING (AGGSTATS_NOTES - 2U) /* there is no such file in their directories */
#define AGGSTATS_NOTE_DENIED (AGGSTATS_NOTES - 1U)  /* they may not */

/* As aggstats_recorder_create(), with a live file in which that many threads of other processes may count at one time.
 * shared_threads: 1..AGGSTATS_SHARED_THREADS_MAX */
int aggstats_recorder_create_shared(const struct aggstats_recorder_options *options, uint64_t shared_threads,
                                    struct aggstats_recorder **ret_recorder);

/* From now on counts in a shared live file. It must have these operations, in this order. The calling thread gets a
 * block at once, other threads get one at their first calls.
 * Owner:   the process, for as long as it lives. The recorder may be passed to aggstats_begin(), aggstats_end(),
 *          aggstats_end_with() and aggstats_recorder_note(), to those of aggstats/watched.h, and to nothing else
 * Errors:  -EBADMSG not such a file, those of opening and mapping it, -ENOMEM
 * Fork:    a child, however it is made, counts in the file as a process of its own. It and all new threads need the
 *          file's path then. Calls of a thread that cannot open it are not counted, and the file has a note of the
 *          process, or says that it is incomplete
 * Files:   none stays open
 * Signals: not in a handler */
int aggstats_recorder_join(const char *live_path, const char *const *op_names, unsigned op_count,
                           struct aggstats_recorder **ret_recorder);

/* Set while this thread, in its first call that counts, makes calls for the library itself to get its block. Wrappers
 * of libc's functions must not count these, or they would recurse. */
extern AGGSTATS_THREAD_LOCAL bool aggstats_shared_is_inside;

/* Adds to a number in the shared file, whose meaning is up to its users, except for the last two. It wraps around.
 * note:    below AGGSTATS_NOTES
 * Threads: any */
void aggstats_recorder_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more);

/* For the process that made the file: how many threads have a call in flight. It may be one that turns out not to
 * count (aggstats/watched.h).
 * Threads: any; takes a few ns for each block, and a system call only if there are more blocks than ever before */
unsigned aggstats_recorder_shared_in_flight(struct aggstats_recorder *recorder);

/* For the process that made the file: calls in flight of threads that have ended in them, as by exec or SIGKILL, are
 * not shown any more. They stay counted, and never end.
 * Threads: any */
void aggstats_recorder_forget_dead(struct aggstats_recorder *recorder);

#endif

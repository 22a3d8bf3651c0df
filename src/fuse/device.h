/* Reading requests from the FUSE device and writing answers to it, in libfuse's place: to see when an answer goes. */
#ifndef DEVICE_H
#define DEVICE_H

#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdint.h>

struct crew_member;

/* The session's user data is a struct glue.
 * Errors: -ENOMEM. Call after mounting, before the first request is received */
int device_attach(struct fuse_session *fuse);

/* Notes from now on when this thread answers, by that clock (enum aggstats_clock_kind), and tells worker (crew.h). */
void device_watch_answers(uint32_t clock_kind, struct crew_member *worker);

/* When this thread last answered since the call before; 0: it did not.
 * Unit: cycles of the clock */
uint64_t device_take_answer_time(void);

/* ---- Answers out of a pipe ----
 *
 * For large reads: the data is spliced into a pipe of this thread, behind the answer's header, and from there to the
 * kernel. Between begin and one of the others the pipe belongs to the caller. Threads: any, each has its own */

/* Returns the end to splice size_bytes into, with room for them; -1 if there is none, or not enough. */
int device_pipe_begin(uint64_t request, size_t size_bytes);

/* Answers the request with what is in the pipe: all of the size given to begin. */
void device_pipe_answer(struct fuse_session *fuse);

/* What is in the pipe, data_bytes behind the header, goes to memory instead. False if that fails, discarded then. */
bool device_pipe_take(void *memory, size_t data_bytes);

/* The pipe is used no more, whatever is in it. */
void device_pipe_discard(void);

#endif

/* Answers out of a pipe, for large reads: the data is spliced into a pipe of this thread, behind the answer's header,
 * and from there to the FUSE device. Between begin and one of the others the pipe belongs to the caller.
 * Threads: any, each has its own */
#ifndef PIPE_ANSWER_H
#define PIPE_ANSWER_H

#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the end to splice size_bytes into, with room for them; -1 if there is none, or not enough. */
int pipe_answer_begin(uint64_t request, size_t size_bytes);

/* Answers the request with what is in the pipe: all of the size given to begin. */
void pipe_answer_send(struct fuse_session *fuse);

/* What is in the pipe, data_bytes behind the header, goes to memory instead. False if that fails, discarded then. */
bool pipe_answer_take(void *memory, size_t data_bytes);

/* The pipe is used no more, whatever is in it. */
void pipe_answer_discard(void);

#endif

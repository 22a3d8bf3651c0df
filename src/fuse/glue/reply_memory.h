/* What each thread has for replies: a buffer, and a pipe for large ones. */
#ifndef REPLY_MEMORY_H
#define REPLY_MEMORY_H

#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdint.h>

/* This thread's memory for one reply, of at least that size, aligned to a page; NULL without memory.
 * Threads: any; valid until the next call in the same thread */
void *reply_buffer_get(size_t size_bytes);

/* ---- Pipes ----
 *
 * Answers to large reads (64 KiB and more), through a pipe. Inside the timed operation, references to the lower file's
 * pages are spliced into this thread's pipe, behind the header of an answer that assumes that the read will be
 * complete. The reply is then one splice from the pipe to the FUSE device. Only the copy into the kernel's own pages
 * remains, and it is outside of READ's latency. If the read ends early, at the end of the file, the data is taken out
 * of the pipe again. Between begin and one of the others the pipe belongs to the caller.
 * Threads: any, each has its own */

/* Returns the pipe's end to splice size_bytes into; -1 if there is no pipe with enough room. */
int pipe_answer_begin(uint64_t request, size_t size_bytes);

/* Answers the request with the contents of the pipe, which must have the size given to begin. */
void pipe_answer_send(struct fuse_session *fuse);

/* Reads the data_bytes behind the header into memory instead. Returns false on failure; the pipe is discarded then. */
bool pipe_answer_take(void *memory, size_t data_bytes);

/* Closes the pipe, whatever is in it. */
void pipe_answer_discard(void);

#endif

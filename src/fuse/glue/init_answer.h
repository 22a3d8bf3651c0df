/* libfuse's answer to INIT. */
#ifndef INIT_ANSWER_H
#define INIT_ANSWER_H

#include <sys/types.h>
#include <sys/uio.h>

#include "glue.h"

#ifdef HAVE_FUSE_KILLPRIV_V2

/* This libfuse knows all features that we request from the kernel. */
static inline void init_answer_look(const struct glue *glue, const void *request, ssize_t size_bytes) {
    (void)glue, (void)request, (void)size_bytes;
}
static inline void init_answer_complete(const struct iovec *parts, int count) {
    (void)parts, (void)count;
}

#else

/* Call with each request: notes what the kernel offers in INIT. size_bytes: negative if none was received */
void init_answer_look(const struct glue *glue, const void *request, ssize_t size_bytes);

/* Call with each answer: adds to the answer to INIT what this libfuse does not know. */
void init_answer_complete(const struct iovec *parts, int count);

#endif

#endif

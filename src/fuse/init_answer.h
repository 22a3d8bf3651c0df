/* libfuse's answer to INIT. */
#ifndef INIT_ANSWER_H
#define INIT_ANSWER_H

#include <fuse_lowlevel.h>

#ifdef HAVE_FUSE_KILLPRIV_V2

/* libfuse knows whatever the kernel is asked for. */
static inline int init_answer_attach(struct fuse_session *fuse) {
    (void)fuse;
    return 0;
}

#else

/* Lets the answer ask for what this libfuse does not know. The session's user data is a struct glue.
 * Errors: -ENOMEM. Call after mounting, before the first request is received */
int init_answer_attach(struct fuse_session *fuse);

#endif

#endif

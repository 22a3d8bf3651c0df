/* Reading requests from the FUSE device and writing answers to it, in place of libfuse's own functions. */
#ifndef DEVICE_H
#define DEVICE_H

#include <fuse_lowlevel.h>

/* Replaces libfuse's functions, if libfuse supports that; else changes nothing. The session's user data is a struct
 * glue.
 * Errors:  -ENOMEM. Call after mounting, before the first request is received */
int device_attach(struct fuse_session *fuse);

/* Asks the kernel to forget those of these inodes that nobody uses. A kernel before 6.18 has no such request: nothing
 * happens then. The call waits for none of our answers, but may wait for other work of the kernel, so not in a
 * worker. */
void device_ask_to_forget(struct fuse_session *fuse, const fuse_ino_t *inos, size_t count);

#endif

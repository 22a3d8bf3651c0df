/* The device that requests come from and answers go to, in place of libfuse's own way. */
#ifndef DEVICE_H
#define DEVICE_H

#include <fuse_lowlevel.h>

/* Where libfuse lets us; elsewhere all stays as it is. The session's user data is a struct glue.
 * Errors: -ENOMEM. Call after mounting, before the first request is received */
int device_attach(struct fuse_session *fuse);

/* Asks the kernel to forget those of these inodes that nobody uses. Older ones than 6.18 cannot be asked: nothing
 * happens then. Waits for none of our answers, but other work of the kernel may be waited for: not in a worker. */
void device_ask_to_forget(struct fuse_session *fuse, const fuse_ino_t *inos, size_t count);

#endif

/* The device that requests come from and answers go to, in place of libfuse's own way. */
#ifndef DEVICE_H
#define DEVICE_H

#include <fuse_lowlevel.h>

/* Where libfuse lets us; elsewhere all stays as it is. The session's user data is a struct glue.
 * Errors: -ENOMEM. Call after mounting, before the first request is received */
int device_attach(struct fuse_session *fuse);

#endif

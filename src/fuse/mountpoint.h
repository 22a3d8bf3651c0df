/* Our mount among the system's, seen without sending a request to it. */
#ifndef MOUNTPOINT_H
#define MOUNTPOINT_H

#include <sys/types.h>

/* The device number of what is mounted at path. Errors: -errno */
int mountpoint_device(const char *path, dev_t *ret_device);

/* Unmounts path if that device is (still) what is mounted there, lazily: it works while the mount is in use, and
 * after its connection was aborted. 0 when it is gone. */
int mountpoint_unmount(const char *path, dev_t device);

#endif

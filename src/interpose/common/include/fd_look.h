/* What a descriptor is. This asks no file system: that would be a request that the program has not made, and may wait.
 * It uses no functions of libc, since another preloaded object may count them. */
#ifndef FD_LOOK_H
#define FD_LOOK_H

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_call.h"

/* Returns false if there is no such descriptor. Keeps errno.
 * ret_attributes: only the type, the device number, and, if the mask has its bit, the mount are valid */
static inline bool fd_look(int fd, struct statx *ret_attributes) {
    int saved_errno = errno;
    long result =
        own_call(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, ret_attributes);
    errno = saved_errno;
    return result == 0;
}

#endif

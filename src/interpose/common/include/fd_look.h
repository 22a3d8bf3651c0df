/* What a descriptor is. This asks no file system: that would be a request that the program has not made, and may wait.
 * It uses no functions of libc, since another preloaded object may count them. */
#ifndef FD_LOOK_H
#define FD_LOOK_H

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stddef.h>
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

#define FD_PREFIX_MAX 1024 /* for stacks of signal handlers, which may be small */

/* The kernel's path for it, or the beginning of a long one. Returns false if there is none; a socket's is not absolute. May change
 * errno */
static inline bool fd_path(int fd, char *ret_path, size_t size_bytes) {
    static const char directory[] = "/proc/self/fd/";
    char name[sizeof(directory) + 3 * sizeof(fd)];
    char digits[3 * sizeof(fd)];
    size_t count = 0;
    char *to = name;
    for (const char *from = directory; *from;)
        *to++ = *from++;
    do
        digits[count++] = (char)('0' + fd % 10);
    while ((fd /= 10) > 0);
    while (count > 0)
        *to++ = digits[--count];
    *to = '\0';
    long length = own_call(SYS_readlinkat, AT_FDCWD, name, ret_path, size_bytes - 1);
    if (length <= 0 || ret_path[0] != '/')
        return false;
    ret_path[length] = '\0';
    return true;
}

#endif

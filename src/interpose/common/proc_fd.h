/* Private: the kernel's path for a descriptor. */
#ifndef PROC_FD_H
#define PROC_FD_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_call.h"

#define PROC_FD_PREFIX_MAX 1024 /* for stacks of signal handlers, which may be small */

/* The path, or the beginning of a long one. Returns false if there is none; a socket's is not absolute. May change
 * errno */
static inline bool proc_fd_path(int fd, char *ret_path, size_t size_bytes) {
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

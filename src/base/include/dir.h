/* Reading directories. */
#ifndef DIR_H
#define DIR_H

#include <dirent.h>
#include <fcntl.h>

#include "base.h"

static inline void close_dir(DIR **dir) {
    if (*dir)
        closedir(*dir);
}

/* On a local variable: closed when it goes out of scope. */
#define CLEANUP_DIR __attribute__((cleanup(close_dir)))

/* name: relative to dir_fd; "." for the directory itself. Owner: the caller closes it. Returns NULL, with errno */
static inline DIR *open_dir_at(int dir_fd, const char *name) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir)
        steal_fd(&fd);
    return dir;
}

#endif

/* A look-up costs one system call, and a second one for files. */
#include "fd_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_look.h"
#include "proc_fd.h"

unsigned char fd_table[FD_TABLE_SIZE];

void fd_table_remember(int fd, enum fd_state state) {
    if ((unsigned)fd < FD_TABLE_SIZE && preload_owns_memory())
        __atomic_store_n(&fd_table[fd], (unsigned char)state, __ATOMIC_RELAXED);
}

static enum fd_state state_of_place(enum below_place place, const struct preload_ops *ops) {
    if (place == BELOW_INSIDE)
        return preload_join(ops) ? FD_INSIDE : FD_OUTSIDE;
    return place == BELOW_ABOVE ? FD_ABOVE : FD_OUTSIDE;
}

/* Asks the kernel first, so that nothing is remembered of descriptors that do not exist. */
static enum fd_state look_up(int fd, const struct preload_ops *ops) {
    char path[PROC_FD_PREFIX_MAX];
    if (preload_prefix_bytes() >= sizeof(path))
        return FD_OUTSIDE;
    errno = 0;
    if (proc_fd_path(fd, path, preload_prefix_bytes() + 1))
        return state_of_place(preload_place_of("/", path), ops);
    return errno == ENOENT || errno == EACCES ? FD_UNKNOWN : FD_OUTSIDE;
}

/* Sockets and pipes come and go often, and are not remembered. */
static bool is_file(int fd) {
    struct statx attributes;
    return fd_look(fd, &attributes) && !S_ISSOCK(attributes.stx_mode) && !S_ISFIFO(attributes.stx_mode);
}

enum fd_state fd_table_find(int fd, const struct preload_ops *ops) {
    if (!preload_looks() || fd < 0)
        return FD_OUTSIDE;
    int saved_errno = errno;
    enum fd_state state = is_file(fd) ? look_up(fd, ops) : FD_OUTSIDE;
    if (state == FD_UNKNOWN)
        state = FD_OUTSIDE;
    fd_table_remember(fd, state);
    errno = saved_errno;
    return state;
}

enum fd_state fd_table_opened(int fd, const struct preload_ops *ops) {
    if (!preload_looks() || fd < 0)
        return FD_OUTSIDE;
    int saved_errno = errno;
    enum fd_state state = look_up(fd, ops);
    fd_table_remember(fd, state);
    errno = saved_errno;
    return state;
}

void fd_table_copied(int fd, int copy) {
    enum fd_state state =
        (unsigned)fd < FD_TABLE_SIZE ? (enum fd_state)__atomic_load_n(&fd_table[fd], __ATOMIC_RELAXED) : FD_UNKNOWN;
    fd_table_forget(copy);
    if (preload_looks() && state != FD_UNKNOWN)
        fd_table_remember(copy, state);
}

void fd_table_forget(int fd) {
    if ((unsigned)fd < FD_TABLE_SIZE && __atomic_load_n(&fd_table[fd], __ATOMIC_RELAXED) != FD_UNKNOWN)
        __atomic_store_n(&fd_table[fd], FD_UNKNOWN, __ATOMIC_RELAXED);
}

void fd_table_forget_range(unsigned first, unsigned last) {
    for (unsigned fd = first; fd < FD_TABLE_SIZE && fd <= last; fd++)
        fd_table_forget((int)fd);
}

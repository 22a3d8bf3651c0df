/* A look-up costs one system call, and with directories a second one for files. */
#include "fd_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_look.h"
#include "proc_fd.h"
#include "scope.h"

unsigned char fd_table[FD_TABLE_SIZE];

void fd_table_remember(int fd, enum fd_state state) {
    if ((unsigned)fd < FD_TABLE_SIZE && preload_owns_memory())
        __atomic_store_n(&fd_table[fd], (unsigned char)state, __ATOMIC_RELAXED);
}

/* The kernel's path is asked for only if there are directories: that takes eight times as long as the device. */
static enum fd_state state_by_path(int fd) {
    static const enum fd_state states[] = {
        [BELOW_OUTSIDE] = FD_OUTSIDE, [BELOW_ABOVE] = FD_ABOVE, [BELOW_INSIDE] = FD_INSIDE};
    char path[PROC_FD_PREFIX_MAX];
    if (scope_prefix_bytes() >= sizeof(path))
        return FD_OUTSIDE;
    errno = 0;
    if (proc_fd_path(fd, path, scope_prefix_bytes() + 1))
        return states[scope_place_of("/", path)];
    return errno == ENOENT || errno == EACCES ? FD_UNKNOWN : FD_OUTSIDE;
}

static enum fd_state state_by_attributes(int fd, const struct statx *attributes) {
    if (!scope_has_kind(attributes->stx_mode))
        return FD_OUTSIDE;
    if (!scope.has_all)
        return state_by_path(fd);
    return scope_has_device(fd, attributes) ? FD_INSIDE : FD_OUTSIDE;
}

/* With directories the path comes first: most files are elsewhere. */
static enum fd_state state_of_opened(int fd) {
    struct statx attributes;
    if (scope.has_all) {
        if (scope.has_everything)
            return FD_INSIDE;
        return fd_look(fd, &attributes) ? state_by_attributes(fd, &attributes) : FD_UNKNOWN;
    }
    const enum fd_state state = state_by_path(fd);
    const bool is_sure = state != FD_INSIDE || scope.has_everything || !fd_look(fd, &attributes);
    return is_sure || scope_has_kind(attributes.stx_mode) ? state : FD_OUTSIDE;
}

static enum fd_state remember(int fd, enum fd_state state, const struct preload_ops *ops) {
    if (state == FD_INSIDE && !preload_join(ops))
        state = FD_OUTSIDE;
    fd_table_remember(fd, state);
    return state;
}

/* Nothing is remembered of descriptors that do not exist. */
enum fd_state fd_table_find(int fd, const struct preload_ops *ops) {
    struct statx attributes;
    if (!preload_looks() || fd < 0 || !fd_look(fd, &attributes))
        return FD_OUTSIDE;
    int saved_errno = errno;
    enum fd_state state = state_by_attributes(fd, &attributes);
    state = remember(fd, state == FD_UNKNOWN ? FD_OUTSIDE : state, ops);
    errno = saved_errno;
    return state;
}

enum fd_state fd_table_opened(int fd, const struct preload_ops *ops) {
    if (!preload_looks() || fd < 0)
        return FD_OUTSIDE;
    int saved_errno = errno;
    enum fd_state state = remember(fd, state_of_opened(fd), ops);
    errno = saved_errno;
    return state;
}

void fd_table_copied(int fd, int copy) {
    enum fd_state state = fd_table_known(fd);
    fd_table_forget(copy);
    if (preload_looks() && state != FD_UNKNOWN)
        fd_table_remember(copy, state);
}

void fd_table_forget(int fd) {
    if (fd_table_known(fd) != FD_UNKNOWN)
        __atomic_store_n(&fd_table[fd], FD_UNKNOWN, __ATOMIC_RELAXED);
}

void fd_table_forget_range(unsigned first, unsigned last) {
    for (unsigned fd = first; fd < FD_TABLE_SIZE && fd <= last; fd++)
        fd_table_forget((int)fd);
}

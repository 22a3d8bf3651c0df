/* A look-up costs one system call, and with directories a second one for files. */
#include "fd_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_look.h"
#include "scope.h"
#include "subjects.h"

void fd_table_remember(int fd, fd_entry entry) {
    if ((unsigned)fd < FD_TABLE_SIZE && preload_owns_memory())
        __atomic_store_n(&fd_table[fd], entry, __ATOMIC_RELAXED);
}

/* A descriptor is looked at once. */
struct look {
    bool is_done;
    bool has_attributes;
    struct statx attributes;
};

static bool look_at(int fd, struct look *look) {
    if (!look->is_done)
        look->has_attributes = fd_look(fd, &look->attributes);
    look->is_done = true;
    return look->has_attributes;
}

/* The kernel's path is asked for only if there are directories: that takes eight times as long as the device. */
static enum fd_state state_by_path(int fd) {
    static const enum fd_state states[] = {
        [BELOW_OUTSIDE] = FD_OUTSIDE, [BELOW_ABOVE] = FD_ABOVE, [BELOW_INSIDE] = FD_INSIDE};
    char path[FD_PREFIX_MAX];
    if (scope_prefix_bytes() >= sizeof(path))
        return FD_OUTSIDE;
    errno = 0;
    if (fd_path(fd, path, scope_prefix_bytes() + 1))
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

/* With directories the path comes first: most files are elsewhere. ret_look: as far as it was looked at */
static enum fd_state state_of_opened(int fd, struct look *ret_look) {
    if (scope.has_all) {
        if (scope.has_everything)
            return FD_INSIDE;
        return look_at(fd, ret_look) ? state_by_attributes(fd, &ret_look->attributes) : FD_UNKNOWN;
    }
    const enum fd_state state = state_by_path(fd);
    const bool is_sure = state != FD_INSIDE || scope.has_everything || !look_at(fd, ret_look);
    return is_sure || scope_has_kind(ret_look->attributes.stx_mode) ? state : FD_OUTSIDE;
}

/* look, path: as for subjects_of_fd() */
static fd_entry remember(int fd, enum fd_state state, struct look *look, int dir_fd, const char *path,
                         const struct preload_ops *ops) {
    fd_entry entry = state;
    if (state == FD_INSIDE && !preload_join(ops))
        entry = FD_OUTSIDE;
    else if (state == FD_INSIDE && subjects_are_wanted())
        entry |= subjects_of_fd(fd, dir_fd, path, look_at(fd, look) ? &look->attributes : NULL) << FD_STATE_BITS;
    fd_table_remember(fd, entry);
    return entry;
}

/* Nothing is remembered of descriptors that do not exist. */
fd_entry fd_table_find(int fd, const struct preload_ops *ops) {
    struct look look = {.is_done = false};
    if (!preload_looks() || fd < 0 || !look_at(fd, &look))
        return FD_OUTSIDE;
    int saved_errno = errno;
    const enum fd_state state = state_by_attributes(fd, &look.attributes);
    const fd_entry entry = remember(fd, state == FD_UNKNOWN ? FD_OUTSIDE : state, &look, -1, NULL, ops);
    errno = saved_errno;
    return entry;
}

fd_entry fd_table_opened(int fd, int dir_fd, const char *path, const struct preload_ops *ops) {
    struct look look = {.is_done = false};
    if (!preload_looks() || fd < 0)
        return FD_OUTSIDE;
    int saved_errno = errno;
    const fd_entry entry = remember(fd, state_of_opened(fd, &look), &look, dir_fd, path, ops);
    errno = saved_errno;
    return entry;
}

void fd_table_copied(int fd, int copy) {
    const fd_entry entry = fd_table_known(fd);
    fd_table_forget(copy);
    if (preload_looks() && entry != FD_UNKNOWN)
        fd_table_remember(copy, entry);
}

void fd_table_forget(int fd) {
    if (fd_table_known(fd) != FD_UNKNOWN)
        __atomic_store_n(&fd_table[fd], FD_UNKNOWN, __ATOMIC_RELAXED);
}

void fd_table_forget_range(unsigned first, unsigned last) {
    for (unsigned fd = first; fd < FD_TABLE_SIZE && fd <= last; fd++)
        fd_table_forget((int)fd);
}

/* Operations on attributes, of open files or by the node's place. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "base.h"
#include "replay_private.h"

#define VALUE_BYTES_MAX 65536U /* XATTR_SIZE_MAX of the kernel */

#define PROC_PATH_SIZE 64

/* An O_PATH descriptor for a node, and its name in /proc, for calls that take no such descriptor; below 0: lane->reason
 * is set. */
static int open_path(struct replay_lane *lane, const struct replay_op *op, char ret_proc[PROC_PATH_SIZE]) {
    int fd = replay_open_node(lane->replay, op->node, O_PATH);
    if (fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    snprintf(ret_proc, PROC_PATH_SIZE, "/proc/self/fd/%d", fd);
    return fd;
}

/* The descriptor of an operation's open file; -1: it has none. */
static int open_fd(const struct replay_lane *lane, const struct replay_op *op) {
    return op->handle ? lane->replay->handles.at[op->handle].fd : -1;
}

int replay_getattr(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    struct stat attr;
    if (open_fd(lane, op) >= 0)
        return (int)TIMED(lane, fstat(open_fd(lane, op), &attr));
    CLEANUP_FD int fd = open_path(lane, op, proc);
    return fd < 0 ? fd : (int)TIMED(lane, fstat(fd, &attr));
}

int replay_statx(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    struct statx attr;
    int flags = AT_EMPTY_PATH | ((int)op->args[0] & AT_STATX_SYNC_TYPE);
    if (open_fd(lane, op) >= 0)
        return (int)TIMED(lane, statx(open_fd(lane, op), "", flags, (unsigned)op->args[1], &attr));
    CLEANUP_FD int fd = open_path(lane, op, proc);
    return fd < 0 ? fd : (int)TIMED(lane, statx(fd, "", flags, (unsigned)op->args[1], &attr));
}

int replay_access(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    CLEANUP_FD int fd = open_path(lane, op, proc);
    return fd < 0 ? fd : (int)TIMED(lane, faccessat(AT_FDCWD, proc, (int)op->args[0] & 7, AT_EACCESS));
}

int replay_readlink(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    char target[4096];
    CLEANUP_FD int fd = open_path(lane, op, proc);
    if (fd < 0)
        return fd;
    long length = TIMED(lane, readlinkat(fd, "", target, sizeof(target)));
    return length < 0 ? (int)length : 0;
}

int replay_statfs(struct replay_lane *lane, struct replay_op *op) {
    struct statvfs statfs;
    (void)op;
    return (int)TIMED(lane, fstatvfs(lane->replay->root_fd, &statfs));
}

int replay_syncfs(struct replay_lane *lane, struct replay_op *op) {
    (void)op;
    return (int)TIMED(lane, syncfs(lane->replay->root_fd));
}

/* ---- Setting attributes ---- */

static int set_size(struct replay_lane *lane, const struct replay_op *op, int path_fd) {
    if (op->size > INT64_MAX || !replay_charge(lane->replay, op->node, op->size))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    int fd = open_fd(lane, op);
    CLEANUP_FD int opened = -1;
    if (fd < 0 || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        opened = replay_open_checked(lane, path_fd, O_WRONLY | O_CLOEXEC | O_NONBLOCK, false);
        fd = opened;
    }
    int err = fd < 0 ? fd : (int)TIMED(lane, ftruncate(fd, (off_t)op->size));
    if (err == 0)
        replay_shrink(lane->replay, op->node, op->size);
    return err;
}

static struct timespec time_of(uint64_t which, uint64_t set, uint64_t now, uint64_t ns) {
    if (which & now)
        return (struct timespec){.tv_nsec = UTIME_NOW};
    if (!(which & set))
        return (struct timespec){.tv_nsec = UTIME_OMIT};
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000U), .tv_nsec = (long)(ns % 1000000000U)};
}

static int set_times(struct replay_lane *lane, const struct replay_op *op, const char *proc) {
    const struct timespec times[2] = {
        time_of(op->args[0], EVENTS_SET_ATIME, EVENTS_SET_ATIME_NOW, op->args[2]),
        time_of(op->args[0], EVENTS_SET_MTIME, EVENTS_SET_MTIME_NOW, op->args[3]),
    };
    return (int)TIMED(lane, utimensat(AT_FDCWD, proc, times, 0));
}

static int set_owner(struct replay_lane *lane, const struct replay_op *op, int fd) {
    uid_t uid = op->args[0] & EVENTS_SET_OWNER ? (uid_t)op->args[1] : (uid_t)-1;
    gid_t gid = op->args[0] & EVENTS_SET_GROUP ? (gid_t)(op->args[1] >> 32) : (gid_t)-1;
    return (int)TIMED(lane, fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

/* Makes as few calls as possible; the first error counts. */
int replay_setattr(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    uint64_t which = op->args[0];
    bool is_privileged = lane->replay->options.is_privileged;
    if (!is_privileged && which & (EVENTS_SET_OWNER | EVENTS_SET_GROUP) &&
        !(which & ~(uint64_t)(EVENTS_SET_OWNER | EVENTS_SET_GROUP)))
        return replay_refuse(lane, REPLAY_NOT_PRIVILEGED);
    CLEANUP_FD int fd = open_path(lane, op, proc);
    int err = 0;
    if (fd < 0)
        return fd;
    if (which & EVENTS_SET_SIZE)
        err = set_size(lane, op, fd);
    if (err == 0 && is_privileged && which & (EVENTS_SET_OWNER | EVENTS_SET_GROUP))
        err = set_owner(lane, op, fd);
    if (err == 0 && which & EVENTS_SET_MODE)
        err = (int)TIMED(lane, chmod(proc, replay_mode(lane->replay, op->umask, 0, S_IRUSR | S_IWUSR)));
    if (err == 0 && which & (EVENTS_SET_ATIME | EVENTS_SET_MTIME | EVENTS_SET_ATIME_NOW | EVENTS_SET_MTIME_NOW))
        err = set_times(lane, op, proc);
    return err;
}

/* ---- Extended attributes ---- */

static bool is_user_attribute(const char *name) {
    return strncmp(name, "user.", strlen("user.")) == 0;
}

/* The value is not recorded; names outside "user." would give it a meaning. */
int replay_setxattr(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    if (!is_user_attribute(op->name))
        return replay_refuse(lane, REPLAY_NOT_RECORDED);
    if (op->size > VALUE_BYTES_MAX || !replay_charge_attribute(lane->replay, op->size))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    CLEANUP_FD int fd = open_path(lane, op, proc);
    if (fd < 0)
        return fd;
    return (int)TIMED(lane, setxattr(proc, op->name, lane->replay->pattern, op->size, (int)op->args[0]));
}

/* name: NULL: the names of all attributes */
static int read_attribute(struct replay_lane *lane, const struct replay_op *op, const char *name) {
    char proc[PROC_PATH_SIZE];
    unsigned char *buffer = replay_buffer(lane, VALUE_BYTES_MAX);
    CLEANUP_FD int fd = open_path(lane, op, proc);
    if (fd < 0 || !buffer)
        return fd < 0 ? fd : -ENOMEM;
    size_t size = op->size < VALUE_BYTES_MAX ? op->size : VALUE_BYTES_MAX;
    long length =
        name ? TIMED(lane, getxattr(proc, name, buffer, size)) : TIMED(lane, listxattr(proc, (char *)buffer, size));
    return length < 0 ? (int)length : 0;
}

int replay_getxattr(struct replay_lane *lane, struct replay_op *op) {
    return read_attribute(lane, op, op->name);
}

int replay_listxattr(struct replay_lane *lane, struct replay_op *op) {
    return read_attribute(lane, op, NULL);
}

int replay_removexattr(struct replay_lane *lane, struct replay_op *op) {
    char proc[PROC_PATH_SIZE];
    if (!is_user_attribute(op->name))
        return replay_refuse(lane, REPLAY_NOT_RECORDED);
    CLEANUP_FD int fd = open_path(lane, op, proc);
    return fd < 0 ? fd : (int)TIMED(lane, removexattr(proc, op->name));
}

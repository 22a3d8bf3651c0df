/* Operations on open files and directories. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base.h"
#include "replay_private.h"

#define ENTRIES_BYTES 4096U         /* for one call, like the kernel's requests to FUSE */
#define BUFFER_BYTES_MAX (1U << 20) /* for reading: longer calls reuse it, since nobody looks at the data */
#define OPEN_FLAGS (O_TRUNC | O_DIRECT | O_SYNC | O_DSYNC)

static struct replay_handle *handle_of(struct replay_lane *lane, uint32_t place) {
    return &lane->replay->handles.at[place];
}

/* The descriptor of an open file; below 0: lane->reason is set. */
static int fd_of(struct replay_lane *lane, uint32_t place) {
    int fd = place ? handle_of(lane, place)->fd : -1;
    return fd >= 0 ? fd : replay_refuse(lane, REPLAY_NO_FILE);
}

unsigned char *replay_buffer(struct replay_lane *lane, uint64_t size_bytes) {
    void *grown = NULL;
    if (size_bytes <= lane->buffer_bytes)
        return lane->buffer;
    if (posix_memalign(&grown, 4096, size_bytes) != 0)
        return NULL;
    free(lane->buffer);
    lane->buffer = grown;
    lane->buffer_bytes = size_bytes;
    return grown;
}

/* ---- Opening ---- */

/* The flags: as recorded, and such that later operations on the file are possible. */
static int open_flags(struct replay_lane *lane, const struct replay_op *op) {
    int recorded = (int)op->args[0];
    int access = recorded & O_ACCMODE;
    const struct replay_handle *handle = op->handle ? handle_of(lane, op->handle) : NULL;
    if (access == O_ACCMODE || (handle && handle->is_read && access == O_WRONLY) ||
        (handle && handle->is_written && access == O_RDONLY))
        access = O_RDWR;
    return access | (recorded & OPEN_FLAGS) | O_CLOEXEC | O_NONBLOCK;
}

/* Without direct I/O if the file system does not support it. */
static int reopen(struct replay_lane *lane, const char *path, int flags) {
    int fd = (int)TIMED(lane, open(path, flags));
    return fd == -EINVAL && flags & O_DIRECT ? (int)TIMED(lane, open(path, flags & ~O_DIRECT)) : fd;
}

int replay_open_checked(struct replay_lane *lane, int path_fd, int flags, bool is_directory) {
    char path[64];
    struct stat attr;
    if (fstat(path_fd, &attr) < 0)
        return negative_errno();
    if (is_directory ? !S_ISDIR(attr.st_mode) : !S_ISREG(attr.st_mode))
        return replay_refuse(lane, REPLAY_NOT_A_FILE);
    if (is_directory)
        return (int)TIMED(lane, openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
    return reopen(lane, path, flags);
}

/* Keeps the file open for operations that use it; if there are none, or the recorded open failed, closes it. */
static int keep(struct replay_lane *lane, const struct replay_op *op, int fd) {
    if (fd < 0)
        return fd;
    if (!op->handle) {
        close(fd);
        return 0;
    }
    handle_of(lane, op->handle)->fd = fd;
    replay_count_open(lane->replay, handle_of(lane, op->handle)->node, 1);
    return 0;
}

int replay_open(struct replay_lane *lane, struct replay_op *op) {
    bool is_directory = op->row->type == TYPE_DIRECTORY;
    CLEANUP_FD int path_fd = replay_open_node(lane->replay, op->node, O_PATH);
    if (path_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    int flags = open_flags(lane, op);
    int err = keep(lane, op, replay_open_checked(lane, path_fd, flags, is_directory));
    if (err == 0 && flags & O_TRUNC)
        replay_shrink(lane->replay, op->node, 0);
    return err;
}

/* It exists already: opened like any other, as open(2) would. */
static int open_there(struct replay_lane *lane, const struct replay_op *op, int dir_fd, int flags) {
    CLEANUP_FD int path_fd = openat(dir_fd, op->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return path_fd < 0 ? negative_errno() : replay_open_checked(lane, path_fd, flags, false);
}

int replay_create_file(struct replay_lane *lane, struct replay_op *op) {
    struct replay *replay = lane->replay;
    int dir_fd = replay_open_parent(lane, op->node);
    if (dir_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    if (!replay_charge_name(replay))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    mode_t mode = replay_mode(replay, op->args[1], op->umask, S_IRUSR | S_IWUSR);
    int flags = open_flags(lane, op);
    int fd = (int)TIMED(lane, openat(dir_fd, op->name, flags | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    if (fd == -EINVAL && flags & O_DIRECT)
        fd = (int)TIMED(lane, openat(dir_fd, op->name, (flags & ~O_DIRECT) | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    if (fd < 0)
        replay_return_name(replay);
    if (fd == -EEXIST && !(op->args[0] & O_EXCL))
        fd = open_there(lane, op, dir_fd, flags);
    if (fd >= 0) {
        pthread_rwlock_wrlock(&replay->places_lock);
        replay_place_add(replay, op->entry, op->node, op->name);
        pthread_rwlock_unlock(&replay->places_lock);
    }
    return keep(lane, op, fd);
}

int replay_tmpfile(struct replay_lane *lane, struct replay_op *op) {
    int dir_fd = replay_open_parent(lane, op->node);
    if (dir_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    mode_t mode = replay_mode(lane->replay, op->args[1], op->umask, S_IRUSR | S_IWUSR);
    int flags = (open_flags(lane, op) & ~O_TRUNC) | O_TMPFILE | (int)(op->args[0] & O_EXCL);
    return keep(lane, op, (int)TIMED(lane, openat(dir_fd, ".", flags, mode)));
}

int replay_release(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    handle_of(lane, op->handle)->fd = -1;
    int err = (int)TIMED(lane, close(fd));
    replay_count_open(lane->replay, handle_of(lane, op->handle)->node, -1);
    return err;
}

/* The file system sees a close(2) as FLUSH; the last close is RELEASE. */
int replay_flush(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? negative_errno() : (int)TIMED(lane, close(copy));
}

/* ---- Data ---- */

static int moved(struct replay_lane *lane, long result) {
    lane->moved_bytes = result < 0 ? 0 : (uint64_t)result;
    return result < 0 ? (int)result : 0;
}

static bool is_end_possible(uint64_t offset, uint64_t size) {
    return offset <= INT64_MAX && size <= TRANSFER_BYTES_MAX && offset + size <= INT64_MAX;
}

int replay_read(struct replay_lane *lane, struct replay_op *op) {
    struct iovec parts[TRANSFER_BYTES_MAX / BUFFER_BYTES_MAX];
    int count = 0;
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    const uint64_t part_bytes = op->size < BUFFER_BYTES_MAX ? op->size : BUFFER_BYTES_MAX;
    unsigned char *buffer = is_end_possible(op->offset, op->size) ? replay_buffer(lane, part_bytes) : NULL;
    if (!buffer && op->size > 0)
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    for (uint64_t left = op->size; left > 0; left -= parts[count++].iov_len)
        parts[count] = (struct iovec){buffer, left < part_bytes ? left : part_bytes};
    return moved(lane, TIMED(lane, preadv(fd, parts, count, (off_t)op->offset)));
}

int replay_write(struct replay_lane *lane, struct replay_op *op) {
    struct iovec parts[TRANSFER_BYTES_MAX / PATTERN_BYTES];
    int count = 0;
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    uint32_t node = handle_of(lane, op->handle)->node;
    if (!is_end_possible(op->offset, op->size) || !replay_charge(lane->replay, node, op->offset + op->size))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    for (uint64_t left = op->size; left > 0; left -= parts[count++].iov_len)
        parts[count] = (struct iovec){lane->replay->pattern, left < PATTERN_BYTES ? left : PATTERN_BYTES};
    return moved(lane, TIMED(lane, pwritev(fd, parts, count, (off_t)op->offset)));
}

int replay_copy(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    int out_fd = fd_of(lane, op->out_handle);
    if (fd < 0 || out_fd < 0)
        return -ECANCELED;
    off64_t from = (off64_t)op->offset;
    off64_t to = (off64_t)op->args[0];
    uint64_t size = op->error ? op->size : op->result; /* the call asked for more, but got less */
    uint32_t node = handle_of(lane, op->out_handle)->node;
    if (from < 0 || to < 0 || size > INT64_MAX / 2 || op->args[0] > INT64_MAX / 2 ||
        !replay_charge(lane->replay, node, op->args[0] + size))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    return moved(lane, TIMED(lane, copy_file_range(fd, &from, out_fd, &to, size, 0)));
}

int replay_fallocate(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    uint32_t node = handle_of(lane, op->handle)->node;
    if (op->offset > INT64_MAX / 2 || op->size > INT64_MAX / 2 ||
        !replay_charge(lane->replay, node, op->offset + op->size))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    if (op->args[0] & FALLOC_FL_INSERT_RANGE && !replay_charge_insertion(lane->replay, node, fd, op->size))
        return replay_refuse(lane, REPLAY_TOO_LARGE);
    return (int)TIMED(lane, fallocate(fd, (int)op->args[0], (off_t)op->offset, (off_t)op->size));
}

int replay_fsync(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    return (int)TIMED(lane, op->args[0] ? fdatasync(fd) : fsync(fd));
}

int replay_lseek(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    long position = TIMED(lane, lseek(fd, (off_t)op->offset, (int)op->args[0]));
    return position < 0 ? (int)position : 0;
}

/* ---- Directories ---- */

/* READDIRPLUS looks each name up, too. */
static void look_up_all(struct replay_lane *lane, int fd, const unsigned char *entries, long size_bytes) {
    struct stat attr;
    for (long at = 0; at < size_bytes;) {
        const struct dirent64 *entry = (const void *)(entries + at);
        (void)TIMED(lane, fstatat(fd, entry->d_name, &attr, AT_SYMLINK_NOFOLLOW));
        at += entry->d_reclen;
    }
}

/* Positions depend on the file system, so a listing is only begun or continued. */
int replay_readdir(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    if (fd < 0)
        return fd;
    unsigned char *buffer = replay_buffer(lane, ENTRIES_BYTES);
    if (!buffer)
        return -ENOMEM;
    if (op->offset == 0 && lseek(fd, 0, SEEK_SET) < 0)
        return negative_errno();
    long size_bytes = TIMED(lane, syscall(SYS_getdents64, fd, buffer, ENTRIES_BYTES));
    if (size_bytes > 0 && strcmp(op->row->name, "READDIRPLUS") == 0)
        look_up_all(lane, fd, buffer, size_bytes);
    return size_bytes < 0 ? (int)size_bytes : 0;
}

/* ---- Locks ---- */

/* Never waits: if the recorded call did, what it waited for has been done before. Each open file is an owner. */
int replay_lock(struct replay_lane *lane, struct replay_op *op) {
    int fd = fd_of(lane, op->handle);
    short type = (short)op->args[0];
    if (fd < 0)
        return fd;
    if (op->args[3])
        return (int)TIMED(lane, flock(fd, LOCK_NB | (type == F_RDLCK ? LOCK_SH : type == F_WRLCK ? LOCK_EX : LOCK_UN)));
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)op->args[1], .l_len = (off_t)op->args[2]};
    int command = strcmp(op->row->name, "GETLK") == 0 ? F_OFD_GETLK : F_OFD_SETLK;
    return (int)TIMED(lane, fcntl(fd, command, &lock));
}

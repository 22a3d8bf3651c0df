/* The file of the log of slow calls. */
#include "slow_log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "log.h"

#define OLD_SUFFIX ".1"
#define MODE 0600
#define MODE_GROUP 0640 /* an existing file may have at most this mode, which logrotate's "create" sets */

/* ---- Opening ---- */

/* An existing file may have been made by others, or be readable by them; it is left as it is. */
static int check_private(int fd) {
    struct stat attr;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if (!S_ISREG(attr.st_mode))
        return -ENOTSUP;
    if (attr.st_uid != geteuid() || attr.st_nlink > 1)
        return -EPERM;
    return attr.st_mode & ALLPERMS & ~MODE_GROUP ? -EACCES : 0;
}

/* Only one writer: lines are cut off when the disk is full, and files renamed. Not all file systems have locks. */
static int lock_file(int fd) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return -EBUSY;
}

/* Does not wait for a reader of a FIFO, and follows no symbolic link. */
static int open_file(struct slow_log_file *file) {
    CLEANUP_FD int fd = openat(file->dir_fd, file->name,
                               O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, MODE);
    if (fd < 0)
        return errno == ELOOP || errno == ENXIO || errno == EISDIR ? -ENOTSUP : negative_errno();
    int err = check_private(fd);
    if (err == 0)
        err = lock_file(fd);
    if (err < 0)
        return err;
    close_fd(&file->fd);
    file->fd = steal_fd(&fd);
    return 0;
}

static int open_place(struct slow_log_file *file, const char *path) {
    const char *name;
    int err = open_parent(AT_FDCWD, path, &file->dir_fd, &name);
    if (err < 0)
        return err;
    if (strlen(name) + strlen(OLD_SUFFIX) > NAME_MAX)
        return -ENAMETOOLONG;
    file->name = strdup(name);
    if (!file->name || asprintf(&file->old_name, "%s" OLD_SUFFIX, name) < 0)
        return -ENOMEM;
    return open_file(file);
}

static const char *explain(int err) {
    switch (err) {
    case -EPERM:
        return "it belongs to somebody else, or has other names too; choose a file in a directory of your own";
    case -EACCES:
        return "it may not be written to, or others may read it: chmod it 0600, or choose another file";
    case -ENOTSUP:
        return "it is not a regular file";
    case -EBUSY:
        return "another osproffs logs there; give each mount a file of its own";
    default:
        return strerror(-err);
    }
}

int slow_log_file_open(struct slow_log_file *file, const char *path, uint64_t size_bytes_max) {
    file->size_bytes_max = size_bytes_max;
    int err = open_place(file, path);
    if (err < 0)
        log_message("slowlog=%s: cannot open it: %s", path, explain(err));
    return err;
}

void slow_log_file_close(struct slow_log_file *file) {
    close_fd(&file->fd);
    close_fd(&file->dir_fd);
    free(file->name);
    free(file->old_name);
    *file = (struct slow_log_file)SLOW_LOG_FILE_NONE;
}

/* ---- Writing ---- */

static int open_if_moved(struct slow_log_file *file, struct stat *ret_attr) {
    struct stat named;
    if (fstat(file->fd, ret_attr) < 0)
        return negative_errno();
    if (fstatat(file->dir_fd, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == ret_attr->st_dev &&
        named.st_ino == ret_attr->st_ino)
        return 0;
    int err = open_file(file);
    if (err == 0 && fstat(file->fd, ret_attr) < 0)
        err = negative_errno();
    return err;
}

static int move_if_large(struct slow_log_file *file, size_t added_bytes, struct stat *attr) {
    if (file->size_bytes_max == 0 || attr->st_size == 0 ||
        (uint64_t)attr->st_size + added_bytes <= file->size_bytes_max)
        return 0;
    if (renameat(file->dir_fd, file->name, file->dir_fd, file->old_name) < 0)
        return negative_errno();
    return open_if_moved(file, attr);
}

int slow_log_file_write(struct slow_log_file *file, const char *line, size_t size_bytes) {
    struct stat attr;
    int err = open_if_moved(file, &attr);
    if (err == 0)
        err = move_if_large(file, size_bytes, &attr);
    if (err < 0)
        return err;
    ssize_t written = write(file->fd, line, size_bytes);
    if (written == (ssize_t)size_bytes)
        return 0;
    err = written < 0 ? negative_errno() : -ENOSPC;
    if (written > 0 && ftruncate(file->fd, attr.st_size) < 0)
        err = negative_errno();
    return err;
}

/* Careful helpers for descriptors and files. */
#include "base.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define TEMPORARY_ATTEMPTS 1000U

int reserve_standard_fds(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR); /* NOLINT(android-cloexec-open): for children too */
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0)
        return negative_errno();
    close(fd);
    return 0;
}

int write_all(int fd, const void *data, size_t size_bytes) {
    const char *rest = data;
    while (size_bytes > 0) {
        ssize_t written_bytes = write(fd, rest, size_bytes);
        if (written_bytes < 0 && errno == EINTR)
            continue;
        if (written_bytes < 0)
            return negative_errno();
        if (written_bytes == 0)
            return -EIO;
        rest += written_bytes;
        size_bytes -= (size_t)written_bytes;
    }
    return 0;
}

bool read_beginning(int dir_fd, const char *path, char *ret_text, size_t size_bytes) {
    CLEANUP_FD int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, ret_text, size_bytes - 1);
    ret_text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Fills a new temporary file; the caller unlinks it on error. */
static int write_temporary(int dir_fd, const char *name, mode_t mode, const void *data, size_t size_bytes) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return negative_errno();
    int err = write_all(fd, data, size_bytes);
    if (err == 0 && fchmod(fd, mode) < 0)
        err = negative_errno();
    if (err == 0 && fsync(fd) < 0)
        err = negative_errno();
    if (err == 0 && close(steal_fd(&fd)) < 0)
        err = negative_errno();
    return err;
}

int replace_file(int dir_fd, const char *name, const char *backup_name, mode_t mode, const void *data,
                 size_t size_bytes) {
    char temporary[64];
    struct stat attr;
    if (fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(attr.st_mode))
        return S_ISDIR(attr.st_mode) ? -EISDIR : -ENOTSUP;
    int err = -EEXIST;
    for (unsigned attempt = 0; err == -EEXIST && attempt < TEMPORARY_ATTEMPTS; attempt++) {
        snprintf(temporary, sizeof(temporary), ".osprof.%ld-%u.tmp", (long)getpid(), attempt);
        err = write_temporary(dir_fd, temporary, mode, data, size_bytes);
    }
    if (err == -EEXIST)
        return err;
    if (err == 0 && backup_name && renameat(dir_fd, name, dir_fd, backup_name) < 0 && errno != ENOENT)
        err = negative_errno();
    if (err == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
        err = negative_errno();
    if (err < 0)
        unlinkat(dir_fd, temporary, 0);
    return err;
}

int open_parent(int dir_fd, const char *path, int *ret_dir_fd, const char **ret_name) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (path[0] == '\0')
        return -EINVAL;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EISDIR;

    CLEANUP_FREE char *directory = NULL;
    if (!slash)
        directory = strdup(".");
    else if (slash == path)
        directory = strdup("/");
    else
        directory = strndup(path, (size_t)(slash - path));
    if (!directory)
        return -ENOMEM;

    int fd = openat(dir_fd, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    *ret_dir_fd = fd;
    *ret_name = name;
    return 0;
}

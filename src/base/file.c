/* Careful helpers for descriptors and files. */
#include "base.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define TEMPORARY_ATTEMPTS 100U

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

/* SIGXFSZ is sent to this thread. A handler of the program that we are loaded into must not see it, so it is taken back
 * here, unless one was pending before. */
int allocate_blocks(int fd, off_t offset, size_t size_bytes) {
    int error;
    sigset_t limit;
    sigset_t pending;
    sigset_t before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    sigpending(&pending);
    do
        error = posix_fallocate(fd, offset, (off_t)size_bytes);
    while (error == EINTR);
    if (error == EFBIG && !sigismember(&pending, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

bool read_beginning(int dir_fd, const char *path, char *ret_text, size_t size_bytes) {
    CLEANUP_FD int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, ret_text, size_bytes - 1);
    ret_text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* ---- Replacing ---- */

static int fill(int fd, mode_t mode, const void *data, size_t size_bytes) {
    int err = write_all(fd, data, size_bytes);
    if (err == 0 && fchmod(fd, mode) < 0)
        err = negative_errno();
    if (err == 0 && fsync(fd) < 0)
        err = negative_errno();
    return err;
}

/* The name cannot be guessed, so nobody can take it first. */
static int choose_temporary_name(char ret_name[TEMPORARY_NAME_SIZE]) {
    uint64_t number;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return negative_errno();
    snprintf(ret_name, TEMPORARY_NAME_SIZE, ".osprof.%016" PRIx64 ".tmp", number);
    return 0;
}

/* The first way needs a capability before Linux 6.10, the second needs /proc. */
static int link_fd(int fd, int dir_fd, const char *name) {
    char path[32];
    int err = linkat(fd, "", dir_fd, name, AT_EMPTY_PATH) < 0 ? negative_errno() : 0;
    if (err == 0 || err == -EEXIST)
        return err;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? negative_errno() : 0;
}

/* Gives a file its first name. */
static int name_file(int fd, int dir_fd, char ret_name[TEMPORARY_NAME_SIZE]) {
    int err = -EEXIST;
    for (unsigned attempt = 0; err == -EEXIST && attempt < TEMPORARY_ATTEMPTS; attempt++) {
        err = choose_temporary_name(ret_name);
        if (err == 0)
            err = link_fd(fd, dir_fd, ret_name);
    }
    return err;
}

static int open_named(int dir_fd, int *ret_fd, char ret_name[TEMPORARY_NAME_SIZE]) {
    int fd = -1;
    for (unsigned attempt = 0; fd < 0 && attempt < TEMPORARY_ATTEMPTS; attempt++) {
        int err = choose_temporary_name(ret_name);
        if (err < 0)
            return err;
        fd = openat(dir_fd, ret_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return negative_errno();
    *ret_fd = fd;
    return 0;
}

/* Errors:  the failed call's; there is no file then */
static int write_named(int dir_fd, mode_t mode, const void *data, size_t size_bytes,
                       char ret_name[TEMPORARY_NAME_SIZE]) {
    CLEANUP_FD int fd = -1;
    int err = open_named(dir_fd, &fd, ret_name);
    if (err < 0)
        return err;
    err = fill(fd, mode, data, size_bytes);
    if (err == 0 && close(steal_fd(&fd)) < 0)
        err = negative_errno();
    if (err < 0)
        unlinkat(dir_fd, ret_name, 0);
    return err;
}

/* Writes a file that has no name until it is complete: if we are killed before, it vanishes. Not every file system has
 * such files, and not every process can name them. */
static int write_temporary(int dir_fd, mode_t mode, const void *data, size_t size_bytes,
                           char ret_name[TEMPORARY_NAME_SIZE]) {
    CLEANUP_FD int fd = openat(dir_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    int err = fd < 0 ? -ENOTSUP : fill(fd, mode, data, size_bytes);
    if (fd >= 0 && err < 0)
        return err;
    if (err == 0)
        err = name_file(fd, dir_fd, ret_name);
    return err < 0 ? write_named(dir_fd, mode, data, size_bytes, ret_name) : 0;
}

int check_replaceable(int dir_fd, const char *name) {
    struct stat attr;
    if (fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(attr.st_mode))
        return S_ISDIR(attr.st_mode) ? -EISDIR : -ENOTSUP;
    return 0;
}

int replace_file(int dir_fd, const char *name, const char *backup_name, mode_t mode, const void *data,
                 size_t size_bytes) {
    char temporary[TEMPORARY_NAME_SIZE];
    int err = check_replaceable(dir_fd, name);
    if (err == 0)
        err = write_temporary(dir_fd, mode, data, size_bytes, temporary);
    if (err < 0)
        return err;
    if (backup_name && renameat(dir_fd, name, dir_fd, backup_name) < 0 && errno != ENOENT)
        err = negative_errno();
    if (err == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
        err = negative_errno();
    if (err < 0)
        unlinkat(dir_fd, temporary, 0);
    return err;
}

const char *replace_error_text(int error) {
    return error == -ENOTSUP ? "it is no regular file, and only such a file is replaced" : strerror(-error);
}

/* ---- Nameless files ---- */

int nameless_file_create(int dir_fd, struct nameless_file *ret_file) {
    struct nameless_file file = {.dir_fd = dir_fd};
    file.fd = openat(dir_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    int err = file.fd < 0 ? open_named(dir_fd, &file.fd, file.temporary) : 0;
    if (err == 0)
        *ret_file = file;
    return err;
}

int nameless_file_fill(const struct nameless_file *file, mode_t mode, const void *data, size_t size_bytes) {
    return fill(file->fd, mode, data, size_bytes);
}

/* Not every file system can rename without replacing, or has hard links. */
static int rename_if_new(int dir_fd, const char *from, const char *to) {
    struct stat attr;
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return negative_errno();
    if (linkat(dir_fd, from, dir_fd, to, 0) == 0) {
        unlinkat(dir_fd, from, 0);
        return 0;
    }
    if (errno == EEXIST || fstatat(dir_fd, to, &attr, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(dir_fd, from, dir_fd, to) < 0 ? negative_errno() : 0;
}

int nameless_file_give_name(struct nameless_file *file, const char *name, bool replaces) {
    int err = 0;
    if (!file->temporary[0] && !replaces)
        return link_fd(file->fd, file->dir_fd, name);
    if (!file->temporary[0])
        err = name_file(file->fd, file->dir_fd, file->temporary);
    if (err == 0 && replaces)
        err = check_replaceable(file->dir_fd, name);
    if (err == 0 && !replaces)
        err = rename_if_new(file->dir_fd, file->temporary, name);
    else if (err == 0 && renameat(file->dir_fd, file->temporary, file->dir_fd, name) < 0)
        err = negative_errno();
    if (err == 0)
        file->temporary[0] = '\0';
    return err;
}

void nameless_file_finish(struct nameless_file *file) {
    if (file->temporary[0])
        unlinkat(file->dir_fd, file->temporary, 0);
    file->temporary[0] = '\0';
    close_fd(&file->fd);
}

/* ---- Memory of several processes ---- */

int open_to_map(const char *path) {
    CLEANUP_FD int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat attr;
    if (fd < 0 || fstat(fd, &attr) < 0)
        return negative_errno();
    if (S_ISREG(attr.st_mode) && (attr.st_uid == 0 || attr.st_uid == geteuid()))
        return steal_fd(&fd);
    return S_ISDIR(attr.st_mode) ? -EISDIR : -EPERM;
}

/* ---- Paths ---- */

bool may_be_planted(const char *path) {
    CLEANUP_FD int dir_fd = -1;
    const char *name = "";
    struct stat directory;
    struct stat attr;
    if (open_parent(AT_FDCWD, path, &dir_fd, &name) < 0 || fstat(dir_fd, &directory) < 0 ||
        fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if (S_ISREG(attr.st_mode) && geteuid() == 0)
        return false;
    bool is_shared = directory.st_mode & S_ISVTX && directory.st_mode & S_IWOTH;
    return is_shared && attr.st_uid != geteuid() && attr.st_uid != directory.st_uid;
}

int open_parent(int dir_fd, const char *path, int *ret_dir_fd, const char **ret_name) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (path[0] == '\0')
        return -EINVAL;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EISDIR;

    CLEANUP_FREE char *directory = !slash          ? strdup(".")
                                   : slash == path ? strdup("/")
                                                   : strndup(path, (size_t)(slash - path));
    if (!directory)
        return -ENOMEM;

    int fd = openat(dir_fd, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    *ret_dir_fd = fd;
    *ret_name = name;
    return 0;
}

mode_t new_file_mode(void) {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

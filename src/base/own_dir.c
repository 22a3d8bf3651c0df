/* Walking to a directory by descriptors. */
#include "own_dir.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"

#define LINKS_MAX 40U /* as in the kernel */

struct walk {
    int fd;              /* the directory so far */
    char rest[PATH_MAX]; /* the path from there on */
    unsigned links;
    unsigned made_max;
    bool is_strict;
    uid_t root_owner; /* of the root directory */
};

static bool is_trusted(const struct walk *walk, uid_t uid) {
    return uid == 0 || uid == geteuid() || uid == walk->root_owner;
}

/* In a sticky directory only the owner renames an entry, and the entry is checked next. */
static int check(const struct walk *walk, int fd, struct stat *ret_attr) {
    if (fstat(fd, ret_attr) < 0)
        return negative_errno();
    if (!walk->is_strict)
        return 0;
    /* A group of the user's own, which is the default of many systems, may write; root's group may have members. */
    const bool is_own_group = geteuid() != 0 && ret_attr->st_uid == geteuid() && ret_attr->st_gid == getegid();
    const bool may_be_shared = S_ISDIR(ret_attr->st_mode) && !(ret_attr->st_mode & S_ISVTX);
    const bool is_shared =
        may_be_shared && (ret_attr->st_mode & S_IWOTH || (ret_attr->st_mode & S_IWGRP && !is_own_group));
    return is_trusted(walk, ret_attr->st_uid) && !is_shared ? 0 : -EPERM;
}

static int begin_at_root(struct walk *walk) {
    struct stat attr;
    close_fd(&walk->fd);
    walk->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (walk->fd < 0 || fstat(walk->fd, &attr) < 0)
        return negative_errno();
    walk->root_owner = attr.st_uid;
    return check(walk, walk->fd, &attr);
}

/* Cuts the first component off the rest. Returns false at the end of the path */
static bool take_component(struct walk *walk, char ret_name[NAME_MAX + 1], int *ret_error) {
    const size_t slashes = strspn(walk->rest, "/");
    const size_t length = strcspn(walk->rest + slashes, "/");
    *ret_error = length > NAME_MAX ? -ENAMETOOLONG : 0;
    if (length == 0 || length > NAME_MAX)
        return false;
    memcpy(ret_name, walk->rest + slashes, length);
    ret_name[length] = '\0';
    memmove(walk->rest, walk->rest + slashes + length, strlen(walk->rest + slashes + length) + 1);
    return true;
}

/* Goes on with what a symbolic link says. */
static int follow(struct walk *walk, const char *name, bool is_last) {
    char target[PATH_MAX];
    char rest[PATH_MAX];
    struct stat attr = {0};
    CLEANUP_FD int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int error = fd < 0 ? negative_errno() : check(walk, fd, &attr);
    if (error)
        return error;
    if (!S_ISLNK(attr.st_mode))
        return -ENOTDIR;
    if (is_last || ++walk->links > LINKS_MAX)
        return -ELOOP;
    const ssize_t length = readlinkat(fd, "", target, sizeof(target) - 1);
    if (length < 0)
        return negative_errno();
    target[length] = '\0';
    if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >= sizeof(rest))
        return -ENAMETOOLONG;
    memcpy(walk->rest, rest, strlen(rest) + 1);
    return target[0] == '/' ? begin_at_root(walk) : 0;
}

/* O_DIRECTORY mounts what an automounter has there; O_PATH alone would not. */
static int open_component(const struct walk *walk, const char *name) {
    return openat(walk->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int enter(struct walk *walk, const char *name) {
    unsigned left = 0; /* components behind this one */
    struct stat attr;
    for (const char *at = walk->rest + strspn(walk->rest, "/"); *at; at += strspn(at, "/")) {
        left++;
        at += strcspn(at, "/");
    }
    CLEANUP_FD int fd = open_component(walk, name);
    if (fd < 0 && errno == ENOENT && left < walk->made_max) {
        if (fstat(walk->fd, &attr) < 0)
            return negative_errno();
        if (!is_trusted(walk, attr.st_uid))
            return -EPERM;
        if (mkdirat(walk->fd, name, OWN_DIR_MODE) < 0 && errno != EEXIST)
            return negative_errno();
        fd = open_component(walk, name);
    }
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return follow(walk, name, left == 0);
    int error = fd < 0 ? negative_errno() : check(walk, fd, &attr);
    if (error)
        return error;
    close_fd(&walk->fd);
    walk->fd = steal_fd(&fd);
    return 0;
}

int own_dir_open(const char *path, unsigned made_max, bool is_strict, int *ret_fd) {
    struct walk walk = {.fd = -1, .made_max = made_max, .is_strict = is_strict};
    char name[NAME_MAX + 1];
    if (path[0] != '/' || strlen(path) >= sizeof(walk.rest))
        return path[0] != '/' ? -EINVAL : -ENAMETOOLONG;
    memcpy(walk.rest, path, strlen(path) + 1);
    int error = begin_at_root(&walk);
    while (error == 0 && take_component(&walk, name, &error))
        error = enter(&walk, name);
    const int fd = error ? -1 : openat(walk.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (error == 0 && fd < 0)
        error = negative_errno();
    close_fd(&walk.fd);
    if (error == 0)
        *ret_fd = fd;
    return error;
}

bool own_dir_is_foreign(int error) {
    return error == -EPERM || error == -EACCES || error == -ELOOP || error == -ENOTDIR;
}

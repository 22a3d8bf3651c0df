/* Paths of inodes, and the directories they are in. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include "pass_private.h"
#include "path.h"
#include "seen_names.h"

#define DEPTH_MAX 2048 /* of a path; an inode deeper, or in a cycle since directories were moved, has no known path */

static const char deleted[] = " (deleted)"; /* the kernel appends this to paths */

/* ---- As the kernel knows them ---- */

/* The kernel remembers the path of an open file. */
static char *path_of_fd(struct pass *pass, int fd) {
    char path[PATH_MAX];
    ssize_t length = readlinkat(pass->proc_self_fd, pass_fd_path(fd).text, path, sizeof(path));
    return length > 0 && (size_t)length < sizeof(path) ? strndup(path, (size_t)length) : NULL;
}

/* This makes no copy of its descriptor: closing that would send a flush to the lower file system, which may hang. */
static char *path_of_open_file(struct pass *pass, struct inode *inode) {
    char *path = NULL;
    pthread_mutex_lock(&pass->open_files_lock);
    if (inode->open_files)
        path = path_of_fd(pass, inode->open_files->fd);
    pthread_mutex_unlock(&pass->open_files_lock);
    return path;
}

/* An inode without a descriptor just now is in a directory that has one. */
static char *path_of_named(struct pass *pass, fs_ino ino, struct inode *inode) {
    char below[PATH_MAX];
    char *path = NULL;
    int fd = inode_table_begin_path(pass->inodes, ino, below);
    if (fd < 0)
        return path_of_open_file(pass, inode);
    CLEANUP_FREE char *directory = path_of_fd(pass, fd);
    inode_table_leave(pass->inodes, fd);
    return !directory || asprintf(&path, "%s%s", directory, below) < 0 ? NULL : path;
}

char *pass_path_of(struct pass *pass, fs_ino ino) {
    struct inode *inode;
    if (pass_get_inode(pass, ino, &inode) < 0)
        return NULL;
    if (inode->is_by_name && !inode->keeps_path_fd)
        return path_of_named(pass, ino, inode);
    int path_fd = inode_path_fd(inode);
    CLEANUP_FREE char *path = path_fd >= 0 ? path_of_fd(pass, path_fd) : path_of_open_file(pass, inode);
    return inode_ino(inode) == ino && inode_path_fd(inode) == path_fd ? steal_pointer(&path) : NULL;
}

/* ---- As they were looked up last ---- */

/* The directory of an inode, and its name there, "" if unknown. Returns false if nothing is known. */
static bool find_seen(struct pass *pass, fs_ino ino, uint64_t *ret_above, char ret_name[SEEN_NAME_SIZE]) {
    const struct seen_names *names = __atomic_load_n(&pass->seen_names, __ATOMIC_ACQUIRE);
    ret_name[0] = '\0';
    return names && seen_names_find(names, ino, ret_above, ret_name);
}

/* Owner: the caller frees it. */
static char *join_known(char *directory, const char *below) {
    char *path = NULL;
    size_t length = strlen(directory);
    if (length > strlen(deleted) && strcmp(directory + length - strlen(deleted), deleted) == 0)
        directory[length - strlen(deleted)] = '\0';
    return asprintf(&path, "%s%s", directory, below) < 0 ? NULL : path;
}

static char *find_last_path(struct pass *pass, fs_ino ino) {
    char below[PATH_MAX];
    size_t at = sizeof(below) - 1;
    below[at] = '\0';
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        char name[SEEN_NAME_SIZE];
        uint64_t above = 0;
        if (!find_seen(pass, ino, &above, name) || name[0] == '\0' || strlen(name) >= at)
            return NULL;
        at -= strlen(name);
        memcpy(below + at, name, strlen(name));
        below[--at] = '/';
        ino = inode_above_directory(above);
        CLEANUP_FREE char *directory = pass_path_of(pass, ino);
        if (directory)
            return join_known(directory, below + at);
    }
    return NULL;
}

/* True if nothing is at the path any more. Paths on another mount are not checked: it may be our own. */
static bool is_gone(struct pass *pass, const char *path) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV | RESOLVE_BENEATH};
    CLEANUP_FREE char *root = pass_path_of(pass, FS_ROOT_INO);
    const char *below = root ? path_below(path, root) : NULL;
    const struct inode *inode = inode_table_get(pass->inodes, FS_ROOT_INO);
    if (!below || below[0] != '/')
        return false;
    CLEANUP_FD int fd = (int)syscall(SYS_openat2, inode_path_fd(inode), below + 1, &how, sizeof(how));
    return fd < 0 && errno == ENOENT;
}

char *pass_last_path_of(struct pass *pass, fs_ino ino, bool asks) {
    CLEANUP_FREE char *path = find_last_path(pass, ino);
    char *marked = NULL;
    if (!path || !asks || !is_gone(pass, path))
        return steal_pointer(&path);
    return asprintf(&marked, "%s%s", path, deleted) < 0 ? NULL : marked;
}

/* ---- As the lower file system has them in memory ---- */

/* The descriptor is O_PATH, so nobody's lease or watch notices it. */
char *pass_ask_path_of(struct pass *pass, fs_ino ino) {
    struct inode *inode;
    char *path = pass_path_of(pass, ino);
    if (path || inode_table_revive(pass->inodes, ino, &inode) < 0)
        return path;
    int fd = inode->is_by_name ? -1 : pass_open_handle(pass, inode, O_PATH);
    if (fd >= 0) {
        path = path_of_fd(pass, fd);
        close(fd);
    }
    inode_table_forget(pass->inodes, ino, 1);
    return path;
}

/* ---- Directories ---- */

/* Returns false if nothing is known. */
static bool find_above(struct pass *pass, fs_ino ino, uint64_t *ret_above) {
    char name[SEEN_NAME_SIZE];
    return inode_table_above(pass->inodes, ino, ret_above) || find_seen(pass, ino, ret_above, name);
}

/* The parent of a directory; 0: unknown. */
static fs_ino directory_above(struct pass *pass, fs_ino directory) {
    uint64_t above = 0;
    return find_above(pass, directory, &above) ? inode_above_directory(above) : 0;
}

/* The number of components of its path; -1: unknown. */
static int depth_of(struct pass *pass, fs_ino directory) {
    int depth = 0;
    while (directory != FS_ROOT_INO && directory != 0 && depth < DEPTH_MAX) {
        directory = directory_above(pass, directory);
        depth++;
    }
    return directory == FS_ROOT_INO ? depth : -1;
}

fs_ino pass_directory_of(struct pass *pass, fs_ino ino, unsigned depth_max) {
    uint64_t above = 0;
    const bool keeps_names = __atomic_load_n(&pass->seen_names, __ATOMIC_ACQUIRE) != NULL;
    if (!keeps_names || ino == FS_ROOT_INO || !find_above(pass, ino, &above))
        return keeps_names && ino == FS_ROOT_INO ? ino : 0;
    fs_ino directory = inode_above_is_directory(above) ? ino : inode_above_directory(above);
    for (int depth = depth_max > 0 ? depth_of(pass, directory) : 0; depth > (int)depth_max; depth--)
        directory = directory_above(pass, directory);
    return directory;
}

/* From inode numbers to descriptors of lower inodes. An inode without a file handle is found from a directory that has
 * a descriptor, down by names. Each step checks that the name still leads to the same inode. */
#include <dirent.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "pass_private.h"

#define REUSE_WAIT_MAX_US (1L << 15) /* the last of waits of 1, 2, 4 ...: 66 ms in all */

struct fd_path pass_fd_path_absolute(int fd) {
    struct fd_path path;
    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
    return path;
}

int pass_get_inode(struct pass *pass, fs_ino ino, struct inode **ret_inode) {
    struct inode *inode = inode_table_get(pass->inodes, ino);
    if (!inode)
        return -ESTALE;
    *ret_inode = inode;
    return 0;
}

/* While the number of a removed inode is given to a new one, opening the old handle fails with ENOMEM on file systems
 * that look inodes up with iget_locked(), such as ext4, and with ESTALE afterwards. This may last as long as a commit
 * of the journal. So opening is retried for a short time; then the handle counts as stale. If memory was really short,
 * the kernel has made room meanwhile, at worst by killing a process. */
int pass_open_handle(struct pass *pass, const struct inode *inode, int flags) {
    struct lower_handle handle = {
        .head.handle_bytes = inode->handle_size_bytes,
        .head.handle_type = inode->handle_type,
    };
    memcpy(handle.head.f_handle, inode_handle(inode), inode->handle_size_bytes);
    int mount_fd = mount_table_get(&pass->mounts, inode->mount_index)->fd;
    if (mount_fd < 0)
        return -ESTALE; /* forgotten, and its mount with it */
    for (long wait_us = 1; wait_us <= REUSE_WAIT_MAX_US; wait_us *= 2) {
        int fd = open_by_handle_at(mount_fd, &handle.head, flags | O_CLOEXEC);
        if (fd >= 0 || errno != ENOMEM)
            return fd < 0 ? negative_errno() : fd;
        nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000}, NULL);
    }
    return -ESTALE;
}

bool pass_is_empty(const struct pass *pass, const struct inode *inode) {
    return mount_table_get(&pass->mounts, inode->mount_index)->is_empty;
}

int pass_open_path(struct pass *pass, fs_ino ino, struct path_fd *ret_path) {
    struct inode *inode;
    int err = pass_get_inode(pass, ino, &inode);
    if (err == 0 && pass_is_empty(pass, inode))
        err = -EACCES;
    return err < 0 ? err : pass_open_path_to_stat(pass, ino, ret_path);
}

int pass_open_path_to_stat(struct pass *pass, fs_ino ino, struct path_fd *ret_path) {
    struct inode *inode;
    int err = pass_get_inode(pass, ino, &inode);
    if (err < 0)
        return err;
    if (inode->is_by_name && !inode->keeps_path_fd)
        return pass_find(pass, inode, ret_path);
    int fd = inode_path_fd(inode);
    if (fd >= 0) {
        *ret_path = (struct path_fd){.fd = fd};
        return 0;
    }
    fd = pass_take_recent(pass, inode);
    if (fd < 0)
        fd = pass_open_handle(pass, inode, O_PATH);
    if (fd == -ESTALE && pass_dup_open_file(pass, inode, &fd) < 0)
        fd = -ESTALE;
    if (fd < 0)
        return fd;
    *ret_path = (struct path_fd){.fd = fd, .inode = inode, .pass = pass};
    return 0;
}

int pass_open_inode(struct pass *pass, struct inode *inode, int flags) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_FD int other_fd = -1;
    if (inode->type != S_IFREG && inode->type != S_IFDIR)
        return -ENXIO;
    if (pass_is_empty(pass, inode))
        return -EACCES;
    int fd;
    if (inode->is_by_name) {
        fd = pass_open_path(pass, inode_ino(inode), &path);
        if (fd < 0)
            return fd;
        do
            fd = pass_reopen(pass, path.fd, flags);
        while (fd < 0 && pass_may_retry(pass, fd));
    } else {
        int path_fd = inode_path_fd(inode);
        fd = path_fd >= 0 ? pass_reopen(pass, path_fd, flags) : pass_open_handle(pass, inode, flags);
        if (fd == -ESTALE && pass_dup_open_file(pass, inode, &other_fd) == 0)
            fd = pass_reopen(pass, other_fd, flags);
    }
    return fd;
}

/* ---- Inodes that are found by name ---- */

#define LISTED_BYTES_MAX ((size_t)1 << 20) /* of a directory's entries, searched for a new name */
#define STEPS_MAX 100000                   /* bounds the search while others keep renaming directories on the way */

/* ---- A step ---- */

/* On the same mount only: inodes on another are never found by name. */
static int open_name(struct pass *pass, int directory_fd, const char *name) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
    int fd;
    do {
        fd = (int)syscall(SYS_openat2, directory_fd, name, &how, sizeof(how));
        if (fd < 0 && errno == ENOSYS)
            fd = openat(directory_fd, name, (int)how.flags);
        fd = fd < 0 ? negative_errno() : fd;
    } while (fd < 0 && pass_may_retry(pass, fd));
    return fd == -ENOENT || fd == -ENOTDIR || fd == -EXDEV || fd == -ELOOP ? -ESTALE : fd;
}

/* A handle decides alone: a file that was copied up meanwhile (overlayfs) may have another number. */
static bool is_inode(struct pass *pass, const struct inode *inode, int fd) {
    const struct lower_mount *mount = mount_table_get(&pass->mounts, inode->mount_index);
    struct lower_handle handle;
    struct stat attr;
    uint64_t mount_id;
    if (mount_table_identify(mount, fd, &handle, &mount_id) < 0 || mount_id != mount->mount_id ||
        handle.head.handle_bytes != inode->handle_size_bytes || handle.head.handle_type != inode->handle_type ||
        memcmp(handle.head.f_handle, inode_handle(inode), inode->handle_size_bytes) != 0)
        return false;
    if (handle.head.handle_type != HANDLE_IS_BIRTH_TIME)
        return true;
    return fstat(fd, &attr) == 0 && attr.st_dev == inode->device && attr.st_ino == inode->number &&
           (attr.st_mode & S_IFMT) == inode->type;
}

static int open_as(struct pass *pass, const struct inode_step *step, const char *name) {
    CLEANUP_FD int fd = open_name(pass, step->fd, name);
    if (fd >= 0 && !is_inode(pass, step->inode, fd))
        return -ESTALE;
    return steal_fd(&fd);
}

/* ---- What is open ---- */

/* Works whatever the file's name is now, and without rights on the directories above it. It is not a duplicate of the
 * open file's descriptor: closing that may be reported to the lower file system (flush). */
static int open_through_file(struct pass *pass, struct inode *inode) {
    struct open_file *file = pass_borrow_open_file(pass, inode);
    if (!file)
        return -ESTALE;
    int fd;
    do
        fd = pass_reopen(pass, file->fd, O_PATH);
    while (fd < 0 && pass_may_retry(pass, fd));
    pass_return_open_file(pass, file);
    return fd;
}

/* ---- What was renamed below, in the same directory ---- */

/* Where handles only tell inodes apart (overlayfs), entries may have other numbers than their inodes. */
static int try_entries(struct pass *pass, const struct inode_step *step, const char *entries, size_t size_bytes) {
    const struct inode *inode = step->inode;
    const bool tells_number = mount_table_get(&pass->mounts, inode->mount_index)->handle_flags <= 0;
    for (size_t at = 0; at < size_bytes;) {
        const struct dirent64 *entry = (const void *)(entries + at);
        at += entry->d_reclen;
        bool may_be = tells_number ? entry->d_ino == inode->number : (mode_t)DTTOIF(entry->d_type) == inode->type;
        int fd = may_be && pass_check_name(entry->d_name) == 0 ? open_as(pass, step, entry->d_name) : -ESTALE;
        if (fd < 0)
            continue;
        inode_table_found_as(pass->inodes, step, entry->d_name);
        return fd;
    }
    return -ESTALE;
}

static int open_listed(struct pass *pass, const struct inode_step *step) {
    CLEANUP_FD int directory_fd = openat(step->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP_FREE char *entries = malloc(PASS_ENTRIES_BYTES);
    int fd = -ESTALE;
    ssize_t read_bytes = directory_fd >= 0 && entries ? 1 : 0;
    for (size_t all_bytes = 0; all_bytes < LISTED_BYTES_MAX && fd == -ESTALE && read_bytes > 0;
         all_bytes += (size_t)read_bytes) {
        read_bytes = getdents64(directory_fd, entries, PASS_ENTRIES_BYTES);
        if (read_bytes > 0)
            fd = try_entries(pass, step, entries, (size_t)read_bytes);
    }
    return fd;
}

/* ---- All steps ---- */

/* Takes a step. *in_use: where the next one begins */
static int step_down(struct pass *pass, struct inode_step *step, int *in_use) {
    CLEANUP_FD int fd = open_as(pass, step, step->name);
    bool is_again = fd == -ESTALE && inode_table_try_next_name(pass->inodes, step);
    if ((fd == -ESTALE && !is_again) || fd == -EACCES) { /* a directory not to be searched may not be readable either */
        int err = fd;
        fd = open_through_file(pass, step->inode);
        if (fd < 0)
            fd = err == -ESTALE ? open_listed(pass, step) : err;
    }
    int err = fd < 0 ? fd : -ENOMEM; /* if the inode does not get the descriptor */
    *in_use = inode_table_end_step(pass->inodes, step, &fd);
    return *in_use >= 0 || is_again ? 0 : err;
}

static void let_go(struct pass *pass, struct inode **inode) {
    if (*inode)
        inode_table_let_go(pass->inodes, steal_pointer(inode));
}

/* Takes steps until there are no more, each towards *halfway, if there is one: a deep inode is found by way of it, so
 * that not each step walks up the whole path under the lock. ret_fd: in use then */
static int take_steps(struct pass *pass, struct inode *inode, struct inode **halfway, int *ret_fd) {
    int in_use = -1;
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        struct inode_step step;
        int err = inode_table_begin_step(pass->inodes, *halfway ? *halfway : inode, &step);
        if (err == 0 && step.halfway) {
            let_go(pass, halfway);
            *halfway = step.halfway;
        }
        if (in_use >= 0)
            inode_table_leave(pass->inodes, in_use);
        if (err == 0 && !step.inode && !*halfway) {
            *ret_fd = step.fd;
            return 0;
        }
        if (err == 0 && !step.inode) {
            in_use = step.fd;
            let_go(pass, halfway);
        } else if (err == 0) {
            err = step_down(pass, &step, &in_use);
        }
        if (err < 0)
            return err;
        pass_make_room(pass);
    }
    if (in_use >= 0)
        inode_table_leave(pass->inodes, in_use);
    return -ESTALE;
}

static int find(struct pass *pass, struct inode *inode, struct path_fd *ret_path) {
    struct inode *halfway = NULL;
    int fd = -1;
    int err = take_steps(pass, inode, &halfway, &fd);
    let_go(pass, &halfway);
    if (err == 0)
        *ret_path = (struct path_fd){.fd = fd, .pass = pass};
    return err;
}

/* An open file is found through its descriptor, like one that has lost its name. */
int pass_find(struct pass *pass, struct inode *inode, struct path_fd *ret_path) {
    int err = find(pass, inode, ret_path);
    int fd = err < 0 ? open_through_file(pass, inode) : -1;
    if (fd < 0)
        return err;
    *ret_path = (struct path_fd){.fd = fd, .inode = inode, .pass = pass};
    return 0;
}

/* ---- Names that go ---- */

/* Errors are ignored: the op must not fail because of them. */
void pass_begin_removal(struct pass *pass, fs_ino directory, const char *name, struct removal *ret_removal) {
    const struct inode *inode = inode_table_get(pass->inodes, directory);
    if (!inode || !inode->is_by_name)
        return;
    *ret_removal = (struct removal){.pass = pass, .directory = inode, .name = name, .path = PATH_FD_NONE};
    ret_removal->inode = inode_table_begin_removal(pass->inodes, inode, name);
    if (ret_removal->inode)
        (void)find(pass, ret_removal->inode, &ret_removal->path);
}

void pass_end_removal(struct removal *removal, const struct inode_place *moved) {
    struct pass *pass = removal->pass;
    if (!pass)
        return;
    bool has_names = inode_table_end_removal(pass->inodes, removal->directory, removal->name, removal->inode, moved);
    if (has_names && !moved && removal->path.fd >= 0 && pass_has_no_link(removal->path.fd))
        inode_table_drop_names(pass->inodes, removal->inode);
}

void removal_leave(struct removal *removal) {
    if (!removal->inode)
        return;
    path_fd_leave(&removal->path);
    inode_table_let_go(removal->pass->inodes, removal->inode);
}

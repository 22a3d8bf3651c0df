/* LOOKUP, also of "." and "..", which the kernel sends only for file handles taken through the mount. */
#include <sys/statvfs.h>

#include "pass_private.h"

/* An inode known only by its number, perhaps forgotten since. */
static int look_up_itself(struct pass *pass, fs_ino ino, struct fs_entry *ret_entry) {
    struct inode *inode;
    int err = inode_table_revive(pass->inodes, ino, &inode);
    if (err < 0)
        return err;
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    struct fs_entry entry = {.ino = ino, .generation = inode->generation};
    err = pass_open_path_to_stat(pass, ino, &path);
    if (err == 0)
        err = pass_stat(pass, path.fd, &entry.attr);
    if (err == 0 && entry.attr.st_ino != pass_shown_number(pass, inode->device, inode->number))
        err = -ESTALE; /* the entry of its mount was reused */
    if (err < 0) {
        inode_table_forget(pass->inodes, ino, 1);
        return err;
    }
    *ret_entry = entry;
    return 0;
}

static bool is_root(const struct pass *pass, int fd) {
    const struct inode *root = inode_table_get(pass->inodes, FS_ROOT_INO);
    struct stat attr;
    return fstat(fd, &attr) == 0 && attr.st_dev == root->device && attr.st_ino == root->number;
}

/* True if fd is the lower directory or lies below it: a directory may have been moved out of it. */
static bool is_inside(const struct pass *pass, int fd) {
    CLEANUP_FD int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int depth = 0; at >= 0 && depth < 4096; depth++) {
        if (is_root(pass, at))
            return true;
        int above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close_fd(&at);
        at = above;
    }
    return false;
}

static int look_up_parent(struct pass *pass, int fd, struct fs_entry *ret_entry) {
    CLEANUP_FD int parent_fd = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (parent_fd < 0)
        return negative_errno();
    if (is_root(pass, fd) || !is_inside(pass, parent_fd))
        return -ESTALE;
    uint32_t mount_index;
    int err = mount_table_find(&pass->mounts, parent_fd, pass->proc_self_fd, &mount_index);
    if (err < 0)
        return err;
    return pass_enter_held(pass, mount_index, NULL, false, &parent_fd, ret_entry);
}

static bool is_dot(const char *name) {
    return name[0] == '.' && name[1] == '\0';
}

static bool is_dot_dot(const char *name) {
    return name[0] == '.' && name[1] == '.' && name[2] == '\0';
}

/* True for inodes that the kernel opens by itself; it does not open devices on a nodev mount. */
static bool is_opened_by_kernel(struct pass *pass, mode_t mode) {
    bool is_device = S_ISCHR(mode) || S_ISBLK(mode);
    return S_ISFIFO(mode) || S_ISSOCK(mode) || (is_device && !pass_mount_has(pass, ST_NODEV));
}

/* If the kernel does not check permissions, it opens these for everybody who finds them, without asking us. So only
 * callers who may read and write them find them, and their owners, who could change the mode anyway. */
static int check_special(struct pass *pass, const struct fs_caller *caller, const struct fs_entry *entry) {
    if (!is_opened_by_kernel(pass, entry->attr.st_mode) || caller->uid == entry->attr.st_uid)
        return 0;
    int err = pass_check_access(pass, caller, entry->ino, R_OK | W_OK);
    if (err < 0)
        inode_table_forget(pass->inodes, entry->ino, 1);
    return err;
}

int pass_op_lookup(struct fs_layer *layer, FS_CALL, const char *name, struct fs_entry *ret_entry) {
    struct pass *pass = to_pass(layer);
    if (is_dot(name))
        return look_up_itself(pass, ino, ret_entry);
    CLEANUP_PATH_FD struct path_fd parent = PATH_FD_NONE;
    int err = pass_open_path_to_stat(pass, ino, &parent);
    if (err < 0)
        return err;
    if (is_dot_dot(name))
        return look_up_parent(pass, parent.fd, ret_entry);
    pass_note_look(pass, ino);
    const struct inode *inode = inode_table_get(pass->inodes, ino);
    err = pass_is_empty(pass, inode) ? -ENOENT : pass_check_name(name);
    if (err < 0)
        return err;
    err = pass_look_up(pass, caller, inode, parent.fd, name, ret_entry);
    return err == 0 && pass->check_as_caller ? check_special(pass, caller, ret_entry) : err;
}

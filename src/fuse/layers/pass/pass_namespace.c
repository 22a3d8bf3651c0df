/* Ops that make, remove and rename names. All act as the caller: what is made must belong to the caller from its first
 * instant, and sticky and set-group-id directories depend on the caller. */
#include <sys/syscall.h>

#include "pass_private.h"

/* Opens the directory and takes on the caller's identity: every op of this file begins with it. */
static int enter_directory(struct pass *pass, const struct fs_caller *caller, fs_ino ino, const char *name,
                           struct path_fd *ret_directory, struct identity *ret_identity) {
    int err = pass_check_name(name);
    if (err == 0)
        err = pass_open_path(pass, ino, ret_directory);
    if (err == 0)
        err = identity_enter(pass, caller, ret_identity);
    return err;
}

/* Looks up what has just been made, as the daemon: the caller may have made it without the right to search. */
static int look_up_made(struct pass *pass, fs_ino parent, int parent_fd, const char *name, struct identity *identity,
                        struct fs_entry *ret_entry) {
    identity_leave(identity);
    *identity = IDENTITY_OWN;
    const struct inode *inode = inode_table_get(pass->inodes, parent);
    int err = pass_look_up(pass, NULL, inode, parent_fd, name, ret_entry);
    if (err == -EMFILE && pass_use_spare_fd(pass))
        err = pass_look_up(pass, NULL, inode, parent_fd, name, ret_entry);
    pass_keep_spare_fd(pass);
    return err;
}

/* What is made: a directory, a symlink, another name of an inode, or what mknod(2) makes. */
struct new_node {
    bool is_directory;
    const char *target; /* of a symlink; NULL: it is none */
    const char *linked; /* path of the inode below pass->proc_self_fd; NULL: it is a new one */
    mode_t mode;
    dev_t device;
};

static int make_node(const struct pass *pass, int parent_fd, const char *name, const struct new_node *node) {
    if (node->target)
        return symlinkat(node->target, parent_fd, name);
    /* AT_EMPTY_PATH would need a privilege that the caller lacks. A symlink's own magic link ends at the symlink. */
    if (node->linked)
        return linkat(pass->proc_self_fd, node->linked, parent_fd, name, AT_SYMLINK_FOLLOW);
    return node->is_directory ? mkdirat(parent_fd, name, node->mode)
                              : mknodat(parent_fd, name, node->mode, node->device);
}

static int make_name(struct pass *pass, FS_CALL, const char *name, struct new_node node, struct fs_entry *ret_entry) {
    CLEANUP_PATH_FD struct path_fd parent = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = enter_directory(pass, caller, ino, name, &parent, &identity);
    if (err < 0)
        return err;
    node.mode = identity_umask(caller, node.mode);
    struct space_wait wait = {0};
    do
        err = make_node(pass, parent.fd, name, &node) < 0 ? negative_errno() : 0;
    while (pass_may_have_space(pass, err, &wait));
    return err < 0 ? err : look_up_made(pass, ino, parent.fd, name, &identity, ret_entry);
}

int pass_op_mknod(struct fs_layer *layer, FS_CALL, const char *name, mode_t mode, dev_t device,
                  struct fs_entry *ret_entry) {
    const struct new_node node = {.mode = mode, .device = device};
    return make_name(to_pass(layer), caller, ino, name, node, ret_entry);
}

int pass_op_mkdir(struct fs_layer *layer, FS_CALL, const char *name, mode_t mode, struct fs_entry *ret_entry) {
    const struct new_node node = {.is_directory = true, .mode = mode};
    return make_name(to_pass(layer), caller, ino, name, node, ret_entry);
}

int pass_op_symlink(struct fs_layer *layer, FS_CALL, const char *name, const char *target, struct fs_entry *ret_entry) {
    const struct new_node node = {.target = target};
    return make_name(to_pass(layer), caller, ino, name, node, ret_entry);
}

int pass_op_link(struct fs_layer *layer, FS_CALL, fs_ino new_parent, const char *new_name, struct fs_entry *ret_entry) {
    CLEANUP_PATH_FD struct path_fd source = PATH_FD_NONE;
    int err = pass_open_path(to_pass(layer), ino, &source);
    if (err < 0)
        return err;
    const struct fd_path path = pass_fd_path(source.fd);
    const struct new_node node = {.linked = path.text};
    return make_name(to_pass(layer), caller, new_parent, new_name, node, ret_entry);
}

static int remove_name(struct pass *pass, FS_CALL, const char *name, int flags) {
    CLEANUP_PATH_FD struct path_fd parent = PATH_FD_NONE;
    CLEANUP_REMOVAL struct removal removal = REMOVAL_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    pass_begin_removal(pass, ino, name, &removal);
    int err = enter_directory(pass, caller, ino, name, &parent, &identity);
    if (err < 0)
        return err;
    if (unlinkat(parent.fd, name, flags) < 0)
        return negative_errno();
    pass_end_removal(&removal, NULL);
    pass_close_recent(pass);
    return 0;
}

int pass_op_unlink(struct fs_layer *layer, FS_CALL, const char *name) {
    return remove_name(to_pass(layer), caller, ino, name, 0);
}

int pass_op_rmdir(struct fs_layer *layer, FS_CALL, const char *name) {
    return remove_name(to_pass(layer), caller, ino, name, AT_REMOVEDIR);
}

int pass_op_rename2(struct fs_layer *layer, FS_CALL, const char *name, fs_ino new_parent, const char *new_name,
                    unsigned flags) {
    struct pass *pass = to_pass(layer);
    CLEANUP_PATH_FD struct path_fd from = PATH_FD_NONE;
    CLEANUP_PATH_FD struct path_fd to = PATH_FD_NONE;
    CLEANUP_REMOVAL struct removal moved = REMOVAL_NONE;
    CLEANUP_REMOVAL struct removal replaced = REMOVAL_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = pass_check_name(name);
    pass_begin_removal(pass, ino, name, &moved);
    pass_begin_removal(pass, new_parent, new_name, &replaced);
    if (err == 0)
        err = pass_open_path(pass, ino, &from);
    if (err == 0)
        err = enter_directory(pass, caller, new_parent, new_name, &to, &identity);
    if (err < 0)
        return err;
    if (syscall(SYS_renameat2, from.fd, name, to.fd, new_name, flags) < 0)
        return negative_errno();
    /* The replaced name ends first, because its name is the other inode's afterwards. */
    const struct inode_place old = {.directory = moved.directory, .name = moved.name};
    const struct inode_place new = {.directory = replaced.directory, .name = replaced.name};
    pass_end_removal(&replaced, flags & RENAME_EXCHANGE && old.directory ? &old : NULL);
    pass_end_removal(&moved, new.directory ? &new : NULL);
    pass_close_recent(pass);
    return 0;
}

int pass_op_rename(struct fs_layer *layer, FS_CALL, const char *name, fs_ino new_parent, const char *new_name) {
    return pass_op_rename2(layer, caller, ino, name, new_parent, new_name, 0);
}

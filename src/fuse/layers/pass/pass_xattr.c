/* Extended attributes of all namespaces, through the magic link of a held descriptor, which leads to the inode itself,
 * even if that is a symbolic link.
 *
 * The kernel leaves it to the file system to check attributes in the namespace "system." (ACLs of POSIX, NFS, CIFS,
 * NTFS), so they are set as the caller. It does check who may set POSIX ACLs; but only if they are set as the caller
 * does the lower file system take the set-group-id bit away from a file whose group the caller is not in. */
#include <linux/limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "pass_private.h"

static bool has_prefix(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Takes on the caller's identity for an attribute that the kernel has not checked, or that takes up blocks. */
static int enter_for(const struct pass *pass, const struct fs_caller *caller, const char *name,
                     struct identity *ret_identity) {
    if (has_prefix(name, "system."))
        return identity_enter_unchecked(pass, caller, ret_identity);
    return has_prefix(name, "user.") ? identity_enter(pass, caller, ret_identity)
                                     : identity_enter_to_check(pass, caller, ret_identity);
}

int pass_op_setxattr(struct fs_layer *layer, FS_CALL, const char *name, const void *value, size_t size_bytes,
                     int flags) {
    struct pass *pass = to_pass(layer);
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = pass_open_path(pass, ino, &path);
    if (err == 0)
        err = enter_for(pass, caller, name, &identity);
    if (err < 0)
        return err;
    const struct fd_path fd_path = pass_fd_path_absolute(path.fd);
    struct space_wait wait = {0};
    do
        err = setxattr(fd_path.text, name, value, size_bytes, flags) < 0 ? negative_errno() : 0;
    while (pass_may_have_space(pass, err, &wait));
    return err;
}

/* file: if it is open. */
static ssize_t get(struct pass *pass, FS_CALL, const struct open_file *file, const char *name, void *value,
                   size_t size_bytes) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = file ? 0 : pass_open_path(pass, ino, &path);
    /* Every user may read POSIX ACLs, and with default_permissions the kernel reads them for all users. */
    bool is_unchecked = has_prefix(name, "system.") && !has_prefix(name, "system.posix_acl_");
    if (err == 0)
        err = is_unchecked ? identity_enter_unchecked(pass, caller, &identity)
                           : identity_enter_to_check(pass, caller, &identity);
    if (err < 0)
        return err;
    ssize_t length = file ? fgetxattr(file->fd, name, value, size_bytes)
                          : getxattr(pass_fd_path_absolute(path.fd).text, name, value, size_bytes);
    if (length < 0)
        return negative_errno();
    return pass_hides_capability(pass, file ? file->fd : path.fd, name) ? -ENODATA : length;
}

/* Before the first write the kernel asks for security.capability of the open file: the most frequent case. */
int pass_op_getxattr(struct fs_layer *layer, FS_CALL, const char *name, void *value, size_t size_bytes,
                     size_t *ret_size_bytes) {
    struct pass *pass = to_pass(layer);
    struct inode *inode;
    int err = pass_get_inode(pass, ino, &inode);
    if (err < 0)
        return err;
    if (pass_is_empty(pass, inode))
        return -ENODATA;
    struct open_file *file = pass_borrow_open_file(pass, inode);
    ssize_t length = get(pass, caller, ino, file, name, value, size_bytes);
    if (file)
        pass_return_open_file(pass, file);
    if (length < 0)
        return (int)length;
    *ret_size_bytes = (size_t)length;
    return 0;
}

/* Leaves "trusted." names out, as the kernel does for callers without privilege. */
static int list_for_unprivileged(const char *path, char *names, size_t size_bytes, size_t *ret_size_bytes) {
    CLEANUP_FREE char *all = malloc(XATTR_LIST_MAX);
    size_t kept_bytes = 0;
    if (!all)
        return -ENOMEM;
    ssize_t all_bytes = listxattr(path, all, XATTR_LIST_MAX);
    if (all_bytes < 0)
        return negative_errno();
    for (size_t at = 0; at < (size_t)all_bytes;) {
        size_t length = strnlen(all + at, (size_t)all_bytes - at) + 1;
        if (!has_prefix(all + at, "trusted.")) {
            memmove(all + kept_bytes, all + at, length);
            kept_bytes += length;
        }
        at += length;
    }
    if (size_bytes > 0 && kept_bytes > size_bytes)
        return -ERANGE;
    if (size_bytes > 0)
        memcpy(names, all, kept_bytes);
    *ret_size_bytes = kept_bytes;
    return 0;
}

int pass_op_listxattr(struct fs_layer *layer, FS_CALL, char *names, size_t size_bytes, size_t *ret_size_bytes) {
    struct pass *pass = to_pass(layer);
    CLEANUP_PATH_FD struct path_fd path_fd = PATH_FD_NONE;
    int err = pass_open_path(pass, ino, &path_fd);
    if (err < 0)
        return err;
    struct fd_path path = pass_fd_path_absolute(path_fd.fd);
    if (pass->privileged && !caller_is_capable(pass, caller, CAP_SYS_ADMIN))
        return list_for_unprivileged(path.text, names, size_bytes, ret_size_bytes);
    ssize_t length = listxattr(path.text, names, size_bytes);
    if (length < 0)
        return negative_errno();
    *ret_size_bytes = (size_t)length;
    return 0;
}

int pass_op_removexattr(struct fs_layer *layer, FS_CALL, const char *name) {
    struct pass *pass = to_pass(layer);
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = pass_open_path(pass, ino, &path);
    if (err == 0)
        err = enter_for(pass, caller, name, &identity);
    if (err < 0)
        return err;
    const struct fd_path fd_path = pass_fd_path_absolute(path.fd);
    err = removexattr(fd_path.text, name) < 0 ? negative_errno() : 0;
    /* The kernel takes a file's capability away before a write by a user who may not do that himself; and if it does
     * not check permissions, before it knows whether he may write. The lower file system takes the capability away at
     * the write itself. */
    if (err == -EPERM && pass->check_as_caller && strcmp(name, "security.capability") == 0 &&
        getxattr(fd_path.text, name, NULL, 0) >= 0)
        err = 0;
    return err;
}

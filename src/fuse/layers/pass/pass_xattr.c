/* Extended attributes of every namespace, through the magic link of a held descriptor: it ends at the inode
 * itself, also if that is a symlink.
 *
 * An access ACL is set as the caller even if the kernel has checked it: the lower file system then takes the
 * set-group-id bit away from a file whose group the caller is not in. */
#include <linux/limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "pass_private.h"

int pass_op_setxattr(struct fs_layer *layer, FS_CALL, const char *name, const void *value, size_t size_bytes,
                     int flags) {
    struct pass *pass = to_pass(layer);
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = pass_open_path(pass, ino, &path);
    if (err == 0 && strcmp(name, "system.posix_acl_access") == 0)
        err = identity_enter(pass, caller, &identity);
    else if (err == 0)
        err = identity_enter_to_check(pass, caller, &identity);
    if (err < 0)
        return err;
    return setxattr(pass_fd_path_absolute(path.fd).text, name, value, size_bytes, flags) < 0 ? negative_errno() : 0;
}

/* file: if it is open. */
static ssize_t get(struct pass *pass, FS_CALL, const struct open_file *file, const char *name, void *value,
                   size_t size_bytes) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = file ? 0 : pass_open_path(pass, ino, &path);
    if (err == 0)
        err = identity_enter_to_check(pass, caller, &identity);
    if (err < 0)
        return err;
    ssize_t length = file ? fgetxattr(file->fd, name, value, size_bytes)
                          : getxattr(pass_fd_path_absolute(path.fd).text, name, value, size_bytes);
    return length < 0 ? negative_errno() : length;
}

/* Mostly the kernel asks, before the first write, of a file that is open: its capability. */
int pass_op_getxattr(struct fs_layer *layer, FS_CALL, const char *name, void *value, size_t size_bytes,
                     size_t *ret_size_bytes) {
    struct pass *pass = to_pass(layer);
    struct inode *inode;
    int err = pass_get_inode(pass, ino, &inode);
    if (err < 0)
        return err;
    struct open_file *file = pass_borrow_open_file(pass, inode);
    ssize_t length = get(pass, caller, ino, file, name, value, size_bytes);
    if (file)
        pass_return_open_file(pass, file);
    if (length < 0)
        return (int)length;
    *ret_size_bytes = (size_t)length;
    return 0;
}

/* Takes "trusted." names out of a list, as the kernel does for callers without privilege. Returns its new size. */
static size_t hide_trusted(char *names, size_t size_bytes) {
    static const char hidden[] = "trusted.";
    size_t kept_bytes = 0;
    for (size_t at = 0; at < size_bytes;) {
        size_t length = strnlen(names + at, size_bytes - at) + 1;
        if (strncmp(names + at, hidden, sizeof(hidden) - 1) != 0) {
            memmove(names + kept_bytes, names + at, length);
            kept_bytes += length;
        }
        at += length;
    }
    return kept_bytes;
}

static int list_for_unprivileged(const char *path, char *names, size_t size_bytes, size_t *ret_size_bytes) {
    CLEANUP_FREE char *all = malloc(XATTR_LIST_MAX);
    if (!all)
        return -ENOMEM;
    ssize_t length = listxattr(path, all, XATTR_LIST_MAX);
    if (length < 0)
        return negative_errno();
    size_t kept_bytes = hide_trusted(all, (size_t)length);
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
    if (pass->privileged && caller->uid != 0)
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
        err = identity_enter_to_check(pass, caller, &identity);
    if (err < 0)
        return err;
    return removexattr(pass_fd_path_absolute(path.fd).text, name) < 0 ? negative_errno() : 0;
}

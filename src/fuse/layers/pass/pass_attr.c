/* Attributes: stat, chmod, chown, truncate, times, access, file-system statistics, inode flags.
 *
 * If the kernel has checked permissions (default_permissions), changes act as the daemon: the kernel itself sends a
 * setattr on behalf of a writer who does not own the file, to take the set-id bits away. */
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "pass_private.h"

int pass_op_getattr(struct fs_layer *layer, FS_CALL, fs_file file, struct stat *ret_attr) {
    struct pass *pass = to_pass(layer);
    (void)caller;
    if (file != FS_NO_FILE)
        return pass_stat(pass, to_open_file(file)->fd, ret_attr);
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    int err = pass_open_path_to_stat(pass, ino, &path);
    return err < 0 ? err : pass_stat(pass, path.fd, ret_attr);
}

static int set_owner(int fd, uid_t uid, gid_t gid) {
    return fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? negative_errno() : 0;
}

/* True also if fstat fails. */
static bool may_have_set_id(int fd) {
    struct stat attr;
    return fstat(fd, &attr) < 0 || (S_ISREG(attr.st_mode) && attr.st_mode & (S_ISUID | S_ISGID));
}

/* Changing the owner may take set-id bits away. Whether they stay needs more rights than the kernel checks, so the
 * lower file system is asked as the caller. The kernel has checked all else. */
static int change_owner(const struct pass *pass, const struct fs_caller *caller, int fd, const struct stat *attr,
                        int which) {
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = !pass->check_as_caller && may_have_set_id(fd) ? identity_enter(pass, caller, &identity) : 0;
    if (err < 0)
        return err;
    return set_owner(fd, which & FS_SET_UID ? attr->st_uid : (uid_t)-1, which & FS_SET_GID ? attr->st_gid : (gid_t)-1);
}

/* There are two cases. Somebody gives a file the owner that it has, which takes set-id bits away. Or the kernel
 * announces a write that will do so, perhaps by a writer who may not change owners: then there is nothing to do yet.
 * (For a writer who may keep such bits it announces only that the file's capability goes, which has happened by now.)
 * Both requests look the same, but nobody writes to a file that is not open for writing. */
static int change_nothing(struct pass *pass, const struct fs_caller *caller, const struct inode *inode, int fd) {
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    bool may_be_write = pass_is_open_for_writing(pass, inode);
    if (may_be_write && may_have_set_id(fd) && caller_is_capable(pass, caller, CAP_FSETID))
        return 0;
    int err = pass->check_as_caller ? 0 : identity_enter_unchecked(pass, caller, &identity);
    if (err == 0)
        err = set_owner(fd, (uid_t)-1, (gid_t)-1);
    return err == -EPERM && may_be_write ? 0 : err;
}

/* A file is opened as the daemon, since the kernel has checked, and changed as the caller. If the lower file system
 * checks permissions, all of setattr acts as the caller already. */
static int change_size(struct pass *pass, const struct fs_caller *caller, struct inode *inode,
                       const struct open_file *file, int path_fd, off_t size_bytes) {
    bool is_open = file && is_open_for_writing(file);
    if (!is_open && inode->type != S_IFREG)
        return inode->type == S_IFDIR ? -EISDIR : -EINVAL;
    if (!is_open && pass->check_as_caller)
        return truncate(pass_fd_path_absolute(path_fd).text, size_bytes) < 0 ? negative_errno() : 0;
    CLEANUP_FD int opened_fd = is_open ? -1 : pass_open_inode(pass, inode, O_WRONLY | O_NONBLOCK);
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    const int fd = is_open ? file->fd : opened_fd;
    int err = fd < 0 ? fd : 0;
    if (err == 0 && !pass->check_as_caller)
        err = identity_enter_to_write(pass, caller, fd, &identity);
    if (err < 0)
        return err;
    return ftruncate(fd, size_bytes) < 0 ? negative_errno() : 0;
}

static struct timespec time_to_set(int which, int set, int set_now, struct timespec given) {
    if (which & set_now)
        return (struct timespec){.tv_nsec = UTIME_NOW};
    if (which & set)
        return given;
    return (struct timespec){.tv_nsec = UTIME_OMIT};
}

#define CHANGES                                                                                                        \
    (FS_SET_UID | FS_SET_GID | FS_SET_MODE | FS_SET_SIZE | FS_SET_ATIME | FS_SET_MTIME | FS_SET_ATIME_NOW |            \
     FS_SET_MTIME_NOW)

/* The owner is changed first: that takes set-id bits away, which a mode in the same request may set again. For the mode
 * of a symbolic link the lower file system's answer is EOPNOTSUPP; its target is never changed. */
static int change(struct pass *pass, const struct fs_caller *caller, struct inode *inode, const struct open_file *file,
                  int fd, const struct stat *attr, int which) {
    const struct timespec times[2] = {
        time_to_set(which, FS_SET_ATIME, FS_SET_ATIME_NOW, attr->st_atim),
        time_to_set(which, FS_SET_MTIME, FS_SET_MTIME_NOW, attr->st_mtim),
    };
    int err = 0;
    if (!(which & CHANGES))
        err = change_nothing(pass, caller, inode, fd);
    if (which & (FS_SET_UID | FS_SET_GID))
        err = change_owner(pass, caller, fd, attr, which);
    if (err == 0 && which & FS_SET_MODE && inode->type == S_IFLNK)
        err = -EOPNOTSUPP;
    else if (err == 0 && which & FS_SET_MODE &&
             fchmodat(pass->proc_self_fd, pass_fd_path(fd).text, attr->st_mode & ALLPERMS, 0) < 0)
        err = negative_errno();
    if (err == 0 && which & FS_SET_SIZE)
        err = change_size(pass, caller, inode, file, fd, attr->st_size);
    if (err == 0 && which & (FS_SET_ATIME | FS_SET_MTIME | FS_SET_ATIME_NOW | FS_SET_MTIME_NOW) &&
        syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
        err = negative_errno(); /* a raw system call: the C library refuses an empty path */
    return err;
}

int pass_op_setattr(struct fs_layer *layer, FS_CALL, fs_file file, const struct stat *attr, int which,
                    struct stat *ret_attr) {
    struct pass *pass = to_pass(layer);
    const struct open_file *open_file = file != FS_NO_FILE ? to_open_file(file) : NULL;
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    struct inode *inode;
    int err = pass_get_inode(pass, ino, &inode);
    if (err == 0 && !open_file)
        err = pass_open_path(pass, ino, &path);
    if (err < 0)
        return err;
    int fd = open_file ? open_file->fd : path.fd;

    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    err = identity_enter_to_check(pass, caller, &identity);
    if (err == 0)
        err = change(pass, caller, inode, open_file, fd, attr, which);
    return err < 0 ? err : pass_stat(pass, fd, ret_attr);
}

int pass_op_readlink(struct fs_layer *layer, FS_CALL, char *target, size_t size_bytes) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    (void)caller;
    int err = pass_open_path(to_pass(layer), ino, &path);
    if (err < 0)
        return err;
    ssize_t length = readlinkat(path.fd, "", target, size_bytes);
    if (length < 0)
        return negative_errno();
    if ((size_t)length == size_bytes)
        return -ENAMETOOLONG;
    target[length] = '\0';
    return 0;
}

int pass_check_access(struct pass *pass, const struct fs_caller *caller, fs_ino ino, int mask) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = pass_open_path_to_stat(pass, ino, &path);
    if (err == 0)
        err = identity_enter(pass, caller, &identity);
    if (err < 0)
        return err;
    return syscall(SYS_faccessat2, path.fd, "", mask, AT_EMPTY_PATH | AT_EACCESS) < 0 ? negative_errno() : 0;
}

int pass_op_access(struct fs_layer *layer, FS_CALL, int mask) {
    return pass_check_access(to_pass(layer), caller, ino, mask);
}

int pass_op_statfs(struct fs_layer *layer, FS_CALL, struct statvfs *ret_statfs) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    (void)caller;
    int err = pass_open_path_to_stat(to_pass(layer), ino, &path);
    if (err < 0)
        return err;
    return fstatvfs(path.fd, ret_statfs) < 0 ? negative_errno() : 0;
}

/* Inode flags, and similar settings that the kernel reads and writes. Other commands would act with the daemon's
 * privileges without any check. */
static bool ioctl_is_forwarded(unsigned command) {
    switch (command) {
    case FS_IOC_GETFLAGS:
    case FS_IOC_SETFLAGS:
    case FS_IOC_FSGETXATTR:
    case FS_IOC_FSSETXATTR:
    case FS_IOC_GETVERSION:
        return true;
    default:
        return false;
    }
}

int pass_op_ioctl(struct fs_layer *layer, FS_CALL, fs_file file, const struct fs_ioctl *call, int *ret_result) {
    unsigned char argument[sizeof(struct fsxattr)] = {0};
    (void)ino;
    if (!ioctl_is_forwarded(call->command) || call->in_size_bytes > sizeof(argument) ||
        call->out_size_bytes > sizeof(argument))
        return -ENOTTY;
    if (call->in_size_bytes > 0)
        memcpy(argument, call->in, call->in_size_bytes);

    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = identity_enter_unchecked(to_pass(layer), caller, &identity);
    if (err < 0)
        return err;
    int result = ioctl(to_open_file(file)->fd, call->command, argument);
    if (result < 0)
        return negative_errno();
    if (call->out_size_bytes > 0)
        memcpy(call->out, argument, call->out_size_bytes);
    *ret_result = result;
    return 0;
}

/* The kernel sends this only for mounts on a block device, which ours is not. */
int pass_op_bmap(struct fs_layer *layer, FS_CALL, size_t block_size_bytes, uint64_t *block) {
    (void)layer, (void)caller, (void)ino, (void)block_size_bytes, (void)block;
    return -ENOSYS;
}

int pass_op_statx(struct fs_layer *layer, FS_CALL, fs_file file, int flags, unsigned mask, struct statx *ret_attr) {
    struct pass *pass = to_pass(layer);
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    (void)caller;
    int err = file != FS_NO_FILE ? 0 : pass_open_path_to_stat(pass, ino, &path);
    if (err < 0)
        return err;
    int fd = file != FS_NO_FILE ? to_open_file(file)->fd : path.fd;
    struct statx attr;
    int sync_flags = flags & (AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC);
    if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | sync_flags, mask, &attr) < 0)
        return negative_errno();
    attr.stx_ino = pass_shown_number(pass, makedev(attr.stx_dev_major, attr.stx_dev_minor), attr.stx_ino);
    if (pass_hides_device(pass, fd, attr.stx_mode))
        attr.stx_rdev_major = attr.stx_rdev_minor = 0;
    attr.stx_mode = (uint16_t)pass_shown_mode(pass, fd, attr.stx_mode);
    attr.stx_uid = pass_shown_uid(pass, attr.stx_uid);
    attr.stx_gid = pass_shown_gid(pass, attr.stx_gid);
    *ret_attr = attr;
    return 0;
}

/* From inode numbers to lower inodes and back. */
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "pass_private.h"
#include "seen_names.h"

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
static int open_handle_at(int mount_fd, struct file_handle *handle, int flags) {
    for (long wait_us = 1; wait_us <= REUSE_WAIT_MAX_US; wait_us *= 2) {
        int fd = open_by_handle_at(mount_fd, handle, flags | O_CLOEXEC);
        if (fd >= 0 || errno != ENOMEM)
            return fd < 0 ? negative_errno() : fd;
        nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000}, NULL);
    }
    return -ESTALE;
}

int pass_open_handle(struct pass *pass, const struct inode *inode, int flags) {
    struct lower_handle handle = {
        .head.handle_bytes = inode->handle_size_bytes,
        .head.handle_type = inode->handle_type,
    };
    memcpy(handle.head.f_handle, inode_handle(inode), inode->handle_size_bytes);
    int mount_fd = mount_table_get(&pass->mounts, inode->mount_index)->fd;
    if (mount_fd < 0)
        return -ESTALE; /* forgotten, and its mount with it */
    return open_handle_at(mount_fd, &handle.head, flags);
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

static int open_by_handle(struct pass *pass, struct inode *inode, int flags) {
    int path_fd = inode_path_fd(inode);
    int fd = path_fd >= 0 ? pass_reopen(pass, path_fd, flags) : pass_open_handle(pass, inode, flags);
    CLEANUP_FD int other_fd = -1;
    if (fd != -ESTALE || pass_dup_open_file(pass, inode, &other_fd) < 0)
        return fd;
    return pass_reopen(pass, other_fd, flags);
}

static int open_by_name(struct pass *pass, struct inode *inode, int flags) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    int fd = pass_open_path(pass, inode_ino(inode), &path);
    if (fd < 0)
        return fd;
    do
        fd = pass_reopen(pass, path.fd, flags);
    while (fd < 0 && pass_may_retry(pass, fd));
    return fd;
}

int pass_open_inode(struct pass *pass, struct inode *inode, int flags, int *ret_fd) {
    if (inode->type != S_IFREG && inode->type != S_IFDIR)
        return -ENXIO;
    if (pass_is_empty(pass, inode))
        return -EACCES;
    int fd = inode->is_by_name ? open_by_name(pass, inode, flags) : open_by_handle(pass, inode, flags);
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

ino_t pass_shown_number(struct pass *pass, dev_t device, ino_t number) {
    if (device == pass->root_device)
        return number;
    return number ^ ((ino_t)mount_table_device_index(&pass->mounts, device) << 48);
}

/* Turns attributes of the lower file system into those shown to the kernel. fd: on the same mount */
static void show(struct pass *pass, int fd, struct stat *attr) {
    if (pass_hides_device(pass, fd, attr->st_mode))
        attr->st_rdev = 0;
    attr->st_mode = pass_shown_mode(pass, fd, attr->st_mode);
    attr->st_ino = pass_shown_number(pass, attr->st_dev, attr->st_ino);
    attr->st_uid = pass_shown_uid(pass, attr->st_uid);
    attr->st_gid = pass_shown_gid(pass, attr->st_gid);
}

int pass_stat(struct pass *pass, int fd, struct stat *ret_attr) {
    struct stat attr;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    show(pass, fd, &attr);
    *ret_attr = attr;
    return 0;
}

struct inode_place pass_place(struct pass *pass, const struct inode *directory, const char *name) {
    struct inode_place place = {.directory = directory, .name = name};
    if (directory->is_by_name) {
        place.removals = inode_table_removals(pass->inodes, directory);
        place.path_fds_max = pass_path_fds_max(pass);
    }
    return place;
}

/* What distinguishes the inode. fd: on the mount. handle: HANDLE_IS_BIRTH_TIME, or of 0 bytes if there is none */
static struct inode_key key_of(struct pass *pass, uint32_t mount_index, int fd, const struct stat *attr,
                               const struct lower_handle *handle) {
    bool is_handle = handle->head.handle_bytes > 0 && handle->head.handle_type != HANDLE_IS_BIRTH_TIME;
    return (struct inode_key){.device = attr->st_dev,
                              .number = attr->st_ino,
                              .mount_index = mount_index,
                              .is_hidden_device = pass_hides_device(pass, fd, attr->st_mode),
                              .is_by_name = !is_handle || mount_table_get(&pass->mounts, mount_index)->fd < 0,
                              .handle = handle->head.f_handle,
                              .handle_size_bytes = handle->head.handle_bytes,
                              .handle_type = handle->head.handle_type};
}

/* fd: on the mount. path_fd: what the inode may keep, -1: nothing. Errors: -EOPNOTSUPP it must keep something */
static int enter(struct pass *pass, const struct inode_key *key, const struct inode_place *place, int fd,
                 struct stat *attr, int *path_fd, struct fs_entry *ret_entry) {
    struct inode *inode;
    if (*path_fd < 0 && key->is_by_name && !place)
        return -EOPNOTSUPP;
    int err = inode_table_look_up(pass->inodes, key, attr->st_mode & S_IFMT, place, path_fd, &inode);
    if (err < 0)
        return err;
    show(pass, fd, attr);
    *ret_entry = (struct fs_entry){.ino = inode_ino(inode), .generation = inode->generation, .attr = *attr};
    if (key->is_by_name)
        pass_make_room(pass);
    return 0;
}

/* fd: opened for reading. */
static int enter_open(struct pass *pass, uint32_t mount_index, const struct inode_place *place, bool is_mount_root,
                      int fd, int *path_fd, struct fs_entry *ret_entry) {
    struct stat attr;
    struct lower_handle handle;
    uint64_t mount_id;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    int err = mount_table_identify(mount_table_get(&pass->mounts, mount_index), fd, &handle, &mount_id);
    if (err < 0)
        return err;
    struct inode_key key = key_of(pass, mount_index, fd, &attr, &handle);
    key.is_mount_root = is_mount_root;
    return enter(pass, &key, place, fd, &attr, path_fd, ret_entry);
}

int pass_enter(struct pass *pass, uint32_t mount_index, const struct inode_place *place, int *fd,
               struct fs_entry *ret_entry) {
    return enter_open(pass, mount_index, place, false, *fd, fd, ret_entry);
}

int pass_enter_by_handle(struct pass *pass, uint32_t mount_index, const struct inode_place *place, int fd,
                         struct fs_entry *ret_entry) {
    int none = -1;
    return enter_open(pass, mount_index, place, false, fd, &none, ret_entry);
}

int pass_enter_held(struct pass *pass, uint32_t mount_index, const struct inode_place *place, bool is_mount_root,
                    int *fd, struct fs_entry *ret_entry) {
    int err = enter_open(pass, mount_index, place, is_mount_root, *fd, fd, ret_entry);
    int mount_fd = mount_table_release(&pass->mounts, mount_index);
    close_fd(&mount_fd);
    return err;
}

bool pass_use_spare_fd(struct pass *pass) {
    int fd = __atomic_exchange_n(&pass->spare_fd, -1, __ATOMIC_ACQ_REL);
    bool there = fd >= 0;
    close_fd(&fd);
    return there;
}

void pass_keep_spare_fd(struct pass *pass) {
    if (__atomic_load_n(&pass->spare_fd, __ATOMIC_RELAXED) >= 0)
        return;
    int fd = fcntl(pass->proc_fd, F_DUPFD_CLOEXEC, 0);
    int none = -1;
    if (fd >= 0 && !__atomic_compare_exchange_n(&pass->spare_fd, &none, fd, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        close(fd); /* another thread was first */
}

/* Opens a name as the caller if that is the check of permissions; everything after takes the daemon's privileges. */
static int open_name(struct pass *pass, const struct fs_caller *caller, int parent_fd, const char *name,
                     uint64_t resolve) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = resolve};
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = caller ? identity_enter_to_check(pass, caller, &identity) : 0;
    if (err < 0)
        return err;
    int fd = resolve ? (int)syscall(SYS_openat2, parent_fd, name, &how, sizeof(how))
                     : openat(parent_fd, name, (int)how.flags);
    return fd < 0 ? negative_errno() : fd;
}

/* Opens the root of the mount on a lower mount point, unless that is the mount we serve. Finding out must not send a
 * request to ourselves: the device number is known without one. */
static int cross_mount(struct pass *pass, const struct fs_caller *caller, int parent_fd, const char *name,
                       uint32_t *ret_mount_index, int *ret_fd) {
    CLEANUP_FD int fd = open_name(pass, caller, parent_fd, name, 0);
    if (fd < 0)
        return fd;
    struct statx attr;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &attr) < 0)
        return negative_errno();
    if (makedev(attr.stx_dev_major, attr.stx_dev_minor) == __atomic_load_n(&pass->own_device, __ATOMIC_RELAXED))
        return -ELOOP;
    int err = mount_table_find(&pass->mounts, fd, pass->proc_self_fd, ret_mount_index);
    if (err < 0)
        return err;
    *ret_fd = steal_fd(&fd);
    return 0;
}

static int handle_of_name(struct pass *pass, const struct fs_caller *caller, int parent_fd, const char *name,
                          struct lower_handle *ret_handle, uint64_t *ret_mount_id) {
    int mount_id;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = caller ? identity_enter_to_check(pass, caller, &identity) : 0;
    if (err < 0)
        return err;
    ret_handle->head.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(parent_fd, name, &ret_handle->head, &mount_id, 0) < 0)
        return negative_errno();
    *ret_mount_id = (uint64_t)mount_id;
    return 0;
}

static struct stat stat_of(const struct statx *attr) {
    return (struct stat){
        .st_dev = makedev(attr->stx_dev_major, attr->stx_dev_minor),
        .st_ino = attr->stx_ino,
        .st_mode = attr->stx_mode,
        .st_nlink = attr->stx_nlink,
        .st_uid = attr->stx_uid,
        .st_gid = attr->stx_gid,
        .st_rdev = makedev(attr->stx_rdev_major, attr->stx_rdev_minor),
        .st_size = (off_t)attr->stx_size,
        .st_blksize = (blksize_t)attr->stx_blksize,
        .st_blocks = (blkcnt_t)attr->stx_blocks,
        .st_atim = {attr->stx_atime.tv_sec, attr->stx_atime.tv_nsec},
        .st_mtim = {attr->stx_mtime.tv_sec, attr->stx_mtime.tv_nsec},
        .st_ctim = {attr->stx_ctime.tv_sec, attr->stx_ctime.tv_nsec},
    };
}

/* Looks a name up by two calls instead of the four that opening takes: on ext4, XFS, btrfs and tmpfs its handle and its
 * attributes are asked for by name. They belong together if they are of one mount and the handle holds the number. Only
 * for regular files and symbolic links on the parent's mount: anything else is worth keeping a descriptor of. Between
 * the calls the name may become another file's; then the mounts or the numbers differ. (If one inode was removed and
 * its number given to the next, not even these differ; but the handle is stale, and the kernel looks the name up
 * again.) The name may become a mount point of our own mount, which must not get a request: so attributes are asked for
 * without one (AT_STATX_DONT_SYNC), which suffices for these file systems.
 *
 * Errors:  -ENOENT; any other: it must be opened */
static int look_up_unopened(struct pass *pass, const struct fs_caller *caller, const struct inode_place *place,
                            int parent_fd, struct fs_entry *ret_entry) {
    const struct inode *parent = place->directory;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
    const struct lower_mount *mount = mount_table_get(&pass->mounts, parent->mount_index);
    struct lower_handle handle;
    struct statx attr;
    uint64_t mount_id = 0;
    ino_t number;
    int none = -1;
    if (mount->fs_type == 0)
        return -EOPNOTSUPP;
    int err = handle_of_name(pass, caller, parent_fd, place->name, &handle, &mount_id);
    if (err < 0)
        return err;
    if (mount_id != mount->mount_id || !handle_number(mount->fs_type, &handle.head, &number) ||
        statx(parent_fd, place->name, flags, STATX_BASIC_STATS | STATX_MNT_ID, &attr) < 0)
        return -EAGAIN;
    if (attr.stx_mnt_id != mount_id || attr.stx_ino != number || !(S_ISREG(attr.stx_mode) || S_ISLNK(attr.stx_mode)))
        return -EAGAIN;
    struct stat shown = stat_of(&attr);
    const struct inode_key key = key_of(pass, parent->mount_index, parent_fd, &shown, &handle);
    return enter(pass, &key, place, parent_fd, &shown, &none, ret_entry);
}

void pass_note_name(struct pass *pass, fs_ino directory, const char *name, fs_ino ino) {
    struct seen_names *names = __atomic_load_n(&pass->seen_names, __ATOMIC_ACQUIRE);
    if (!names)
        return;
    uint64_t above = inode_table_set_above(pass->inodes, inode_table_get(pass->inodes, ino), directory);
    if (name)
        seen_names_note(names, ino, above, name);
}

/* An inode found by name keeps the descriptor if it is likely to be used next, or if there is room. */
static bool is_worth_opening(struct pass *pass, const struct inode_place *place) {
    return place->directory->is_by_name && (!place->is_listed || inode_table_held(pass->inodes) < place->path_fds_max);
}

static int look_up_opened(struct pass *pass, const struct fs_caller *caller, const struct inode_place *place,
                          int parent_fd, struct fs_entry *ret_entry) {
    uint32_t parent_mount_index = place->directory->mount_index;
    CLEANUP_FD int fd = open_name(pass, caller, parent_fd, place->name, RESOLVE_NO_XDEV);
    if (fd >= 0)
        return pass_enter(pass, parent_mount_index, place, &fd, ret_entry);
    if (fd != -EXDEV && fd != -ENOSYS) /* a kernel without openat2: every name may lead to another mount */
        return fd;
    uint32_t mount_index = 0;
    int err = cross_mount(pass, caller, parent_fd, place->name, &mount_index, &fd);
    if (err < 0)
        return err;
    return pass_enter_held(pass, mount_index, place, mount_index != parent_mount_index, &fd, ret_entry);
}

static int look_up(struct pass *pass, const struct fs_caller *caller, const struct inode_place *place, int parent_fd,
                   struct fs_entry *ret_entry) {
    int err = -EOPNOTSUPP;
    if (!is_worth_opening(pass, place))
        err = look_up_unopened(pass, caller, place, parent_fd, ret_entry);
    if (err < 0 && err != -ENOENT) {
        do
            err = look_up_opened(pass, caller, place, parent_fd, ret_entry);
        while (err < 0 && pass_may_retry(pass, err));
    }
    if (err == 0)
        pass_note_name(pass, inode_ino(place->directory), place->name, ret_entry->ino);
    return err;
}

int pass_look_up(struct pass *pass, const struct fs_caller *caller, const struct inode *parent, int parent_fd,
                 const char *name, struct fs_entry *ret_entry) {
    const struct inode_place place = pass_place(pass, parent, name);
    return look_up(pass, caller, &place, parent_fd, ret_entry);
}

int pass_look_up_listed(struct pass *pass, const struct fs_caller *caller, const struct inode *parent, int parent_fd,
                        const char *name, struct fs_entry *ret_entry) {
    struct inode_place place = pass_place(pass, parent, name);
    place.is_listed = true;
    return look_up(pass, caller, &place, parent_fd, ret_entry);
}

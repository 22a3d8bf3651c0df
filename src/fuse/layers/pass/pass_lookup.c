/* From names to inodes. LOOKUP, also of "." and "..", which the kernel sends only for file handles taken through the
 * mount. */
#include <linux/openat2.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "pass_private.h"
#include "seen_names.h"

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
    pass_show(pass, fd, attr);
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

static int look_up_opened(struct pass *pass, const struct fs_caller *caller, const struct inode_place *place,
                          int parent_fd, struct fs_entry *ret_entry) {
    const uint32_t parent_mount_index = place->directory->mount_index;
    uint32_t mount_index = 0;
    struct statx attr;
    CLEANUP_FD int fd = open_name(pass, caller, parent_fd, place->name, RESOLVE_NO_XDEV);
    if (fd >= 0)
        return pass_enter(pass, parent_mount_index, place, &fd, ret_entry);
    if (fd != -EXDEV && fd != -ENOSYS) /* a kernel without openat2: every name may lead to another mount */
        return fd;
    /* The root of the mount on a lower mount point, unless that is the mount we serve. Finding out must not send a
     * request to ourselves: the device number is known without one. */
    fd = open_name(pass, caller, parent_fd, place->name, 0);
    if (fd < 0)
        return fd;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &attr) < 0)
        return negative_errno();
    if (makedev(attr.stx_dev_major, attr.stx_dev_minor) == __atomic_load_n(&pass->own_device, __ATOMIC_RELAXED))
        return -ELOOP;
    int err = mount_table_find(&pass->mounts, fd, pass->proc_self_fd, &mount_index);
    if (err < 0)
        return err;
    return pass_enter_held(pass, mount_index, place, mount_index != parent_mount_index, &fd, ret_entry);
}

static int look_up(struct pass *pass, const struct fs_caller *caller, const struct inode_place *place, int parent_fd,
                   struct fs_entry *ret_entry) {
    int err = -EOPNOTSUPP;
    /* An inode found by name keeps the descriptor if it is likely to be used next, or if there is room. */
    bool is_worth_opening =
        place->directory->is_by_name && (!place->is_listed || inode_table_held(pass->inodes) < place->path_fds_max);
    if (!is_worth_opening)
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

/* ---- LOOKUP ---- */

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

/* If the kernel does not check permissions, it opens FIFOs, sockets and (but on a nodev mount) devices for everybody
 * who finds them, without asking us. So only callers who may read and write them find them, and their owners, who could
 * change the mode anyway. */
static int check_special(struct pass *pass, const struct fs_caller *caller, const struct fs_entry *entry) {
    const mode_t mode = entry->attr.st_mode;
    bool is_device = S_ISCHR(mode) || S_ISBLK(mode);
    bool is_special = S_ISFIFO(mode) || S_ISSOCK(mode) || (is_device && !pass_mount_has(pass, ST_NODEV));
    if (!is_special || caller->uid == entry->attr.st_uid)
        return 0;
    int err = pass_check_access(pass, caller, entry->ino, R_OK | W_OK);
    if (err < 0)
        inode_table_forget(pass->inodes, entry->ino, 1);
    return err;
}

int pass_op_lookup(struct fs_layer *layer, FS_CALL, const char *name, struct fs_entry *ret_entry) {
    struct pass *pass = to_pass(layer);
    if (strcmp(name, ".") == 0)
        return look_up_itself(pass, ino, ret_entry);
    CLEANUP_PATH_FD struct path_fd parent = PATH_FD_NONE;
    int err = pass_open_path_to_stat(pass, ino, &parent);
    if (err < 0)
        return err;
    if (strcmp(name, "..") == 0)
        return look_up_parent(pass, parent.fd, ret_entry);
    pass_note_look(pass, ino);
    const struct inode *inode = inode_table_get(pass->inodes, ino);
    err = pass_is_empty(pass, inode) ? -ENOENT : pass_check_name(name);
    if (err < 0)
        return err;
    err = pass_look_up(pass, caller, inode, parent.fd, name, ret_entry);
    return err == 0 && pass->check_as_caller ? check_special(pass, caller, ret_entry) : err;
}

/* Registering mounts, and finding out whether their inodes can be held by file handle. */
#include "mount_table.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base.h"

int mount_table_init(struct mount_table *table, bool shows_pseudo) {
    table->mounts = calloc(LOWER_MOUNTS_MAX, sizeof(*table->mounts)); /* pages are allocated on use */
    if (!table->mounts)
        return -ENOMEM;
    table->count = 0;
    table->shows_pseudo = shows_pseudo;
    pthread_mutex_init(&table->lock, NULL);
    return 0;
}

void mount_table_finish(struct mount_table *table) {
    for (uint32_t index = 0; index < table->count; index++)
        close_fd(&table->mounts[index].fd);
    free(table->mounts);
    pthread_mutex_destroy(&table->lock);
}

/* Where local file systems put the inode number (their encode_fh in the kernel's sources, fs/libfs.c and
 * mm/shmem.c). */
static const struct {
    long fs_type;
    int handle_type;
    unsigned handle_bytes;
    unsigned number_at;
    unsigned number_bytes;
} handle_layouts[] = {
    {EXT4_SUPER_MAGIC, 1, 8, 0, 4},    {TMPFS_MAGIC, 1, 12, 4, 8},          {XFS_SUPER_MAGIC, 1, 8, 0, 4},
    {XFS_SUPER_MAGIC, 0x81, 12, 0, 8}, {BTRFS_SUPER_MAGIC, 0x4d, 20, 0, 8},
};

bool handle_number(long fs_type, const struct file_handle *handle, ino_t *ret_number) {
    for (size_t index = 0; index < ARRAY_SIZE(handle_layouts); index++) {
        if (handle_layouts[index].fs_type != fs_type || handle_layouts[index].handle_type != handle->handle_type ||
            handle_layouts[index].handle_bytes != handle->handle_bytes)
            continue;
        uint64_t number = 0; /* with another byte order no number agrees, and all names are opened */
        memcpy(&number, handle->f_handle + handle_layouts[index].number_at, handle_layouts[index].number_bytes);
        *ret_number = number;
        return true;
    }
    return false;
}

/* Those without a name in <linux/magic.h>. */
#define CONFIGFS_MAGIC 0x62656570
#define FUSECTL_MAGIC 0x65735543
#define NFSD_MAGIC 0x6e667364
#define RPC_PIPEFS_MAGIC 0x67596969
#define APPARMORFS_MAGIC 0x5a3c69f0
#define RESCTRL_MAGIC 0x7655821
#define PIDFS_MAGIC 0x50494446

static const long pseudo_fs_types[] = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC,  CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,        TRACEFS_MAGIC,
    SECURITYFS_MAGIC, BPF_FS_MAGIC, DEVPTS_SUPER_MAGIC, SELINUX_MAGIC,       SMACK_MAGIC,          EFIVARFS_MAGIC,
    PSTOREFS_MAGIC,   NSFS_MAGIC,   BINFMTFS_MAGIC,     XENFS_SUPER_MAGIC,   BINDERFS_SUPER_MAGIC, CONFIGFS_MAGIC,
    FUSECTL_MAGIC,    NFSD_MAGIC,   RPC_PIPEFS_MAGIC,   APPARMORFS_MAGIC,    RESCTRL_MAGIC,        PIDFS_MAGIC,
};

/* True if fd is on a file system that shows and controls the kernel (proc, sysfs, cgroup and the like). Such a file
 * system grants access by who opened the file, which would be the daemon. */
static bool is_pseudo_fs(int fd) {
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0)
        return true; /* a file system of unknown type is not trusted */
    for (size_t index = 0; index < ARRAY_SIZE(pseudo_fs_types); index++) {
        if ((unsigned long)fs.f_type == (unsigned long)pseudo_fs_types[index])
            return true;
    }
    return false;
}

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200 /* Linux 6.5: a handle that only tells inodes apart */
#endif

static bool read_handle(int fd, int flags, struct lower_handle *ret_handle, uint64_t *ret_mount_id) {
    int mount_id;
    ret_handle->head.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(fd, "", &ret_handle->head, &mount_id, AT_EMPTY_PATH | flags) < 0)
        return false;
    *ret_mount_id = (uint64_t)mount_id;
    return true;
}

int mount_table_identify(const struct lower_mount *mount, int fd, struct lower_handle *ret_handle,
                         uint64_t *ret_mount_id) {
    struct statx attr;
    if (mount->handle_flags >= 0 && read_handle(fd, mount->handle_flags, ret_handle, ret_mount_id))
        return 0;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BTIME | STATX_MNT_ID, &attr) < 0)
        return negative_errno();
    const int64_t birth[2] = {attr.stx_btime.tv_sec, attr.stx_btime.tv_nsec};
    ret_handle->head.handle_type = HANDLE_IS_BIRTH_TIME;
    ret_handle->head.handle_bytes = attr.stx_mask & STATX_BTIME ? sizeof(birth) : 0;
    memcpy(ret_handle->head.f_handle, birth, ret_handle->head.handle_bytes);
    *ret_mount_id = attr.stx_mnt_id;
    return 0;
}

/* A descriptor, opened for reading, on the mount of a directory or regular file. -1: it cannot be opened, or a handle
 * of the mount does not lead back to the same inode, which takes privileges, and support by the file system. */
static int open_mount_fd(int fd, int proc_self_fd) {
    struct stat before;
    struct stat after;
    struct lower_handle handle;
    uint64_t mount_id;
    if (fstat(fd, &before) < 0 || !(S_ISDIR(before.st_mode) || S_ISREG(before.st_mode)))
        return -1;
    char path[16];
    snprintf(path, sizeof(path), "%d", fd);
    CLEANUP_FD int mount_fd = openat(proc_self_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (mount_fd < 0 || !read_handle(mount_fd, 0, &handle, &mount_id))
        return -1;
    CLEANUP_FD int reopened = open_by_handle_at(mount_fd, &handle.head, O_PATH | O_CLOEXEC);
    bool works = reopened >= 0 && fstat(mount_fd, &before) == 0 && fstat(reopened, &after) == 0 &&
                 before.st_dev == after.st_dev && before.st_ino == after.st_ino;
    return works ? steal_fd(&mount_fd) : -1;
}

/* The entry of a mount, even if nobody holds it: file handles taken there become valid again. */
static struct lower_mount *find(const struct mount_table *table, uint64_t mount_id, dev_t device) {
    for (uint32_t index = 0; index < table->count; index++) {
        if (table->mounts[index].mount_id == mount_id && table->mounts[index].device == device)
            return &table->mounts[index];
    }
    return NULL;
}

/* An entry for a new mount: an unused one of the same device, else a fresh one. */
static struct lower_mount *take_entry(struct mount_table *table, dev_t device) {
    struct lower_mount *unused = NULL;
    for (uint32_t index = 1; index < table->count; index++) {
        struct lower_mount *mount = &table->mounts[index];
        if (mount->hold_count == 0 && (!unused || mount->device == device))
            unused = mount;
    }
    if (unused && (unused->device == device || table->count == LOWER_MOUNTS_MAX))
        return unused;
    if (table->count == LOWER_MOUNTS_MAX)
        return NULL;
    struct lower_mount *fresh = &table->mounts[table->count];
    __atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
    return fresh;
}

/* Call under the lock. found->fd: taken over if the entry needs it.
 * Errors:  -ENFILE, -EAGAIN an entry is needed and the mount has not been probed */
static int hold_mount(struct mount_table *table, struct lower_mount *found, bool is_probed, uint32_t *ret_index) {
    struct lower_mount *mount = find(table, found->mount_id, found->device);
    if (!mount)
        mount = take_entry(table, found->device);
    if (!mount)
        return -ENFILE;
    if (mount->hold_count == 0) {
        if (!is_probed)
            return -EAGAIN;
        *mount = *found;
        found->fd = -1;
    }
    mount->hold_count++;
    *ret_index = (uint32_t)(mount - table->mounts);
    return 0;
}

/* Finds out what a mount is. It may block, so it is called without the lock. A handle of FUSE is valid only while its
 * daemon remembers the inode, so it counts for nothing. */
static void probe(const struct mount_table *table, int fd, int proc_self_fd, struct lower_mount *found) {
    struct lower_handle handle;
    struct statfs fs;
    uint64_t mount_id;
    ino_t number;
    found->is_empty = !table->shows_pseudo && is_pseudo_fs(fd);
    if (fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC)
        return;
    if (!read_handle(fd, 0, &handle, &mount_id)) {
        found->handle_flags = read_handle(fd, AT_HANDLE_FID, &handle, &mount_id) ? AT_HANDLE_FID : -1;
        return;
    }
    found->handle_flags = 0;
    found->fd = open_mount_fd(fd, proc_self_fd);
    if (handle_number(fs.f_type, &handle.head, &number))
        found->fs_type = fs.f_type;
}

static bool is_held(struct mount_table *table, const struct lower_mount *found) {
    pthread_mutex_lock(&table->lock);
    const struct lower_mount *known = find(table, found->mount_id, found->device);
    bool held = known && known->hold_count > 0;
    pthread_mutex_unlock(&table->lock);
    return held;
}

int mount_table_find(struct mount_table *table, int fd, int proc_self_fd, uint32_t *ret_index) {
    struct statx attr;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &attr) < 0)
        return negative_errno();
    struct lower_mount found = {.mount_id = attr.stx_mnt_id,
                                .device = makedev(attr.stx_dev_major, attr.stx_dev_minor),
                                .fd = -1,
                                .handle_flags = -1};
    int err = -EAGAIN;
    for (bool is_probed = !is_held(table, &found); err == -EAGAIN; is_probed = true) {
        if (is_probed)
            probe(table, fd, proc_self_fd, &found);
        pthread_mutex_lock(&table->lock);
        err = hold_mount(table, &found, is_probed, ret_index);
        pthread_mutex_unlock(&table->lock);
    }
    close_fd(&found.fd);
    return err;
}

void mount_table_hold(struct mount_table *table, uint32_t index) {
    pthread_mutex_lock(&table->lock);
    table->mounts[index].hold_count++;
    pthread_mutex_unlock(&table->lock);
}

/* The root's mount is never let go: any of its inodes may be asked for again. */
int mount_table_release(struct mount_table *table, uint32_t index) {
    int unused_fd = -1;
    pthread_mutex_lock(&table->lock);
    struct lower_mount *mount = &table->mounts[index];
    if (--mount->hold_count == 0)
        unused_fd = steal_fd(&mount->fd);
    pthread_mutex_unlock(&table->lock);
    return unused_fd;
}

const struct lower_mount *mount_table_get(const struct mount_table *table, uint32_t index) {
    return &table->mounts[index];
}

uint32_t mount_table_device_index(const struct mount_table *table, dev_t device) {
    uint32_t count = __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
    for (uint32_t index = 0; index < count; index++) {
        if (table->mounts[index].device == device)
            return index;
    }
    return (uint32_t)(device % 65521) + 1; /* a subvolume: a device without a mount of its own */
}

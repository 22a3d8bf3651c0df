/* Meeting mounts, and finding out whether their inodes can be held by file handle. */
#include "mount_table.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base.h"

int mount_table_init(struct mount_table *table) {
    table->mounts = calloc(LOWER_MOUNTS_MAX, sizeof(*table->mounts)); /* pages come with use */
    if (!table->mounts)
        return -ENOMEM;
    table->count = 0;
    pthread_mutex_init(&table->lock, NULL);
    return 0;
}

void mount_table_finish(struct mount_table *table) {
    for (uint32_t index = 0; index < table->count; index++)
        close_fd(&table->mounts[index].fd);
    free(table->mounts);
    pthread_mutex_destroy(&table->lock);
}

/* True if a handle of fd leads back to the same inode, which takes privileges and a file system that can.
 * FUSE's handles are only good while its daemon remembers the inode. */
static bool handles_work(int mount_fd) {
    struct {
        struct file_handle head;
        unsigned char bytes[MAX_HANDLE_SZ];
    } handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    int mount_id;
    struct statfs fs;
    if (fstatfs(mount_fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC)
        return false;
    if (name_to_handle_at(mount_fd, "", &handle.head, &mount_id, AT_EMPTY_PATH) < 0)
        return false;

    CLEANUP_FD int reopened = open_by_handle_at(mount_fd, &handle.head, O_PATH | O_CLOEXEC);
    struct stat before;
    struct stat after;
    return reopened >= 0 && fstat(mount_fd, &before) == 0 && fstat(reopened, &after) == 0 &&
           before.st_dev == after.st_dev && before.st_ino == after.st_ino;
}

/* A real descriptor on the mount of a directory or regular file, if its handles work; else -1. */
static int open_mount_fd(int fd, int proc_self_fd) {
    struct stat attr;
    if (fstat(fd, &attr) < 0 || !(S_ISDIR(attr.st_mode) || S_ISREG(attr.st_mode)))
        return -1;
    char path[16];
    snprintf(path, sizeof(path), "%d", fd);
    CLEANUP_FD int mount_fd = openat(proc_self_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (mount_fd < 0 || !handles_work(mount_fd))
        return -1;
    return steal_fd(&mount_fd);
}

static bool find(const struct mount_table *table, uint64_t mount_id, dev_t device, uint32_t *ret_index) {
    uint32_t count = __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
    for (uint32_t index = 0; index < count; index++) {
        if (table->mounts[index].mount_id == mount_id && table->mounts[index].device == device) {
            *ret_index = index;
            return true;
        }
    }
    return false;
}

int mount_table_find(struct mount_table *table, int fd, int proc_self_fd, uint32_t *ret_index) {
    struct statx attr;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &attr) < 0)
        return negative_errno();
    dev_t device = makedev(attr.stx_dev_major, attr.stx_dev_minor);

    if (find(table, attr.stx_mnt_id, device, ret_index))
        return 0;
    int mount_fd = open_mount_fd(fd, proc_self_fd); /* may block, so before the lock */
    int err = 0;
    pthread_mutex_lock(&table->lock);
    if (find(table, attr.stx_mnt_id, device, ret_index)) {
        close_fd(&mount_fd);
    } else if (table->count == LOWER_MOUNTS_MAX) {
        close_fd(&mount_fd);
        err = -ENFILE;
    } else {
        table->mounts[table->count] =
            (struct lower_mount){.mount_id = attr.stx_mnt_id, .device = device, .fd = mount_fd};
        *ret_index = table->count;
        __atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&table->lock);
    return err;
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

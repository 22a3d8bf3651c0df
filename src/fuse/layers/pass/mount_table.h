/* The lower mounts that have been met: the root's and those below it. A file handle is only good together with
 * a descriptor on its mount, so one is held for each. */
#ifndef MOUNT_TABLE_H
#define MOUNT_TABLE_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

struct lower_mount {
    uint64_t mount_id;
    dev_t device;
    int fd; /* really open, not O_PATH; -1: inodes of this mount are held by descriptor */
};

#define LOWER_MOUNTS_MAX 4096

struct mount_table {
    pthread_mutex_t lock;       /* for adding; entries below count never change */
    uint32_t count;             /* atomic */
    struct lower_mount *mounts; /* [LOWER_MOUNTS_MAX] */
};

int mount_table_init(struct mount_table *table);
void mount_table_finish(struct mount_table *table);

/* The index of the mount that fd (O_PATH) is on; met for the first time, it is probed for file handles.
 * proc_self_fd: for reopening fd.
 * Errors:  -ENFILE more mounts than the table holds, those of statx(2) */
int mount_table_find(struct mount_table *table, int fd, int proc_self_fd, uint32_t *ret_index);

const struct lower_mount *mount_table_get(const struct mount_table *table, uint32_t index);

/* Position of a device among those met, for telling inode numbers apart; the root's is 0. */
uint32_t mount_table_device_index(const struct mount_table *table, dev_t device);

#endif

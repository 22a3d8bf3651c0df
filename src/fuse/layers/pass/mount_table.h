/* The lower mounts met so far: the root's and those below it. A file handle can only be opened with a descriptor on its
 * mount, so the table holds one for each; but only while inodes of it are known or being looked up, so that a mount
 * below the root can be unmounted again.
 *
 * Invariant: an entry that is held does not change. An entry that is not held may be reused for another mount.
 * Threads:   any; an entry that is held is read without the lock. */
#ifndef MOUNT_TABLE_H
#define MOUNT_TABLE_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lower_mount {
    uint64_t mount_id;
    dev_t device;
    int fd;           /* opened for reading, not O_PATH; -1: inodes of this mount are found by name */
    int handle_flags; /* of name_to_handle_at(2); -1: its handles do not last */
    long fs_type;     /* as of statfs(2), if the place of the inode number in its handles is known; else 0 */
    bool is_empty;    /* a pseudo file system, shown as if it were empty: see is_pseudo_fs() */
    uint64_t hold_count;
};

#define LOWER_MOUNTS_MAX 4096

/* Room for any file handle. */
struct lower_handle {
    struct file_handle head;
    unsigned char bytes[MAX_HANDLE_SZ];
};

#define HANDLE_IS_BIRTH_TIME (-2) /* the handle_type if a time of birth replaces the handle */

struct mount_table {
    pthread_mutex_t lock;
    uint32_t count;             /* entries ever used; atomic */
    bool shows_pseudo;          /* also shows pseudo file systems: see is_pseudo_fs() */
    struct lower_mount *mounts; /* [LOWER_MOUNTS_MAX] */
};

int mount_table_init(struct mount_table *table, bool shows_pseudo);
void mount_table_finish(struct mount_table *table);

/* Distinguishes fd's inode from a later inode with the same number.
 * ret_handle:   the file handle, or else the time of birth (HANDLE_IS_BIRTH_TIME); 0 bytes if there is neither
 * ret_mount_id: the ID of fd's mount
 * Errors:  those of statx(2) */
int mount_table_identify(const struct lower_mount *mount, int fd, struct lower_handle *ret_handle,
                         uint64_t *ret_mount_id);

/* The index of the mount that fd (O_PATH) is on, held for the caller. A new mount is probed for file handles, which
 * takes the daemon's own privileges. proc_self_fd: for reopening fd.
 * Errors:  -ENFILE more mounts than the table holds, those of statx(2) */
int mount_table_find(struct mount_table *table, int fd, int proc_self_fd, uint32_t *ret_index);

/* Holds a mount once more. */
void mount_table_hold(struct mount_table *table, uint32_t index);

/* Lets go of a mount. Returns a descriptor that the caller must close, or -1. */
int mount_table_release(struct mount_table *table, uint32_t index);

/* The entry of a mount that is held. */
const struct lower_mount *mount_table_get(const struct mount_table *table, uint32_t index);

/* The inode's number in a handle. Returns false if its place is unknown, or attributes may have to come from
 * elsewhere. */
bool handle_number(long fs_type, const struct file_handle *handle, ino_t *ret_number);

/* The index of a device among those met, for telling inode numbers apart; the root's is 0. */
uint32_t mount_table_device_index(const struct mount_table *table, dev_t device);

#endif

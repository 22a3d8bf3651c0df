/* The inodes that somebody above knows: what they are below, and how often they were looked up.
 *
 * Invariants:
 *   - An inode's number (fs_ino) is its slot + 1 and, above that, its generation: no number is another inode's later
 *     on. A slot is not used again while its lookup count is above 0; when it is, its generation has changed.
 *   - One lower inode of one lower mount has one slot, however many hard links lead to it.
 *   - Slots never move, so finding one by number takes no lock. Counts, the hash table and the list of forgotten
 *     inodes change under one lock, which is never held over a system call.
 *   - path_fd goes from -1 to a descriptor at most once between the first lookup and the last forget. */
#ifndef INODE_TABLE_H
#define INODE_TABLE_H

#include "fs_ops.h"

struct mount_table;
struct open_file;

/* What tells one lower inode from another. With a handle it also finds the inode again. */
struct inode_key {
    dev_t device;
    ino_t number;
    uint32_t mount_index;
    bool is_hidden_device;      /* the kernel must not know its number: another inode than if it may */
    uint32_t handle_size_bytes; /* 0: no handle; the inode is held by path_fd */
    int handle_type;
    const unsigned char *handle;
};

#define INODE_HANDLE_INLINE_BYTES 24

struct inode {
    uint64_t lookup_count;
    ino_t number; /* on the lower file system */
    dev_t device;
    uint32_t mount_index;
    uint32_t generation; /* atomic */
    uint32_t slot;
    uint32_t hash_next;        /* slot + 1, 0 ends the chain */
    uint32_t forgotten_before; /* slot + 1, in the list of forgotten inodes */
    uint32_t forgotten_after;
    int path_fd; /* O_PATH, or -1; atomic */
    mode_t type; /* S_IFMT bits */
    int handle_type;
    uint16_t handle_size_bytes;
    bool used;
    bool is_hidden_device;
    union {
        unsigned char bytes[INODE_HANDLE_INLINE_BYTES];
        unsigned char *heap;
    } handle;
    struct open_file *open_files; /* under the open-file lock of the pass layer */
};

struct inode_table;

/* path_fds_max: how many path_fds may be kept in all. mounts: told which mounts have inodes with lookups; borrowed,
 * NULL: nobody is told */
int inode_table_create(size_t path_fds_max, size_t forgotten_max, struct mount_table *mounts,
                       struct inode_table **ret_table);
void inode_table_destroy(struct inode_table *table);

/* From now on inodes remember the directory that they were last looked up in. Before there are any. */
void inode_table_keep_above(struct inode_table *table);

/* What is kept: the directory's number, 0 if it is not known, and whether the inode is a directory itself. */
#define INODE_IS_DIRECTORY (UINT64_C(1) << 63)

static inline fs_ino inode_above_directory(uint64_t above) {
    return above & ~INODE_IS_DIRECTORY;
}

static inline bool inode_above_is_directory(uint64_t above) {
    return above & INODE_IS_DIRECTORY;
}

/* The caller holds a lookup count on the inode. Returns what is kept from now on. */
uint64_t inode_table_set_above(struct inode_table *table, const struct inode *inode, fs_ino directory);

/* What is kept of the inode of that number, also if nobody holds it. False: no such inode any more. Threads: any; takes
 * no lock */
bool inode_table_above(struct inode_table *table, fs_ino ino, uint64_t *ret_above);

/* The inode of that number, which the caller holds a lookup count on; NULL for a number that is no inode's, or no more.
 */
struct inode *inode_table_get(struct inode_table *table, fs_ino ino);

/* What is in a slot, in use or not; NULL: it and those behind it have never been used. */
struct inode *inode_table_at(struct inode_table *table, uint32_t slot);

/* Finds or adds the inode and counts one lookup. *path_fd is taken over (and set to -1) if the inode keeps it:
 * always for an inode without a handle, else while there is room unless it is a regular file or a symbolic link.
 * must_fit: there is room in any case; for what has just been made and cannot be refused any more
 * Errors:  -ENFILE no room for an inode that needs its path_fd, -ENOMEM */
int inode_table_look_up(struct inode_table *table, const struct inode_key *key, mode_t type, bool must_fit,
                        int *path_fd, struct inode **ret_inode);

/* Counts one more lookup of an inode known by number, also of one forgotten in the meantime.
 * Errors:  -ESTALE no such inode any more */
int inode_table_revive(struct inode_table *table, fs_ino ino, struct inode **ret_inode);

void inode_table_forget(struct inode_table *table, fs_ino ino, uint64_t count);

#define INODE_GENERATIONS ((fs_ino)1 << 30) /* that numbers tell apart: numbers from 2^62 on are not ours */

static inline fs_ino inode_ino(const struct inode *inode) {
    fs_ino generation = __atomic_load_n(&inode->generation, __ATOMIC_RELAXED);
    return (generation % INODE_GENERATIONS) << 32 | (fs_ino)(inode->slot + 1);
}

static inline const unsigned char *inode_handle(const struct inode *inode) {
    return inode->handle_size_bytes <= INODE_HANDLE_INLINE_BYTES ? inode->handle.bytes : inode->handle.heap;
}

static inline int inode_path_fd(const struct inode *inode) {
    return __atomic_load_n(&inode->path_fd, __ATOMIC_ACQUIRE);
}

/* How many inodes are known, and how many path_fds are kept. For tests and for measuring. */
void inode_table_count(struct inode_table *table, size_t *ret_inodes, size_t *ret_path_fds);

#endif

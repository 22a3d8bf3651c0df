/* The inodes that the kernel knows: which lower inode each one is, and its lookup count.
 *
 * A lower inode is found again in one of two ways. The first way is the file handle, if the lower file system and the
 * daemon's privileges allow that (root). The second way is the name: the inode holds a descriptor; if the descriptor
 * was closed to make room for others, the name is opened in its directory, which is found in the same way. The handle,
 * which any user may request (name_to_handle_at(2)), or else the time of birth shows whether the inode is still the
 * same.
 *
 * With handles only directories, and what the kernel opens by itself (FIFOs, devices, sockets), keep a descriptor while
 * there is room: a file that was deleted below must not stay allocated because the kernel remembers its name.
 *
 * An inode that is found by name and has lost its name keeps its descriptor, since programs may use it without OPEN. A
 * kernel that knows FUSE_NOTIFY_PRUNE is asked to forget such inodes that are not in use. The main thread asks, because
 * the eviction of an inode can wait for work that only workers do.
 *
 * Forgotten inodes are remembered by handle, up to 262,144 of them, so that file handles taken through the mount stay
 * valid. Memory that has only forgotten inodes is kept for 65,536 of them at most; the rest is given back. A slot never
 * moves, since the inode's number leads to the slot without a lock: so a single inode keeps the 104 KiB of its chunk.
 *
 * Invariants:
 *   - An inode's number (fs_ino) is its slot + 1 and, above that, its generation: no number is used for another inode
 *     later. A slot is not reused while its lookup count is above 0, nor while names of other inodes are in it; when it
 *     is reused, its generation has changed.
 *   - A lower inode of a lower mount has exactly one slot, also if it has several hard links.
 *   - Slots never move, so finding one by number takes no lock. Counts, the hash tables, names and the list of
 *     forgotten inodes change under one lock, which is never held over a system call.
 *   - path_fd of an inode that has a handle, or keeps_path_fd, goes from -1 to a descriptor at most once between the
 *     first lookup and the last forget, so it may be used without the lock. path_fd of any other inode may be closed at
 *     any time while it is not in use (inode_table_begin_step()), so it is read only under the lock.
 *   - An inode that is to be found by name, but has no name, keeps its descriptor, up to a bound: only the descriptor
 *     leads to the inode. */
#ifndef INODE_TABLE_H
#define INODE_TABLE_H

#include <limits.h>

#include "inode.h"

struct mount_table;

struct inode_table;

/* path_fds_max: how many path_fds inodes with handles may keep. mounts: learns which mounts have inodes with lookups;
 * borrowed, may be NULL */
int inode_table_create(size_t path_fds_max, size_t forgotten_max, struct mount_table *mounts,
                       struct inode_table **ret_table);
void inode_table_destroy(struct inode_table *table);

/* keeps: from now on inodes remember the directory of their latest lookup; false: they do not. Earlier directories are
 * forgotten.
 * Threads: any, one at a time */
void inode_table_keep_above(struct inode_table *table, bool keeps);

/* The remembered value: the directory's number, 0 if unknown, and whether the inode is a directory itself. */
#define INODE_IS_DIRECTORY (UINT64_C(1) << 63)

static inline fs_ino inode_above_directory(uint64_t above) {
    return above & ~INODE_IS_DIRECTORY;
}

static inline bool inode_above_is_directory(uint64_t above) {
    return above & INODE_IS_DIRECTORY;
}

/* The caller holds a lookup count on the inode. Returns the value remembered from now on. */
uint64_t inode_table_set_above(struct inode_table *table, const struct inode *inode, fs_ino directory);

/* The value remembered for the inode of that number, even after it was forgotten. Returns false if there is no such
 * inode any more, or it is no directory and nothing is remembered.
 * Threads: any; takes no lock */
bool inode_table_above(struct inode_table *table, fs_ino ino, uint64_t *ret_above);

/* The inode of that number, on which the caller holds a lookup count; NULL if the number is not an inode's (any
 * more). */
struct inode *inode_table_get(struct inode_table *table, fs_ino ino);

/* The contents of a slot, in use or not; NULL: neither it nor any behind it has been used. */
struct inode *inode_table_at(struct inode_table *table, uint32_t slot);

/* Finds or adds the inode and counts one lookup. *path_fd is taken over (and set to -1) if the inode keeps it. An inode
 * with a handle keeps the descriptor while there is room, unless it is a regular file or a symbolic link. An inode
 * found by name keeps the descriptor, unless the inode is listed and there is no room. An inode found by name that has
 * no descriptor needs a place.
 * place: NULL: unknown
 * Errors:  -ENOMEM */
int inode_table_look_up(struct inode_table *table, const struct inode_key *key, mode_t type,
                        const struct inode_place *place, int *path_fd, struct inode **ret_inode);

/* Counts one more lookup of an inode known by number, even if it has been forgotten.
 * Errors:  -ESTALE no such inode any more */
int inode_table_revive(struct inode_table *table, fs_ino ino, struct inode **ret_inode);

void inode_table_forget(struct inode_table *table, fs_ino ino, uint64_t count);

/* The number of known inodes, and of path_fds kept. For tests and for measuring. */
void inode_table_count(struct inode_table *table, size_t *ret_inodes, size_t *ret_path_fds);

/* ---- Inodes that are found by name: inode_steps.c. Threads: any ---- */

/* One step on the way to an inode, from the nearest directory above it that has a descriptor. */
struct inode_step {
    int fd;                /* in use until the step ends */
    struct inode *inode;   /* to open, in fd; NULL: fd is the one asked for. It stays until the step ends */
    struct inode *halfway; /* NULL, or an inode far above, to find first. Call inode_table_let_go() */
    char name[INODE_NAME_SIZE];
};

/* The caller holds a lookup count on the inode.
 * Errors:  -ESTALE it has no descriptor, and nothing leads to it. No step has begun then */
int inode_table_begin_step(struct inode_table *table, struct inode *inode, struct inode_step *ret_step);

/* Ends the step. *fd, opened for step->inode, becomes the inode's descriptor; if the inode has got a descriptor
 * meanwhile, that descriptor stays. Begins a use of the inode's descriptor.
 * fd:      *fd may be -1; set to -1 if taken over
 * Returns the descriptor in use, -1 if there is none. */
int inode_table_end_step(struct inode_table *table, struct inode_step *step, int *fd);

/* Ends the use of a descriptor. */
void inode_table_leave(struct inode_table *table, int fd);

/* The inode was not found by step->name: drops the name. Returns false if it is the only name; the inode keeps it. */
bool inode_table_try_next_name(struct inode_table *table, const struct inode_step *step);

/* The inode was found by another name. */
void inode_table_found_as(struct inode_table *table, const struct inode_step *step, const char *name);

/* A way to the inode of that number, even if it was forgotten: a descriptor, its own or of a directory above, which is
 * then in use, and the path from there, "" or "/NAME...". Returns the descriptor; -1: none is known */
int inode_table_begin_path(struct inode_table *table, fs_ino ino, char ret_below[PATH_MAX]);

/* The number of descriptors that can be given up. */
size_t inode_table_held(const struct inode_table *table);

/* True once any inode has been found by name. */
bool inode_table_has_named(const struct inode_table *table);

/* The number of descriptors that nothing else leads to, or that are just being closed: their files may be removed
 * ones. */
size_t inode_table_going(struct inode_table *table);

/* The number of them closed so far. */
size_t inode_table_gone(const struct inode_table *table);

/* Call around closing so many descriptors, which may be the last of removed files. */
void inode_table_begin_closing(struct inode_table *table, unsigned count);
void inode_table_end_closing(struct inode_table *table, unsigned count);

/* Begins a use of the least recently used descriptor, to give it up; -1: all are in use. The inode of the descriptor
 * can be opened again, unless there are more than nameless_max nameless inodes, or only nameless inodes: then a
 * descriptor of a nameless inode is returned, and ret_is_nameless is set. */
int inode_table_begin_giving_up(struct inode_table *table, size_t nameless_max, bool *ret_is_nameless);

/* Ends that use. is_wanted: its file has no link any more, so it is kept. Returns false if it was not closed. */
bool inode_table_end_giving_up(struct inode_table *table, int fd, bool is_wanted);

/* The inodes that only a descriptor leads to, if that is not in use.
 * Owner:   the caller frees the result; NULL: there are none, or there is no memory */
fs_ino *inode_table_list_nameless(struct inode_table *table, size_t *ret_count);

/* Counts removals and renames in a directory, to tell whether a name that was seen before is still valid. */
uint32_t inode_table_removals(struct inode_table *table, const struct inode *directory);

/* Call before a name is removed or moved. Returns the inode that is found by the name, NULL if there is none. The inode
 * stays until inode_table_let_go(). */
struct inode *inode_table_begin_removal(struct inode_table *table, const struct inode *directory, const char *name);

/* The name is removed, or has become that in `moved` (NULL: removed). Returns true if the inode has another name, which
 * may not be valid any more. inode: the result of begin, also NULL */
bool inode_table_end_removal(struct inode_table *table, const struct inode *directory, const char *name,
                             struct inode *inode, const struct inode_place *moved);

/* The inode has no link any more. */
void inode_table_drop_names(struct inode_table *table, struct inode *inode);

void inode_table_let_go(struct inode_table *table, struct inode *inode);

#endif

/* The inodes that somebody above knows: what they are below, and how often they were looked up.
 *
 * An inode is found again below in one of two ways. By its file handle, where the lower file system and the daemon's
 * privileges allow that. Else by name: through a descriptor that it holds, which is closed if others need it more, and
 * then by its name in a directory that is found in the same way. The handle, which anybody may ask for, or the time of
 * birth tells then whether it is still the same.
 *
 * Invariants:
 *   - An inode's number (fs_ino) is its slot + 1 and, above that, its generation: no number is another inode's later
 *     on. A slot is not used again while its lookup count is above 0, nor while names of others are in it; when it is,
 *     its generation has changed.
 *   - One lower inode of one lower mount has one slot, however many hard links lead to it.
 *   - Slots never move, so finding one by number takes no lock. Counts, the hash tables, names and the list of
 * forgotten inodes change under one lock, which is never held over a system call.
 *   - path_fd of an inode with a handle, or that keeps_path_fd, goes from -1 to a descriptor at most once between the
 *     first lookup and the last forget, so it may be used without the lock. That of any other inode may be closed at
 * any time, but for uses of it (inode_table_begin_step()), so it is not looked at without the lock.
 *   - An inode that is found by name and has none keeps its descriptor, up to a bound: nothing else leads to it. */
#ifndef INODE_TABLE_H
#define INODE_TABLE_H

#include <limits.h>

#include "inode.h"

struct mount_table;

struct inode_table;

/* path_fds_max: how many path_fds may be kept of inodes with handles. mounts: told which mounts have inodes with
 * lookups; borrowed, NULL: nobody is told */
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

/* What is kept of the inode of that number, also if nobody holds it. False: no such inode any more.
 * Threads: any; takes no lock */
bool inode_table_above(struct inode_table *table, fs_ino ino, uint64_t *ret_above);

/* The inode of that number, which the caller holds a lookup count on; NULL for a number that is no inode's, or no more.
 */
struct inode *inode_table_get(struct inode_table *table, fs_ino ino);

/* What is in a slot, in use or not; NULL: it and those behind it have never been used. */
struct inode *inode_table_at(struct inode_table *table, uint32_t slot);

/* Finds or adds the inode and counts one lookup. *path_fd is taken over (and set to -1) if the inode keeps it: one with
 * a handle while there is room, unless it is a regular file or a symbolic link; one that is found by name unless it is
 * listed, and there is no room. Without a descriptor it needs a place.
 * place: NULL: not known
 * Errors:  -ENOMEM */
int inode_table_look_up(struct inode_table *table, const struct inode_key *key, mode_t type,
                        const struct inode_place *place, int *path_fd, struct inode **ret_inode);

/* Counts one more lookup of an inode known by number, also of one forgotten in the meantime.
 * Errors:  -ESTALE no such inode any more */
int inode_table_revive(struct inode_table *table, fs_ino ino, struct inode **ret_inode);

void inode_table_forget(struct inode_table *table, fs_ino ino, uint64_t count);

/* How many inodes are known, and how many path_fds are kept. For tests and for measuring. */
void inode_table_count(struct inode_table *table, size_t *ret_inodes, size_t *ret_path_fds);

/* ---- Inodes that are found by name: inode_steps.c. Threads: any ---- */

/* One step on the way to an inode: from the nearest directory above that has a descriptor. */
struct inode_step {
    int fd;              /* in use until the step ends */
    struct inode *inode; /* which is to be opened in fd; NULL: fd is what was asked for. It stays until the step ends */
    struct inode *halfway; /* NULL, or far above what was asked for: to be found first. Call inode_table_let_go() */
    char name[INODE_NAME_SIZE];
};

/* The inode is looked up and held by the caller.
 * Errors: -ESTALE it has no descriptor, and nothing leads there. No step has begun then */
int inode_table_begin_step(struct inode_table *table, struct inode *inode, struct inode_step *ret_step);

/* What was opened for step->inode becomes its descriptor and is in use then, unless it has got one meanwhile, which is.
 * *fd: taken over, or -1. Returns the one in use, -1 if there is none. */
int inode_table_end_step(struct inode_table *table, struct inode_step *step, int *fd);

/* Ends the use of a descriptor. */
void inode_table_leave(struct inode_table *table, int fd);

/* It is not there by that name. Returns false if there is no other; it keeps that one then. */
bool inode_table_try_next_name(struct inode_table *table, const struct inode_step *step);

/* It is there by another name. */
void inode_table_found_as(struct inode_table *table, const struct inode_step *step, const char *name);

/* What leads to the inode of that number, also if nobody holds it: a descriptor, its own or of a directory above, which
 * is in use then, and the path from there, "" or "/NAME...". Returns the descriptor; -1: nothing is known */
int inode_table_begin_path(struct inode_table *table, fs_ino ino, char ret_below[PATH_MAX]);

/* How many descriptors are held that can be given up. */
size_t inode_table_held(const struct inode_table *table);

/* True once any inode is found by name. */
bool inode_table_has_named(const struct inode_table *table);

/* How many are held that nothing else leads to, or are just being closed: what they are of may be removed. */
size_t inode_table_going(struct inode_table *table);

/* How many of them have gone so far. */
size_t inode_table_gone(const struct inode_table *table);

/* Around closing so many descriptors, through which removed files may go. */
void inode_table_begin_closing(struct inode_table *table, unsigned count);
void inode_table_end_closing(struct inode_table *table, unsigned count);

/* Of those not in use, one that has not been for longest is in use now: -1 if there is none. It is to be given up,
 * unless nothing but it leads to its inode. More than nameless_max of those are given up too, which is told by
 * ret_is_nameless; and one in any case if nothing else is left. */
int inode_table_begin_giving_up(struct inode_table *table, size_t nameless_max, bool *ret_is_nameless);

/* Ends that use. is_wanted: its file has no link any more, so it is kept. Returns false if it was not closed. */
bool inode_table_end_giving_up(struct inode_table *table, int fd, bool is_wanted);

/* Those that nothing but a descriptor leads to, which is not in use.
 * Owner:   the caller frees the result; NULL: there are none, or there is no memory */
fs_ino *inode_table_list_nameless(struct inode_table *table, size_t *ret_count);

/* Counts what has gone from a directory or moved, to tell whether a name is still good that was seen before. */
uint32_t inode_table_removals(struct inode_table *table, const struct inode *directory);

/* Before a name goes or moves. Returns the inode that is found by it, NULL if there is none. It stays until it is let
 * go. */
struct inode *inode_table_begin_removal(struct inode_table *table, const struct inode *directory, const char *name);

/* The name has gone, or is that in `moved` now; NULL: nowhere. Returns true if the inode has another name, which may
 * not be good any more. inode: as begun, also NULL */
bool inode_table_end_removal(struct inode_table *table, const struct inode *directory, const char *name,
                             struct inode *inode, const struct inode_place *moved);

/* It has no link any more. */
void inode_table_drop_names(struct inode_table *table, struct inode *inode);

void inode_table_let_go(struct inode_table *table, struct inode *inode);

#endif

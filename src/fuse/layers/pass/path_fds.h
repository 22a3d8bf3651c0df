/* Descriptors that inodes hold while there is room: which inode holds each, which are in use, and which to close first.
 *
 * A table with an entry for each descriptor number, and lists through it, the least recently used first. Invariants:
 *   - A descriptor in use is not closed: a use begins and ends under the lock of the inode table, as does everything
 *     else here.
 *   - A descriptor that its inode gives up while it is in use has no owner from then on. The last user closes it. */
#ifndef PATH_FDS_H
#define PATH_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum path_fd_list {
    PATH_FDS_FILES,       /* can be opened again by name, like the next */
    PATH_FDS_DIRECTORIES, /* inodes in them are found through them */
    PATH_FDS_NAMELESS,    /* nothing else leads to the inode */
    PATH_FD_LISTS
};

struct path_fd_entry {
    uint32_t owner; /* the inode's slot (inode_slots.h) + 1; 0: none */
    uint32_t users;
    int before; /* descriptors; -1: none */
    int after;
    enum path_fd_list list;
};

struct path_fds {
    struct path_fd_entry *entries; /* by descriptor */
    size_t entry_count;
    size_t count; /* entries with an owner; atomic */
    struct {
        int first;
        int last;
        size_t count;
    } lists[PATH_FD_LISTS];
};

void path_fds_init(struct path_fds *fds);

/* Closes no descriptor. */
void path_fds_finish(struct path_fds *fds);

/* Errors: -ENOMEM */
int path_fds_add(struct path_fds *fds, int fd, uint32_t slot, enum path_fd_list list);

/* The owner gives the descriptor up. Returns true if the caller must close it; otherwise its last user does. */
bool path_fds_remove(struct path_fds *fds, int fd);

/* Puts the descriptor at the end of a list. */
void path_fds_move(struct path_fds *fds, int fd, enum path_fd_list list);

/* Begins a use of a descriptor that has an owner. */
void path_fds_use(struct path_fds *fds, int fd);

/* Ends a use; does nothing for a descriptor that is not in the table. Returns true if the caller must close it. */
bool path_fds_leave(struct path_fds *fds, int fd);

/* The least recently used descriptor that is not in use; -1: none. */
int path_fds_oldest(const struct path_fds *fds, enum path_fd_list list);

#endif

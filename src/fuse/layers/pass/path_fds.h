/* Descriptors that inodes hold for as long as there is room: by whom, who uses them just now, and which to close first.
 *
 * A table with an entry for each descriptor number, and lists through it, the one unused for longest first.
 * Invariants:
 *   - A descriptor that is in use is not closed: a use of it begins and ends under the lock of the inode table, as does
 *     everything else here.
 *   - One that its inode lets go of while it is in use belongs to nobody from then on. The last use closes it. */
#ifndef PATH_FDS_H
#define PATH_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum path_fd_list {
    PATH_FDS_FILES,       /* can be opened again by name, as the next */
    PATH_FDS_DIRECTORIES, /* what is in them is found through them */
    PATH_FDS_NAMELESS,    /* nothing else leads to the inode */
    PATH_FD_LISTS
};

struct path_fd_entry {
    uint32_t owner; /* slot + 1; 0: nobody's */
    uint32_t users;
    int before; /* descriptors; -1: none */
    int after;
    enum path_fd_list list;
};

struct path_fds {
    struct path_fd_entry *entries; /* by descriptor */
    size_t entry_count;
    size_t count; /* that have owners; atomic */
    struct {
        int first;
        int last;
        size_t count;
    } lists[PATH_FD_LISTS];
};

void path_fds_init(struct path_fds *fds);

/* Closes nothing. */
void path_fds_finish(struct path_fds *fds);

/* Errors: -ENOMEM */
int path_fds_add(struct path_fds *fds, int fd, uint32_t slot, enum path_fd_list list);

/* Its owner lets go of it. Returns true if the caller must close it; else who uses it does. */
bool path_fds_remove(struct path_fds *fds, int fd);

/* Puts it at the end of that list. */
void path_fds_move(struct path_fds *fds, int fd, enum path_fd_list list);

/* Begins a use of one that has an owner. */
void path_fds_use(struct path_fds *fds, int fd);

/* Ends a use; of others than those in here, does nothing. Returns true if the caller must close it. */
bool path_fds_leave(struct path_fds *fds, int fd);

/* The one unused for longest; -1: none that is not in use. */
int path_fds_oldest(const struct path_fds *fds, enum path_fd_list list);

#endif

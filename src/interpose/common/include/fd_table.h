/* Which descriptors belong to files that count: found out once, by the kind of file and its device, or by the kernel's
 * path, and remembered until the descriptor is closed. If the program opens or closes descriptors without calling our wrappers, a descriptor may be
 * unknown, or the table may say what was true of its number before; every wrapper that gives a number a new meaning
 * updates it.
 *
 * A child of vfork(2) has its parent's table and other descriptors: it only ever forgets. All functions keep errno. */
#ifndef FD_TABLE_H
#define FD_TABLE_H

#include <stdbool.h>

#include "preload.h"

#define FD_TABLE_SIZE 65536 /* numbers above are looked up each time */

enum fd_state {
    FD_UNKNOWN,
    FD_OUTSIDE,
    FD_ABOVE, /* a directory above a profiled one */
    FD_INSIDE,
};

extern unsigned char fd_table[FD_TABLE_SIZE]; /* enum fd_state, each read and written atomically */

/* Looks the descriptor up, and remembers the result. */
enum fd_state fd_table_find(int fd, const struct preload_ops *ops);

/* What is remembered. */
static inline enum fd_state fd_table_known(int fd) {
    return (unsigned)fd < FD_TABLE_SIZE ? (enum fd_state)__atomic_load_n(&fd_table[fd], __ATOMIC_RELAXED) : FD_UNKNOWN;
}

static inline enum fd_state fd_table_state(int fd, const struct preload_ops *ops) {
    enum fd_state state = fd_table_known(fd);
    return __builtin_expect(state == FD_UNKNOWN, 0) ? fd_table_find(fd, ops) : state;
}

/* True if calls on it count; then the live file has been joined. */
static inline bool fd_table_counts(int fd, const struct preload_ops *ops) {
    return fd_table_state(fd, ops) == FD_INSIDE && wrapper_has_thread();
}

/* A call of libc has just opened this descriptor. If calls on it count, the live file has been joined. FD_UNKNOWN: the
 * kernel does not say, as where there is no /proc */
enum fd_state fd_table_opened(int fd, const struct preload_ops *ops);

/* Remembers a state that is known otherwise. */
void fd_table_remember(int fd, enum fd_state state);

/* `copy` has become a duplicate of `fd`. */
void fd_table_copied(int fd, int copy);

/* Call before a number, or a range up to last, is closed. */
void fd_table_forget(int fd);
void fd_table_forget_range(unsigned first, unsigned last);

#endif

/* Which descriptors are of files that count: found out once, by the path that the kernel has for it, and remembered
 * until it is closed. What was opened, or closed, behind our back is one that nothing is known of, or says what was
 * true of the number before: whoever gives a number a new meaning through us says so here.
 *
 * A child of vfork(2) has its parent's table and other descriptors: it only ever forgets. All functions keep errno. */
#ifndef FD_TABLE_H
#define FD_TABLE_H

#include <stdbool.h>

#include "preload.h"

#define FD_TABLE_SIZE 65536 /* what is above is looked up each time */

enum fd_state {
    FD_UNKNOWN,
    FD_OUTSIDE,
    FD_ABOVE, /* a directory with a profiled one somewhere below it */
    FD_INSIDE,
};

extern unsigned char fd_table[FD_TABLE_SIZE]; /* enum fd_state, each read and written atomically */

/* Finds out, and remembers. */
enum fd_state fd_table_find(int fd, const struct preload_ops *ops);

static inline enum fd_state fd_table_state(int fd, const struct preload_ops *ops) {
    enum fd_state state =
        (unsigned)fd < FD_TABLE_SIZE ? (enum fd_state)__atomic_load_n(&fd_table[fd], __ATOMIC_RELAXED) : FD_UNKNOWN;
    return __builtin_expect(state == FD_UNKNOWN, 0) ? fd_table_find(fd, ops) : state;
}

/* Whether calls on it count; if so, the live file has been joined. */
static inline bool fd_table_counts(int fd, const struct preload_ops *ops) {
    return fd_table_state(fd, ops) == FD_INSIDE;
}

/* The number has just been given to what a call of libc's opened. If calls on it count, the live file has been joined.
 * FD_UNKNOWN: the kernel does not say, as there is no /proc */
enum fd_state fd_table_opened(int fd, const struct preload_ops *ops);

/* What is known of it from elsewhere, until it is closed. */
void fd_table_remember(int fd, enum fd_state state);

/* The number of `copy` has been given to what `fd` is. */
void fd_table_copied(int fd, int copy);

/* Before a number is given back, or up to last. */
void fd_table_forget(int fd);
void fd_table_forget_range(unsigned first, unsigned last);

#endif

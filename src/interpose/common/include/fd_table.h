/* The table of descriptors whose files count. Whether a file counts is found out once, from its kind and device, or
 * from the kernel's path, and remembered until the descriptor is closed. Every wrapper that gives a descriptor a new
 * file updates the table. If the program opens or closes descriptors without our wrappers, a descriptor may be unknown,
 * or its entry may be of an earlier file.
 *
 * A child of vfork(2) shares its parent's table, but has descriptors of its own: so it only removes entries. All
 * functions keep errno. */
#ifndef FD_TABLE_H
#define FD_TABLE_H

#include <stdbool.h>

#include "fd_entries.h"
#include "preload.h"

/* Looks the descriptor up, and remembers the result. */
fd_entry fd_table_find(int fd, const struct preload_ops *ops);

static inline fd_entry fd_table_entry(int fd, const struct preload_ops *ops) {
    const fd_entry entry = fd_table_known(fd);
    return __builtin_expect(entry == FD_UNKNOWN, 0) ? fd_table_find(fd, ops) : entry;
}

/* What calls on it are of; then the live file has been joined. 0: they do not count */
static inline call_of fd_table_counts(int fd, const struct preload_ops *ops) {
    const fd_entry entry = fd_table_entry(fd, ops);
    return fd_entry_state(entry) == FD_INSIDE && wrapper_has_thread() ? CALL_COUNTS | fd_entry_subject(entry) : 0;
}

/* A call of libc has just opened this descriptor, by this name. If calls on it count, the live file has been joined.
 * FD_UNKNOWN: the kernel does not say, as where there is no /proc
 * path: NULL: unknown */
fd_entry fd_table_opened(int fd, int dir_fd, const char *path, const struct preload_ops *ops);

/* Remembers what is known otherwise. */
void fd_table_remember(int fd, fd_entry entry);

/* `copy` has become a duplicate of `fd`. */
void fd_table_copied(int fd, int copy);

/* Call before a number, or a range up to last, is closed. */
void fd_table_forget(int fd);
void fd_table_forget_range(unsigned first, unsigned last);

#endif

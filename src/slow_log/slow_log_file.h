/* A log file that other programs may move away, such as logrotate(8).
 *
 * The file is private (mode 0600), and has only one writer (flock). Before each line the name is checked: if it no
 * longer belongs to this file, a new file is made. A file that would get too large is renamed to NAME.1. A line is
 * written as a whole, or not at all. */
#ifndef SLOW_LOG_FILE_H
#define SLOW_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

struct slow_log_file {
    int dir_fd;
    int fd;
    char *name; /* in the directory */
    char *old_name;
    uint64_t size_bytes_max; /* 0: any */
};

#define SLOW_LOG_FILE_NONE                                                                                             \
    { .dir_fd = -1, .fd = -1 }

/* Opens or creates the file. Prints errors.
 * path:    relative to the current directory
 * Errors:  -EPERM another user owns the file, -EACCES other users may read it, -ENOTSUP it is no regular file, -EBUSY
 *          another process writes to it, and those of opening it */
int slow_log_file_open(struct slow_log_file *file, const char *path, uint64_t size_bytes_max);
void slow_log_file_close(struct slow_log_file *file);

/* Errors: those of opening it anew, of renaming it, of writing; the next line tries again */
int slow_log_file_write(struct slow_log_file *file, const char *line, size_t size_bytes);

#endif

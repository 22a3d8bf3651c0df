/* Files that a client has opened for us. */
#ifndef CONTROL_FILE_H
#define CONTROL_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "control.h"

/* Whether it is an open file that may be written to: empty, regular, and outside the mount with the device number
 * own_device, since a write there would wait for ourselves.
 * Errors:  -EBADF it is not open, or not for writing, -ENOTSUP no regular file, -EEXIST it is not empty, -ELOOP */
int control_file_check(const struct control_file *file, dev_t own_device);

/* Writes the text to it, and syncs it to disk. Errors: the same, and those of writing */
int control_file_write(const struct control_file *file, dev_t own_device, const char *text, size_t size_bytes);

/* To see later whether a file has got a name since. */
struct control_file_name {
    uint32_t link_count;
    char path[PATH_MAX];
};

void control_file_note_name(int fd, struct control_file_name *ret_name);

/* True if it has more links than then, or another name; its directories may have been renamed. */
bool control_file_is_renamed(int fd, const struct control_file_name *before);

#endif

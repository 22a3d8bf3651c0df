/* Files that who asks has opened. */
#ifndef CONTROL_FILE_H
#define CONTROL_FILE_H

#include <sys/types.h>

#include "control.h"

/* Whether it is an open file that can be written to: empty, regular, and outside of the mount with the device number
 * own_device, since writing to that would be waiting for ourselves.
 * Errors:  -EBADF it is not open, or not for writing, -ENOTSUP no regular file, -EEXIST it holds something, -ELOOP */
int control_file_check(const struct control_file *file, dev_t own_device);

/* Writes the text to it, and has the disk hold it. Errors: the same, and those of writing */
int control_file_write(const struct control_file *file, dev_t own_device, const char *text, size_t size_bytes);

#endif

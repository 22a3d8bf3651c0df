/* Pages that programs have written through mappings, and nobody has synced, when the mount ends by a signal. */
#ifndef WRITE_BACK_H
#define WRITE_BACK_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes the kernel write them back, while workers still serve: for two seconds at most.
 * file: in the root of the mount, absolute; one that the daemon serves itself, so that nothing is profiled
 * Returns false if that hangs: its thread stays until the connection ends */
bool write_back_pages(const char *file, dev_t device, int fuse_fd);

#endif

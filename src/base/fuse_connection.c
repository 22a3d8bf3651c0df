/* Reading /sys/fs/fuse/connections/N/waiting; N is the device as the kernel itself has it. */
#include "fuse_connection.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base.h"

#define KERNEL_MINOR_BITS 20

int fuse_connection_waiting(dev_t device, uint64_t *ret_count) {
    char path[64];
    char text[32] = "";
    snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/waiting",
             major(device) << KERNEL_MINOR_BITS | minor(device));
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
        return negative_errno();
    char *end;
    *ret_count = strtoull(text, &end, 10);
    return end != text ? 0 : -EBADMSG;
}

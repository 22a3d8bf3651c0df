/* The device's ioctls for data=passthrough (linux/fuse.h of Linux 6.9), for systems whose headers are older than their
 * libfuse. */
#ifndef BACKING_IOCTL_H
#define BACKING_IOCTL_H

#include <linux/fuse.h>
#include <stdint.h>
#include <sys/ioctl.h>

#ifndef FUSE_DEV_IOC_BACKING_OPEN
struct fuse_backing_map {
    int32_t fd;
    uint32_t flags;
    uint64_t padding;
};
#define FUSE_DEV_IOC_BACKING_OPEN _IOW(FUSE_DEV_IOC_MAGIC, 1, struct fuse_backing_map)
#define FUSE_DEV_IOC_BACKING_CLOSE _IOW(FUSE_DEV_IOC_MAGIC, 2, uint32_t)
#endif

#endif

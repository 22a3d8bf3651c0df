/* The bodies of requests, as in <linux/fuse.h>. */
#include "request_body.h"

#include <fcntl.h>
#include <string.h>

#define READAHEAD_BYTES 65536U /* the kernel reads ahead 128 KiB at a time, and less for small files */

bool request_lacks_fsetid(uint32_t opcode, const char *body) {
    struct fuse_write_in write;
    struct fuse_setattr_in setattr;
    struct fuse_create_in create;
    switch (opcode) {
    case FUSE_WRITE:
        memcpy(&write, body, sizeof(write));
        return write.write_flags & FUSE_WRITE_KILL_SUIDGID;
    case FUSE_SETATTR:
        memcpy(&setattr, body, sizeof(setattr));
        return setattr.valid & FATTR_SIZE && setattr.valid & FATTR_KILL_SUIDGID; /* chown always has the flag */
    case FUSE_CREATE: /* may open an existing file, and truncate it */
        memcpy(&create, body, sizeof(create));
        return create.open_flags & FUSE_OPEN_KILL_SUIDGID;
    default:
        return false;
    }
}

bool request_is_readahead(uint32_t opcode, const char *body) {
    struct fuse_read_in read;
    if (opcode != FUSE_READ)
        return false;
    memcpy(&read, body, sizeof(read));
    return read.size >= READAHEAD_BYTES && !(read.flags & O_DIRECT);
}

bool request_is_data(uint32_t opcode) {
    return opcode == FUSE_READ || opcode == FUSE_WRITE;
}

uint32_t request_opcode_for_libfuse(uint32_t opcode) {
    switch (opcode) {
    case FUSE_TMPFILE:
        return FUSE_CREATE;
    case FUSE_STATX:
        return FUSE_GETATTR;
    case FUSE_COPY_FILE_RANGE_64:
        return FUSE_COPY_FILE_RANGE;
    default:
        return opcode;
    }
}

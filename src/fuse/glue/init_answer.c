/* Completing the answer to INIT.
 *
 * libfuse answers INIT, and older ones do not know newer features of the kernel. So these bits are added:
 *
 * FUSE_HANDLE_KILLPRIV_V2 (libfuse has it since 3.17): the lower file system takes away set-id bits and capabilities on
 * a write. Without it the kernel asks for security.capability before each single write.
 *
 * FUSE_PARALLEL_DIROPS: several threads may look up names of one directory, and list it, at a time. libfuse 3.14.0
 * accepts the wish for it, and does not pass it on.
 *
 * FUSE_DIRECT_IO_ALLOW_MMAP (since 3.16): files that are read and written past the page cache may be mapped shared. */
#include "init_answer.h"

#include <linux/fuse.h>
#include <stddef.h>
#include <string.h>

#include "glue.h"

#ifndef FUSE_DIRECT_IO_ALLOW_MMAP
#define FUSE_DIRECT_IO_ALLOW_MMAP (1ULL << 36)
#endif

static _Thread_local uint64_t offered_flags; /* offered flags while this thread has received INIT and not answered it */

void init_answer_look(const struct glue *glue, const void *request, ssize_t size_bytes) {
    struct fuse_in_header header;
    struct fuse_init_in init = {.flags = 0};
    if (size_bytes < (ssize_t)(sizeof(header) + offsetof(struct fuse_init_in, flags2)))
        return;
    memcpy(&header, request, sizeof(header));
    if (header.opcode != FUSE_INIT)
        return;
    size_t init_bytes = (size_t)size_bytes - sizeof(header);
    memcpy(&init, (const char *)request + sizeof(header), init_bytes < sizeof(init) ? init_bytes : sizeof(init));
    const uint64_t wanted_flags =
        FUSE_PARALLEL_DIROPS | FUSE_DIRECT_IO_ALLOW_MMAP | (glue->takes_set_id ? FUSE_HANDLE_KILLPRIV_V2 : 0);
    offered_flags = (init.flags | (uint64_t)init.flags2 << 32) & wanted_flags;
}

void init_answer_complete(const struct iovec *parts, int count) {
    struct fuse_init_out init;
    if (offered_flags == 0)
        return;
    bool is_whole = count == 2 && parts[1].iov_len == sizeof(init); /* else an error, or for an old kernel */
    if (is_whole) {
        memcpy(&init, parts[1].iov_base, sizeof(init));
        init.flags |= (uint32_t)offered_flags;
        if (init.flags & FUSE_INIT_EXT)
            init.flags2 |= (uint32_t)(offered_flags >> 32);
        memcpy(parts[1].iov_base, &init, sizeof(init));
    }
    offered_flags = 0;
}

/* What the loop reads from a request before libfuse sees it, because libfuse does not pass it on. */
#ifndef REQUEST_BODY_H
#define REQUEST_BODY_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>

#if FUSE_KERNEL_MINOR_VERSION < 37
#define FUSE_TMPFILE 51
#endif
#if FUSE_KERNEL_MINOR_VERSION < 39
#define FUSE_STATX 52
#endif
#if FUSE_KERNEL_MINOR_VERSION < 45
#define FUSE_COPY_FILE_RANGE_64 53
#endif

/* True for a write or truncation whose caller lacks CAP_FSETID. body: behind the header of a request of that opcode */
bool request_lacks_fsetid(uint32_t opcode, const char *body);

/* True for a read as large as the kernel's read-ahead and not direct. The caller waits for a direct read. */
bool request_is_readahead(uint32_t opcode, const char *body);

/* True for a read or a write. */
bool request_is_data(uint32_t opcode);

/* The opcode under which libfuse is given the request. Older releases of libfuse do not know FUSE_TMPFILE, FUSE_STATX
 * and FUSE_COPY_FILE_RANGE_64. Their bodies begin with the same members as those of FUSE_CREATE, FUSE_GETATTR and
 * FUSE_COPY_FILE_RANGE, so a worker gives them to libfuse as these, and the handler asks the worker which one it is
 * (loop_serves()). So interrupts and answers stay libfuse's job, whatever its version. Any other
 * opcode is returned as it is. Over io_uring libfuse's own handlers are called. */
uint32_t request_opcode_for_libfuse(uint32_t opcode);

#endif

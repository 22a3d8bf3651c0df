/* What is read from a request before libfuse sees it, because libfuse does not pass it on. */
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

/* A write or a truncation by somebody who lacks CAP_FSETID. body: behind the header of a request of that opcode */
bool request_lacks_fsetid(uint32_t opcode, const char *body);

/* A read as large as those that the kernel makes ahead, and not a direct one, which the caller waits for. */
bool request_is_readahead(uint32_t opcode, const char *body);

/* A read or a write. */
bool request_is_data(uint32_t opcode);

/* A request that older releases of libfuse do not know is given to them as one that they do: its body begins with the
 * same members, and the handler makes the answer, or one that looks the same. Any other opcode stays as it is. */
uint32_t request_opcode_for_libfuse(uint32_t opcode);

#endif

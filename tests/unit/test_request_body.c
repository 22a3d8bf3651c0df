/* What is read from requests before libfuse sees them. */
#include "request_body.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <stdlib.h>

#include "testing.h"

static bool reads_ahead(uint32_t size_bytes, uint32_t flags) {
    struct fuse_read_in read = {.size = size_bytes, .flags = flags};
    return request_is_readahead(FUSE_READ, (const char *)&read);
}

TEST(large_reads_but_direct_ones_are_ahead) {
    const struct fuse_write_in write = {.size = 131072};
    ck_assert(reads_ahead(131072, O_RDONLY));
    ck_assert(reads_ahead(131072, O_RDWR | O_NOATIME));
    ck_assert(!reads_ahead(131072, O_RDONLY | O_DIRECT));
    ck_assert(!reads_ahead(4096, O_RDONLY));
    ck_assert(!request_is_readahead(FUSE_WRITE, (const char *)&write));
}

TEST(who_lacks_cap_fsetid_is_told_by_writes_truncations_and_creations) {
    const struct fuse_write_in write = {.write_flags = FUSE_WRITE_KILL_SUIDGID};
    const struct fuse_setattr_in truncation = {.valid = FATTR_SIZE | FATTR_KILL_SUIDGID};
    const struct fuse_setattr_in change_of_owner = {.valid = FATTR_UID | FATTR_KILL_SUIDGID};
    const struct fuse_create_in create = {.open_flags = FUSE_OPEN_KILL_SUIDGID};
    const struct fuse_write_in plain = {.write_flags = FUSE_WRITE_LOCKOWNER};
    ck_assert(request_lacks_fsetid(FUSE_WRITE, (const char *)&write));
    ck_assert(request_lacks_fsetid(FUSE_SETATTR, (const char *)&truncation));
    ck_assert(request_lacks_fsetid(FUSE_CREATE, (const char *)&create));
    ck_assert(!request_lacks_fsetid(FUSE_SETATTR, (const char *)&change_of_owner));
    ck_assert(!request_lacks_fsetid(FUSE_WRITE, (const char *)&plain));
    ck_assert(!request_lacks_fsetid(FUSE_READ, (const char *)&write));
}

TEST(what_libfuse_does_not_know_has_a_body_that_it_does) {
    ck_assert_uint_eq(request_opcode_for_libfuse(FUSE_TMPFILE), FUSE_CREATE);
    ck_assert_uint_eq(request_opcode_for_libfuse(FUSE_STATX), FUSE_GETATTR);
    ck_assert_uint_eq(request_opcode_for_libfuse(FUSE_COPY_FILE_RANGE_64), FUSE_COPY_FILE_RANGE);
    for (uint32_t opcode = 0; opcode < FUSE_TMPFILE; opcode++)
        ck_assert_uint_eq(request_opcode_for_libfuse(opcode), opcode);
}

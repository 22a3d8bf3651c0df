/* Joining the ring of requests: a file of this user or of root, and no other. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "request_ring.h"
#include "testing.h"

#define OTHER 65534

static char path[] = "/tmp/osprof-ring-XXXXXX";

static void set_up(void) {
    struct request_ring ring = {.magic = REQUEST_RING_MAGIC,
                                .version = REQUEST_RING_VERSION,
                                .slot_count = REQUEST_RING_SLOTS,
                                .clock_kind = 1};
    CLEANUP_FD int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write_all(fd, &ring, sizeof(ring)), 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)request_ring_bytes(REQUEST_RING_SLOTS)), 0);
    setenv(REQUEST_RING_VARIABLE, path, 1);
}

static void tear_down(void) {
    unlink(path);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(the_ring_of_this_user_is_joined) {
    ck_assert_ptr_nonnull(request_ring_join());
}

TEST(no_ring_of_another_user_is_joined) {
    if (geteuid() != 0)
        return; /* only root can make files of other users */
    ck_assert_int_eq(chown(path, OTHER, OTHER), 0);
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_ptr_null(request_ring_join());
}

TEST(the_ring_of_root_is_joined_by_others) {
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_int_eq(seteuid(OTHER), 0);
    struct request_ring *ring = request_ring_join();
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_ptr_nonnull(ring);
}

TEST(no_ring_that_is_cut_short_is_joined) {
    ck_assert_int_eq(truncate(path, (off_t)request_ring_bytes(REQUEST_RING_SLOTS) - 1), 0);
    ck_assert_ptr_null(request_ring_join());
}

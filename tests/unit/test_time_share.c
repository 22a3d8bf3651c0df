/* A part of the time, and some at once. */

#include "testing.h"
#include "time_share.h"

static const struct time_share_limits limits = {.at_once_ns = 200, .divisor = 2};

TEST(all_may_be_taken_at_once_after_a_pause) {
    struct time_share share = {0};
    ck_assert_int_eq(time_share_left_ns(&share, &limits, 1000), 200);
    time_share_take(&share, &limits, 1000, 150);
    ck_assert_int_eq(time_share_left_ns(&share, &limits, 1000), 50);
    ck_assert_int_eq(time_share_left_ns(&share, &limits, 1000 + 300), 200);
    ck_assert_int_eq(time_share_left_ns(&share, &limits, 1000000), 200);
}

TEST(in_the_long_run_it_is_a_part) {
    struct time_share share = {0};
    int64_t taken_ns = 0;
    int64_t now_ns = 1000;
    const int64_t end_ns = now_ns + 100000;
    while (now_ns < end_ns) {
        const int64_t left_ns = time_share_left_ns(&share, &limits, now_ns);
        if (left_ns > 0) {
            time_share_take(&share, &limits, now_ns, left_ns);
            taken_ns += left_ns;
        }
        now_ns += left_ns > 0 ? left_ns : 7;
    }
    ck_assert_int_ge(taken_ns, 50000);
    ck_assert_int_le(taken_ns, 50000 + 2 * 200);
}

TEST(what_is_taken_beyond_is_owed) {
    struct time_share share = {0};
    time_share_take(&share, &limits, 1000, 1000);
    ck_assert_int_le(time_share_left_ns(&share, &limits, 1000), 0);
    ck_assert_int_le(time_share_left_ns(&share, &limits, 1000 + 1600), 0);
    ck_assert_int_gt(time_share_left_ns(&share, &limits, 1000 + 1602), 0);
}

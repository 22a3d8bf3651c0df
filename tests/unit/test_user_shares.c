#include <stdlib.h>
#include <unistd.h>

#include "process_rights.h"
#include "testing.h"
#include "user_shares.h"

#define OWNER 1009
#define USER 1013
#define PLACES 512U

static struct user_shares shares;

static void set_up(void) {
    user_shares_init(&shares, PLACES, OWNER);
}

/* Takes one after the other while there are any. Returns how many. */
static size_t take_all(uid_t uid) {
    size_t count = 0;
    while (user_shares_are_left(&shares, uid)) {
        user_shares_take(&shares, uid, 1);
        count++;
    }
    return count;
}

TEST_CASE(.set_up = set_up);

TEST(user_leaves_as_much_to_the_next) {
    size_t first = take_all(USER);
    ck_assert_uint_gt(first, PLACES / 3);
    ck_assert_uint_le(first, PLACES / 2);
    size_t second = take_all(USER + 1);
    ck_assert_uint_gt(second, first / 3);
    ck_assert(!user_shares_are_left(&shares, USER));
    ck_assert(user_shares_are_left(&shares, USER + 2));
}

TEST(many_users_together_leave_something_to_the_trusted) {
    for (uid_t uid = USER; uid < USER + 100000; uid++)
        take_all(uid);
    ck_assert(!user_shares_are_left(&shares, USER + 100000));
    ck_assert(!user_shares_are_left(&shares, 0));
    ck_assert_uint_ge(take_all(OWNER), PLACES / 16);
}

TEST(owner_takes_what_there_is) {
    ck_assert_uint_eq(take_all(OWNER), PLACES);
    ck_assert(!user_shares_are_left(&shares, USER));
}

/* Root of a container without a user namespace has the number 0, and no capability. */
TEST(number_0_alone_is_a_user_as_any) {
    user_shares_init(&shares, PLACES, 0);
    ck_assert(!user_shares_is_trusted(&shares, 0));
    ck_assert_uint_le(take_all(0), PLACES / 2);
    ck_assert(user_shares_are_left(&shares, USER));
}

/* Who has all capabilities here is who runs the tests as root, and not a thread that is not seen. */
TEST(administrator_takes_what_there_is) {
    bool is_admin = process_is_admin(getpid(), geteuid());
    take_all(geteuid());
    ck_assert(!user_shares_are_left(&shares, geteuid()));
    ck_assert(user_shares_are_left_for(&shares, geteuid(), getpid()) == is_admin);
    ck_assert(!user_shares_are_left_for(&shares, geteuid(), 0));
    ck_assert(!process_is_admin(getpid(), geteuid() + 1));
    while (is_admin && user_shares_are_left_for(&shares, geteuid(), getpid()))
        user_shares_take(&shares, geteuid(), 1);
    ck_assert(!is_admin || shares.taken == PLACES);
}

TEST(what_the_owner_has_counts_for_nobody_else) {
    const uid_t alike = OWNER + USER_SHARES_COUNTERS;
    user_shares_take(&shares, OWNER, PLACES / 2);
    ck_assert(user_shares_are_left(&shares, alike));
    ck_assert(user_shares_are_left(&shares, USER));
}

/* Its number has the last bits of many others. */
TEST(what_root_has_counts_for_no_other_user) {
    user_shares_take(&shares, 0, PLACES / 2);
    ck_assert(user_shares_are_left(&shares, USER_SHARES_COUNTERS));
    ck_assert(!user_shares_are_left(&shares, 0));
}

TEST(what_is_given_back_can_be_taken_again) {
    for (uid_t uid = USER; uid < USER + 101; uid++) {
        size_t count = take_all(uid);
        user_shares_give(&shares, uid, count);
        ck_assert_uint_eq(shares.taken, 0);
        ck_assert_uint_eq(take_all(uid), count);
        user_shares_give(&shares, uid, count);
    }
}

TEST(amount_may_exceed_the_bound_once) {
    ck_assert(user_shares_are_left(&shares, USER));
    user_shares_take(&shares, USER, 3 * (size_t)PLACES);
    ck_assert(!user_shares_are_left(&shares, USER));
    ck_assert(!user_shares_are_left(&shares, USER + 1));
    user_shares_give(&shares, USER, 3 * (size_t)PLACES);
    ck_assert(user_shares_are_left(&shares, USER));
}

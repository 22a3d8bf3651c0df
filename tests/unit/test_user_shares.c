#include <check.h>
#include <stdlib.h>

#include "run_suite.h"
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

START_TEST(user_leaves_as_much_to_the_next) {
    size_t first = take_all(USER);
    ck_assert_uint_gt(first, PLACES / 3);
    ck_assert_uint_le(first, PLACES / 2);
    size_t second = take_all(USER + 1);
    ck_assert_uint_gt(second, first / 3);
    ck_assert(!user_shares_are_left(&shares, USER));
    ck_assert(user_shares_are_left(&shares, USER + 2));
}
END_TEST

START_TEST(many_users_together_leave_something_to_the_trusted) {
    for (uid_t uid = USER; uid < USER + 100000; uid++)
        take_all(uid);
    ck_assert(!user_shares_are_left(&shares, USER + 100000));
    ck_assert_uint_ge(take_all(OWNER), PLACES / 16);
    ck_assert(!user_shares_are_left(&shares, 0));
}
END_TEST

START_TEST(trusted_take_what_there_is) {
    ck_assert_uint_eq(take_all(_i == 0 ? 0 : OWNER), PLACES);
    ck_assert(!user_shares_are_left(&shares, USER));
}
END_TEST

/* 1024 is root's number, modulo the count of counters. */
START_TEST(what_the_trusted_have_counts_for_nobody_else) {
    for (size_t i = 0; i < PLACES / 2; i++)
        user_shares_take(&shares, 0, 1);
    ck_assert(user_shares_are_left(&shares, USER_SHARES_COUNTERS));
    ck_assert(user_shares_are_left(&shares, USER));
}
END_TEST

START_TEST(what_is_given_back_can_be_taken_again) {
    for (uid_t uid = USER; uid < USER + 101; uid++) {
        size_t count = take_all(uid);
        user_shares_give(&shares, uid, count);
        ck_assert_uint_eq(shares.taken, 0);
        ck_assert_uint_eq(take_all(uid), count);
        user_shares_give(&shares, uid, count);
    }
}
END_TEST

START_TEST(amount_may_exceed_the_bound_once) {
    ck_assert(user_shares_are_left(&shares, USER));
    user_shares_take(&shares, USER, 3 * (size_t)PLACES);
    ck_assert(!user_shares_are_left(&shares, USER));
    ck_assert(!user_shares_are_left(&shares, USER + 1));
    user_shares_give(&shares, USER, 3 * (size_t)PLACES);
    ck_assert(user_shares_are_left(&shares, USER));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("user_shares");
    TCase *tcase = tcase_create("user_shares");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, user_leaves_as_much_to_the_next);
    tcase_add_test(tcase, many_users_together_leave_something_to_the_trusted);
    tcase_add_loop_test(tcase, trusted_take_what_there_is, 0, 2);
    tcase_add_test(tcase, what_the_trusted_have_counts_for_nobody_else);
    tcase_add_test(tcase, what_is_given_back_can_be_taken_again);
    tcase_add_test(tcase, amount_may_exceed_the_bound_once);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

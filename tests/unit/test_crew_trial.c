/* Which manner a trial settles for, by how many calls each serves. */
#include "crew_trial.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_CYCLES 1000000U

static struct crew_trial trial;
static uint64_t calls;
static uint64_t now_cycles;
static enum crew_manner manner;
static unsigned looks_in[CREW_MANNERS];

static void set_up(void) {
    crew_trial_begin(&trial, CREW_GIVES_WAY);
    calls = 0;
    now_cycles = 0;
    manner = CREW_GIVES_WAY;
    memset(looks_in, 0, sizeof(looks_in));
}

/* So many looks, with so many calls before each, by the manner. */
static void look_with(unsigned count, const unsigned served[CREW_MANNERS]) {
    for (unsigned i = 0; i < count; i++) {
        looks_in[manner]++;
        calls += served[manner];
        now_cycles += LOOK_CYCLES;
        manner = crew_trial_look(&trial, calls, now_cycles);
    }
}

static void look(unsigned count, unsigned giving_way, unsigned going_first, unsigned alone) {
    const unsigned served[CREW_MANNERS] = {
        [CREW_GIVES_WAY] = giving_way, [CREW_GOES_FIRST] = going_first, [CREW_IS_ALONE] = alone};
    look_with(count, served);
}

static void look_until_settled(unsigned giving_way, unsigned going_first, unsigned alone) {
    while (trial.step == 0)
        look(1, giving_way, going_first, alone);
    while (trial.step > 0)
        look(1, giving_way, going_first, alone);
}

START_TEST(the_best_manner_is_settled_for) {
    look(100, 200, 300, 250);
    ck_assert_int_eq(manner, CREW_GIVES_WAY); /* callers are to find their places first */
    look(1000, 200, 300, 250);
    ck_assert_int_eq(manner, CREW_GOES_FIRST);
    look(20000, 200, 300, 250);
    ck_assert_int_eq(trial.settled, CREW_GOES_FIRST);
    ck_assert_uint_gt(looks_in[CREW_GOES_FIRST], 20000);
    look_until_settled(200, 300, 500);
    ck_assert_int_eq(trial.settled, CREW_IS_ALONE);
    look_until_settled(600, 300, 500);
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
}
END_TEST

START_TEST(the_settled_manner_stays_if_it_is_as_good) {
    look(20000, 300, 300, 300);
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
    look(20000, 300, 320, 290); /* what may be noise */
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
    ck_assert_uint_gt(looks_in[CREW_GOES_FIRST], 50); /* and was tried again and again */
    ck_assert_uint_gt(looks_in[CREW_IS_ALONE], 50);
}
END_TEST

START_TEST(confirmed_it_is_tried_less_and_less) {
    unsigned looks, before = 0;
    for (int trials = 0; trials < 10; trials++) {
        looks = looks_in[CREW_GIVES_WAY];
        look_until_settled(300, 200, 200);
        looks = looks_in[CREW_GIVES_WAY] - looks;
        ck_assert_uint_ge(looks, before);
        before = looks;
    }
    ck_assert_uint_gt(before, 7000);
    look_until_settled(300, 600, 200); /* changed */
    looks = looks_in[CREW_GOES_FIRST];
    look_until_settled(300, 600, 200);
    ck_assert_uint_lt(looks_in[CREW_GOES_FIRST] - looks, 1000);
}
END_TEST

START_TEST(it_is_tried_soon_when_it_serves_less) {
    unsigned looks;
    look_until_settled(300, 200, 200);
    looks = looks_in[CREW_GIVES_WAY];
    look_until_settled(150, 200, 200);
    ck_assert_uint_lt(looks_in[CREW_GIVES_WAY] - looks, 100);
    ck_assert_int_ne(trial.settled, CREW_GIVES_WAY);
}
END_TEST

START_TEST(what_nothing_betters_is_not_tried_all_the_time) {
    for (int i = 0; i < 60000; i++) {
        bool is_tried = trial.step > 0; /* and serves more then than it does later */
        look(1, is_tried ? 390 : 300, 280, 270);
    }
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
    ck_assert_uint_gt(looks_in[CREW_GOES_FIRST], 10);
    ck_assert_uint_lt(looks_in[CREW_GOES_FIRST], 200);
}
END_TEST

START_TEST(all_are_tried_for_as_long) {
    unsigned before;
    while (trial.step == 0)
        look(1, 300, 300, 300);
    before = looks_in[CREW_GIVES_WAY];
    while (trial.step > 0)
        look(1, 300, 300, 300);
    ck_assert_uint_gt(looks_in[CREW_GOES_FIRST], 0);
    ck_assert_uint_eq(looks_in[CREW_GIVES_WAY] - before, looks_in[CREW_GOES_FIRST]);
    ck_assert_uint_eq(looks_in[CREW_IS_ALONE], looks_in[CREW_GOES_FIRST]);
}
END_TEST

START_TEST(a_clear_difference_takes_one_round) {
    unsigned looks_if_close;
    look_until_settled(300, 310, 300);
    looks_if_close = looks_in[CREW_GOES_FIRST];
    set_up();
    look_until_settled(300, 600, 300);
    ck_assert_uint_lt(looks_in[CREW_GOES_FIRST], looks_if_close);
}
END_TEST

START_TEST(so_does_one_that_nothing_betters) {
    look_until_settled(310, 300, 300);
    unsigned looks_if_not = looks_in[CREW_GOES_FIRST];
    set_up();
    look_until_settled(300, 310, 300);
    ck_assert_uint_gt(looks_in[CREW_GOES_FIRST], looks_if_not);
}
END_TEST

START_TEST(no_calls_change_nothing) {
    look(1000, 0, 0, 0);
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
    crew_trial_begin(&trial, CREW_GOES_FIRST);
    look(1000, 0, 0, 0);
    ck_assert_int_eq(trial.settled, CREW_GOES_FIRST);
}
END_TEST

START_TEST(more_callers_are_given_way_to_or_gone_before) {
    const unsigned best_first[CREW_MANNERS] = {200, 300, 200, 200};
    const unsigned best_free[CREW_MANNERS] = {[CREW_GIVES_WAY] = 200, [CREW_GOES_FIRST] = 200, [CREW_IS_FREE] = 300};
    crew_trial_begin_more(&trial);
    manner = trial.settled;
    ck_assert_int_eq(manner, CREW_GIVES_WAY);
    look_with(45, best_first);
    ck_assert_int_eq(manner, CREW_GIVES_WAY); /* not yet */
    look_with(30, best_first);
    ck_assert_int_eq(trial.settled, CREW_GOES_FIRST);
    ck_assert_uint_eq(looks_in[CREW_IS_ALONE] + looks_in[CREW_IS_FREE], 0);
    look_with(2000, best_free);
    ck_assert_int_eq(trial.settled, CREW_IS_FREE); /* all are tried later */
    ck_assert_uint_gt(looks_in[CREW_IS_ALONE], 0);
}
END_TEST

START_TEST(a_queue_is_soon_given_way_to_or_served_freely) {
    const unsigned deep[CREW_MANNERS] = {[CREW_GIVES_WAY] = 200, [CREW_IS_FREE] = 300};
    const unsigned shallow[CREW_MANNERS] = {[CREW_GIVES_WAY] = 300, [CREW_IS_FREE] = 200};
    crew_trial_begin_queue(&trial);
    ck_assert_int_eq(trial.settled, CREW_IS_FREE);
    look_with(40, shallow);
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
    crew_trial_begin_queue(&trial);
    look_with(100, deep);
    ck_assert_int_eq(trial.settled, CREW_IS_FREE);
    look_with(20000, deep);
    ck_assert_uint_gt(looks_in[CREW_IS_FREE], 19000);
    look_with(1000, shallow);
    ck_assert_int_eq(trial.settled, CREW_GIVES_WAY);
    ck_assert_uint_eq(looks_in[CREW_GOES_FIRST] + looks_in[CREW_IS_ALONE], 0);
}
END_TEST

START_TEST(what_a_queue_is_served_by_is_not_tried_all_the_time) {
    const unsigned deep[CREW_MANNERS] = {[CREW_GIVES_WAY] = 290, [CREW_IS_FREE] = 300};
    crew_trial_begin_queue(&trial);
    look_with(5000, deep);
    ck_assert_uint_gt(looks_in[CREW_GIVES_WAY], 10);
    ck_assert_uint_lt(looks_in[CREW_GIVES_WAY], 200);
}
END_TEST

static bool is_clear_with(unsigned giving_way, unsigned freely) {
    const unsigned served[CREW_MANNERS] = {[CREW_GIVES_WAY] = giving_way, [CREW_IS_FREE] = freely};
    crew_trial_begin_queue(&trial);
    while (trial.step == 0) {
        ck_assert(!crew_trial_is_clear(&trial));
        look_with(1, served);
    }
    while (trial.step > 0) {
        ck_assert(!crew_trial_is_clear(&trial));
        look_with(1, served);
    }
    return crew_trial_is_clear(&trial);
}

START_TEST(a_trial_is_clear_if_nothing_else_comes_near) {
    ck_assert(is_clear_with(200, 300));
    ck_assert(is_clear_with(300, 200));
    ck_assert(!is_clear_with(280, 300));
    ck_assert(!is_clear_with(300, 280));
    ck_assert(!is_clear_with(0, 0));
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("crew_trial");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, the_best_manner_is_settled_for);
    tcase_add_test(cases, the_settled_manner_stays_if_it_is_as_good);
    tcase_add_test(cases, confirmed_it_is_tried_less_and_less);
    tcase_add_test(cases, it_is_tried_soon_when_it_serves_less);
    tcase_add_test(cases, what_nothing_betters_is_not_tried_all_the_time);
    tcase_add_test(cases, all_are_tried_for_as_long);
    tcase_add_test(cases, a_clear_difference_takes_one_round);
    tcase_add_test(cases, so_does_one_that_nothing_betters);
    tcase_add_test(cases, no_calls_change_nothing);
    tcase_add_test(cases, more_callers_are_given_way_to_or_gone_before);
    tcase_add_test(cases, a_queue_is_soon_given_way_to_or_served_freely);
    tcase_add_test(cases, what_a_queue_is_served_by_is_not_tried_all_the_time);
    tcase_add_test(cases, a_trial_is_clear_if_nothing_else_comes_near);
    Suite *suite = suite_create("crew_trial");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What the kernel says of a thread: here, of the one that asks. */
#include <check.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proc_stat.h"
#include "run_suite.h"

START_TEST(a_name_may_hold_blanks_and_parentheses) {
    struct proc_stat stat;
    ck_assert_int_eq(prctl(PR_SET_NAME, "a) S (b 1"), 0);
    ck_assert(proc_stat_read((uint64_t)gettid(), &stat));
    ck_assert_str_eq(stat.name, "a) S (b 1");
    ck_assert_int_eq(stat.state[0], 'R');
}
END_TEST

START_TEST(fields_have_the_numbers_of_the_manual) {
    struct proc_stat stat;
    ck_assert(proc_stat_read((uint64_t)gettid(), &stat));
    ck_assert_ptr_eq(proc_stat_field(&stat, 3), stat.state);
    ck_assert_int_eq(strtol(proc_stat_field(&stat, 4), NULL, 10), getppid());
    ck_assert_int_eq(strtol(proc_stat_field(&stat, 6), NULL, 10), getsid(0));
}
END_TEST

START_TEST(there_are_not_a_hundred_fields) {
    struct proc_stat stat;
    ck_assert(proc_stat_read((uint64_t)gettid(), &stat));
    ck_assert_ptr_null(proc_stat_field(&stat, 100));
}
END_TEST

START_TEST(of_a_thread_that_is_not_there_nothing_is_read) {
    struct proc_stat stat;
    ck_assert(!proc_stat_read(UINT64_MAX, &stat));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proc_stat");
    TCase *all = tcase_create("proc_stat");
    tcase_add_test(all, a_name_may_hold_blanks_and_parentheses);
    tcase_add_test(all, fields_have_the_numbers_of_the_manual);
    tcase_add_test(all, there_are_not_a_hundred_fields);
    tcase_add_test(all, of_a_thread_that_is_not_there_nothing_is_read);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}

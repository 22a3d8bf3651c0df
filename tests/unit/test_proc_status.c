/* What the kernel says of a thread in its status: here, of the one that asks. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proc_status.h"
#include "run_suite.h"

START_TEST(numbers_are_those_of_their_lines) {
    uint64_t number = 0;
    ck_assert_int_eq(prctl(PR_SET_NAME, "\nTgid:\t1"), 0); /* no name makes a line */
    ck_assert(proc_status_number((uint64_t)gettid(), "Tgid", 10, &number));
    ck_assert_uint_eq(number, (uint64_t)getpid());
    ck_assert(proc_status_number((uint64_t)gettid(), "PPid", 10, &number));
    ck_assert_uint_eq(number, (uint64_t)getppid());
}
END_TEST

START_TEST(signals_that_wait_are_bits) {
    sigset_t set;
    uint64_t pending = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    ck_assert(proc_status_number((uint64_t)gettid(), "SigPnd", 16, &pending));
    ck_assert_uint_eq(pending, UINT64_C(1) << (SIGUSR2 - 1));
}
END_TEST

START_TEST(what_is_not_there_is_not_read) {
    uint64_t number = 47;
    ck_assert(!proc_status_number((uint64_t)gettid(), "Tg", 10, &number));
    ck_assert(!proc_status_number(UINT64_MAX, "Tgid", 10, &number));
    ck_assert_uint_eq(number, 47);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proc_status");
    TCase *tcase = tcase_create("proc_status");
    tcase_add_test(tcase, numbers_are_those_of_their_lines);
    tcase_add_test(tcase, signals_that_wait_are_bits);
    tcase_add_test(tcase, what_is_not_there_is_not_read);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

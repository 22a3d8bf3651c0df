/* The end of main() of each test. */
#ifndef RUN_SUITE_H
#define RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/* On a slow machine OSPROF_TIMEOUT_SCALE is the factor by which time limits of tests grow. Check reads it from another
 * variable when a test is added to a suite, so this runs before main(). */
__attribute__((constructor)) static void scale_timeouts(void) {
    const char *scale = getenv("OSPROF_TIMEOUT_SCALE");
    if (scale)
        setenv("CK_TIMEOUT_MULTIPLIER", scale, 0);
}

/* Adds a case with a set-up and a tear-down function (NULL: none). Each test may take a minute. */
static inline TCase *suite_case(Suite *suite, const char *name, SFun set_up, SFun tear_down) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return tcase;
}

/* Runs a suite, which it takes over. Returns the exit status */
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif

/* What main() of each test ends with. */
#ifndef RUN_SUITE_H
#define RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/* On a slow machine OSPROF_TIMEOUT_SCALE says how many times as long tests may take. Check knows it by another name,
 * which it asks for when a test is added to a suite, so before main(). */
__attribute__((constructor)) static void scale_timeouts(void) {
    const char *scale = getenv("OSPROF_TIMEOUT_SCALE");
    if (scale)
        setenv("CK_TIMEOUT_MULTIPLIER", scale, 0);
}

/* Adds a case whose tests begin and end with these functions (NULL: none), and may take a minute each. */
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

/* The main program of each file of unit tests. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "testing.h"

#define SECONDS_DEFAULT 60
#define SKIPPED 77 /* meson's exit status of a test that cannot run */

static struct testing_row *rows; /* by line */

void testing_add(struct testing_row *row) {
    struct testing_row **at = &rows;
    while (*at && (*at)->line < row->line)
        at = &(*at)->next;
    row->next = *at;
    *at = row;
}

__attribute__((weak)) bool testing_possible(void) {
    return true;
}

static TCase *begin_case(Suite *suite, const struct testing_row *row) {
    TCase *tcase = tcase_create("tests");
    tcase_add_checked_fixture(tcase, row->set_up, row->tear_down);
    tcase_add_unchecked_fixture(tcase, row->begin, row->end);
    tcase_set_timeout(tcase, row->seconds > 0 ? row->seconds : SECONDS_DEFAULT);
    suite_add_tcase(suite, tcase);
    return tcase;
}

int main(void) {
    if (!testing_possible())
        return SKIPPED;
    /* On a slow machine OSPROF_TIMEOUT_SCALE is the factor by which time limits grow. Check reads it from a variable of its own. */
    const char *scale = getenv("OSPROF_TIMEOUT_SCALE");
    if (scale)
        setenv("CK_TIMEOUT_MULTIPLIER", scale, 0);
    Suite *suite = suite_create(program_invocation_short_name);
    TCase *tcase = NULL;
    for (const struct testing_row *row = rows; row; row = row->next) {
        if (!tcase || !row->test)
            tcase = begin_case(suite, row);
        if (row->test && !(row->not_memcheck && getenv("UNDER_MEMCHECK")))
            _tcase_add_test(tcase, row->test, 0, 0, row->from, row->to > 0 ? row->to : 1);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#include "top_all.h"

#include <string.h>
#include <time.h>

#include "base.h"
#include "top_waits_page.h"

/* ---- As text ------------------------------------------------------------------------------------ */

/* Errors: as top_waits_refresh() */
static int wait_until(struct top_waits *waits, int64_t end_ns) {
    int error = 0;
    for (int64_t left_ns; error == 0 && (left_ns = end_ns - read_clock_ns(CLOCK_MONOTONIC)) > 0;) {
        const int64_t due_ns = top_waits_due_ns(waits);
        const int64_t wait_ns = left_ns < due_ns ? left_ns : due_ns;
        const struct timespec time = timespec_of(wait_ns);
        nanosleep(&time, NULL);
        error = top_waits_read(waits);
    }
    return error ? error : top_waits_refresh(waits);
}

static void print_report(const struct top_waits *waits, const struct top_all_options *options) {
    const struct screen screen = screen_of_stdout(0, options->ascii);
    CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, 1);
    top_waits_page_put_heading(&sheet, waits);
    sheet_gap(&sheet);
    top_waits_page_put_report(&sheet, waits, options->by ? waits->by : WAIT_BY_NOBODY);
    sheet_print(&sheet);
}

/* A report for each interval. main() reports errors of output. */
static enum status print_reports(struct top_waits *waits, const struct top_all_options *options) {
    int64_t next_ns = waits->taken_ns;
    int error = 0;
    for (unsigned number = 0; options->count == 0 || number < options->count; number++) {
        const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
        next_ns += options->delay_ns;
        next_ns = next_ns < now_ns ? now_ns : next_ns; /* intervals that were missed become one */
        error = wait_until(waits, next_ns);
        if (error)
            break;
        if (number > 0)
            putchar('\n');
        print_report(waits, options);
        if (fflush(stdout) != 0)
            break;
    }
    if (!error)
        return STATUS_OK;
    complain("cannot go on watching what threads wait for: %s", strerror(-error));
    return STATUS_TROUBLE;
}

/* ---- The command -------------------------------------------------------------------------------- */

static enum wait_by by_of(const struct top_all_options *options) {
    if (options->by)
        return wait_by_of_word(options->by);
    return options->batch ? WAIT_BY_PROGRAM : WAIT_BY_PROCESS;
}

enum status top_all(const struct top_all_options *options) {
    struct wait_scope scope;
    struct top_waits waits;
    enum status status = STATUS_TROUBLE;
    if (wait_scope_find(&options->processes, options->cgroup, &scope) != 0)
        return status;
    if (top_waits_start(&scope, by_of(options), &waits) == 0) {
        status = options->batch ? print_reports(&waits, options)
                                : top_waits_screen_run(&waits, options->delay_ns, options->ascii);
        top_waits_finish(&waits);
    }
    wait_scope_finish(&scope);
    return status;
}

/* The ring of slow calls to report. */
#include "slow_reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int slow_reports_init(struct slow_reports *reports) {
    reports->calls = calloc(SLOW_REPORTS_MAX, sizeof(reports->calls[0]));
    return reports->calls ? 0 : -ENOMEM;
}

void slow_reports_finish(struct slow_reports *reports) {
    free(reports->calls);
    *reports = (struct slow_reports){.calls = NULL};
}

void slow_reports_add(struct slow_reports *reports, const struct slow_call *call, const char *holder) {
    if (!reports->calls)
        return;
    if (reports->added_count - reports->taken_count == SLOW_REPORTS_MAX) {
        reports->lost_count++;
        return;
    }
    struct slow_report *report = &reports->calls[reports->added_count++ % SLOW_REPORTS_MAX];
    report->call = *call;
    memcpy(report->holder, holder, sizeof(report->holder));
}

/* The calls dropped ended after those in the ring. So their number is reported with the first call that was added after
 * them at the earliest: with the next one taken. */
bool slow_reports_take(struct slow_reports *reports, struct slow_report *ret_report, uint64_t *ret_lost) {
    if (reports->taken_count == reports->added_count)
        return false;
    *ret_report = reports->calls[reports->taken_count++ % SLOW_REPORTS_MAX];
    *ret_lost = reports->lost_count;
    reports->lost_count = 0;
    return true;
}

/* The ring of slow calls to report. */
#include "slow_reports.h"

#include <errno.h>
#include <stdlib.h>

int slow_reports_init(struct slow_reports *reports) {
    user_shares_init(&reports->shares, SLOW_REPORTS_MAX, 0);
    reports->calls = calloc(SLOW_REPORTS_MAX, sizeof(reports->calls[0]));
    return reports->calls ? 0 : -ENOMEM;
}

void slow_reports_finish(struct slow_reports *reports) {
    free(reports->calls);
    *reports = (struct slow_reports){.calls = NULL};
}

void slow_reports_add(struct slow_reports *reports, const struct slow_call *call) {
    if (!reports->calls)
        return;
    if (!user_shares_are_left(&reports->shares, (uid_t)call->call.uid)) {
        reports->lost_count++;
        return;
    }
    user_shares_take(&reports->shares, (uid_t)call->call.uid, 1);
    reports->calls[reports->added_count++ % SLOW_REPORTS_MAX] = *call;
}

/* The number of calls dropped is reported with the next one taken, which may have been added before them. */
bool slow_reports_take(struct slow_reports *reports, struct slow_call *ret_call, uint64_t *ret_lost) {
    if (reports->taken_count == reports->added_count)
        return false;
    *ret_call = reports->calls[reports->taken_count++ % SLOW_REPORTS_MAX];
    user_shares_give(&reports->shares, (uid_t)ret_call->call.uid, 1);
    *ret_lost = reports->lost_count;
    reports->lost_count = 0;
    return true;
}

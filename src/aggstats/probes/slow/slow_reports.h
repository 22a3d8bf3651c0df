/* Private: slow calls that have ended, on their way from the thread that ended them to the report function.
 *
 * A bounded ring, which users share. When a user has no place left, new entries of his are dropped and counted.
 * Threads: under the lock of struct slow */
#ifndef SLOW_REPORTS_H
#define SLOW_REPORTS_H

#include <stdbool.h>

#include "slow_store.h"
#include "user_shares.h"

#define SLOW_REPORTS_MAX 512

struct slow_reports {
    struct slow_call *calls; /* number i in i % SLOW_REPORTS_MAX; NULL: there is no report function */
    struct user_shares shares;
    uint64_t added_count;
    uint64_t taken_count;
    uint64_t lost_count; /* since the last one was taken */
};

/* Errors: -ENOMEM */
int slow_reports_init(struct slow_reports *reports);
void slow_reports_finish(struct slow_reports *reports);

/* Does nothing without a report function. */
void slow_reports_add(struct slow_reports *reports, const struct slow_call *call);

/* Takes the oldest one. ret_lost: how many were dropped since the one before. Returns false if there is none */
bool slow_reports_take(struct slow_reports *reports, struct slow_call *ret_call, uint64_t *ret_lost);

#endif

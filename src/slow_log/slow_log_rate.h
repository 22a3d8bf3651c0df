/* Limits the lines of a log in each minute, so that no user's calls use up the lines of other users. There is a maximum
 * for root, the same maximum for each other user, and twice the maximum for all other users together. A minute begins
 * with its first line. Pure functions. */
#ifndef SLOW_LOG_RATE_H
#define SLOW_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "user_shares.h"

struct slow_log_rate {
    unsigned lines_max;     /* in a minute */
    unsigned lines_of_root; /* in this minute */
    struct user_shares lines_of_others;
    bool is_running; /* a minute has begun */
    int64_t begin_ns;
};

/* Counts a line about a call of a user. Returns true if it may be written. now_ns: of a clock that is never set back */
bool slow_log_rate_allows(struct slow_log_rate *rate, uid_t uid, int64_t now_ns);

/* The end of the current minute; -1: none has begun. */
int64_t slow_log_rate_until(const struct slow_log_rate *rate);

/* Returns true once for each minute that has ended. */
bool slow_log_rate_is_over(struct slow_log_rate *rate, int64_t now_ns);

#endif

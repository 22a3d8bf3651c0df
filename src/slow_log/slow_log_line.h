/* Slow calls as lines of JSON, and how many of these there may be in a minute. */
#ifndef SLOW_LOG_LINE_H
#define SLOW_LOG_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "aggstats.h"
#include "user_shares.h"

struct slow_log_call {
    struct aggstats_call call; /* without stacks; its path and its chain are behind this struct */
    uint64_t missing;          /* slow calls before this one without a line */
};

/* Owner: the caller frees it, as one piece of memory. NULL: no memory */
struct slow_log_call *slow_log_call_copy(const struct aggstats_call *call);

/* The line with its newline, with the same fields in the same order each time; osprof(5) explains them.
 * Errors:  -ENOMEM
 * Owner:   the caller frees *ret_line */
int slow_log_line(const struct slow_log_call *call, const char *mountpoint, const struct aggstats_clock *clock,
                  char **ret_line, size_t *ret_size_bytes);

/* Limits the lines in each minute, so that no user's calls use up the lines of other users. There is a maximum for root, the
 * same maximum for each other user, and twice the maximum for all other users together. A minute begins with its first
 * line. Pure functions. */
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

/* How many lines a log takes: so many in each minute, which begins with its first line. Pure functions. */
#ifndef SLOW_LOG_RATE_H
#define SLOW_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct slow_log_rate {
    unsigned lines_max; /* in a minute */
    unsigned lines;     /* in this one */
    bool is_running;    /* a minute has begun */
    int64_t begin_ns;
};

/* Counts a line, and tells whether there is room for it. now_ns: of a clock that is never set back */
bool slow_log_rate_allows(struct slow_log_rate *rate, int64_t now_ns);

/* When the minute that has begun is over; -1: none has. */
int64_t slow_log_rate_until(const struct slow_log_rate *rate);

/* Whether a minute has ended, once. */
bool slow_log_rate_is_over(struct slow_log_rate *rate, int64_t now_ns);

#endif

/* Limits the lines of a log: a maximum in each minute, which begins with its first line. Pure functions. */
#ifndef SLOW_LOG_RATE_H
#define SLOW_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct slow_log_rate {
    unsigned lines_max; /* in a minute */
    unsigned lines;     /* in this minute */
    bool is_running;    /* a minute has begun */
    int64_t begin_ns;
};

/* Counts a line. Returns true if it may be written. now_ns: of a clock that is never set back */
bool slow_log_rate_allows(struct slow_log_rate *rate, int64_t now_ns);

/* The end of the current minute; -1: none has begun. */
int64_t slow_log_rate_until(const struct slow_log_rate *rate);

/* Returns true once for each minute that has ended. */
bool slow_log_rate_is_over(struct slow_log_rate *rate, int64_t now_ns);

#endif

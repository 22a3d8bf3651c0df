/* Private: how much of the time something may take: a part of all of it, and some at once after a pause (a leaky bucket). */
#ifndef TIME_SHARE_H
#define TIME_SHARE_H

#include <stdint.h>

struct time_share {
    int64_t empty_ns; /* CLOCK_MONOTONIC: when all that it took is forgotten, if it takes nothing more */
};

struct time_share_limits {
    int64_t at_once_ns;
    int64_t divisor; /* it may take 1/divisor of the time */
};

/* How long it may take now; 0 or less: not at all. */
int64_t time_share_left_ns(const struct time_share *share, const struct time_share_limits *limits, int64_t now_ns);

void time_share_take(struct time_share *share, const struct time_share_limits *limits, int64_t now_ns,
                     int64_t taken_ns);

#endif

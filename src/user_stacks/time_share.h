/* Private: a leaky bucket that limits the time of an activity: a part of all time, and a burst after a pause.
 * The bucket is one moment: when it will be empty. Taking time moves that moment on by the time times the divisor. */
#ifndef TIME_SHARE_H
#define TIME_SHARE_H

#include <stdint.h>

struct time_share {
    int64_t empty_ns; /* CLOCK_MONOTONIC: when the bucket will be empty, if no more time is taken */
};

struct time_share_limits {
    int64_t at_once_ns;
    int64_t divisor; /* the activity may take 1/divisor of the time */
};

/* The time that the activity may take now; 0 or less: none. */
static inline int64_t time_share_left_ns(const struct time_share *share, const struct time_share_limits *limits,
                                         int64_t now_ns) {
    const int64_t owed_ns = share->empty_ns > now_ns ? share->empty_ns - now_ns : 0;
    return limits->at_once_ns - owed_ns / limits->divisor;
}

static inline void time_share_take(struct time_share *share, const struct time_share_limits *limits, int64_t now_ns,
                                   int64_t taken_ns) {
    const int64_t from_ns = share->empty_ns > now_ns ? share->empty_ns : now_ns;
    share->empty_ns = from_ns + taken_ns * limits->divisor;
}

#endif

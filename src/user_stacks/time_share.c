/* The bucket is one moment: when it will be empty. Taking time moves that moment on by the time times the divisor. */
#include "time_share.h"

int64_t time_share_left_ns(const struct time_share *share, const struct time_share_limits *limits, int64_t now_ns) {
    const int64_t owed_ns = share->empty_ns > now_ns ? share->empty_ns - now_ns : 0;
    return limits->at_once_ns - owed_ns / limits->divisor;
}

void time_share_take(struct time_share *share, const struct time_share_limits *limits, int64_t now_ns,
                     int64_t taken_ns) {
    const int64_t from_ns = share->empty_ns > now_ns ? share->empty_ns : now_ns;
    share->empty_ns = from_ns + taken_ns * limits->divisor;
}

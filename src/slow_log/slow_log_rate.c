/* Limiting the lines in a minute. */
#include "slow_log_rate.h"

#define MINUTE_NS INT64_C(60000000000)

bool slow_log_rate_is_over(struct slow_log_rate *rate, int64_t now_ns) {
    bool is_over = rate->is_running && now_ns >= slow_log_rate_until(rate);
    if (is_over)
        rate->is_running = false;
    return is_over;
}

/* The first user may take half of what is left above the reserve of user_shares.h: that is to be lines_max. */
static void begin_minute(struct slow_log_rate *rate, int64_t now_ns) {
    const size_t lines = 2 * (size_t)rate->lines_max;
    rate->is_running = true;
    rate->begin_ns = now_ns;
    rate->lines_of_root = 0;
    user_shares_init(&rate->lines_of_others, lines + lines / 15, 0);
}

bool slow_log_rate_allows(struct slow_log_rate *rate, uid_t uid, int64_t now_ns) {
    slow_log_rate_is_over(rate, now_ns);
    if (!rate->is_running)
        begin_minute(rate, now_ns);
    if (uid == 0)
        return rate->lines_of_root < rate->lines_max && ++rate->lines_of_root > 0;
    const bool is_allowed = user_shares_are_left(&rate->lines_of_others, uid);
    if (is_allowed)
        user_shares_take(&rate->lines_of_others, uid, 1);
    return is_allowed;
}

int64_t slow_log_rate_until(const struct slow_log_rate *rate) {
    return rate->is_running ? rate->begin_ns + MINUTE_NS : -1;
}

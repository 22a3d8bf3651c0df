/* Limiting the lines in a minute. */
#include "slow_log_rate.h"

#define MINUTE_NS INT64_C(60000000000)

bool slow_log_rate_is_over(struct slow_log_rate *rate, int64_t now_ns) {
    bool is_over = rate->is_running && now_ns >= slow_log_rate_until(rate);
    if (is_over)
        rate->is_running = false;
    return is_over;
}

bool slow_log_rate_allows(struct slow_log_rate *rate, int64_t now_ns) {
    slow_log_rate_is_over(rate, now_ns);
    if (!rate->is_running) {
        rate->is_running = true;
        rate->begin_ns = now_ns;
        rate->lines = 0;
    }
    if (rate->lines == rate->lines_max)
        return false;
    rate->lines++;
    return true;
}

int64_t slow_log_rate_until(const struct slow_log_rate *rate) {
    return rate->is_running ? rate->begin_ns + MINUTE_NS : -1;
}

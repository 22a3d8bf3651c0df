/* Lines of the log of slow calls: what they say, and how many there may be. */
#include "slow_log_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "json_fields.h"
#include "json_writer.h"

#define MINUTE_NS INT64_C(60000000000)

struct slow_log_call *slow_log_call_copy(const struct aggstats_call *call) {
    const size_t path_bytes = call->path ? strlen(call->path) + 1 : 0;
    const size_t chain_bytes = call->chain ? sizeof(*call->chain) : 0;
    struct slow_log_call *copy = calloc(1, sizeof(*copy) + chain_bytes + path_bytes);
    if (!copy)
        return NULL;
    copy->call = *call;
    copy->call.stack = NULL;
    copy->call.user_stack = NULL;
    if (call->chain)
        copy->call.chain = memcpy(copy + 1, call->chain, chain_bytes);
    if (call->path)
        copy->call.path = memcpy((char *)(copy + 1) + chain_bytes, call->path, path_bytes);
    return copy;
}

int slow_log_line(const struct slow_log_call *line, const char *mountpoint, const struct aggstats_clock *clock,
                  char **ret_line, size_t *ret_size_bytes) {
    FILE *stream = open_memstream(ret_line, ret_size_bytes);
    if (!stream)
        return -ENOMEM;
    struct json_writer writer = {.stream = stream, .is_one_line = true};
    char time[UTC_TEXT_SIZE];
    format_utc(line->call.end_ns, time);
    json_begin(&writer, NULL, '{');
    json_text(&writer, "time", time);
    json_text(&writer, "mount", mountpoint);
    json_fields(&writer, call_fields, &line->call, clock->frequency_hz, JSON_FOR_LOG);
    json_count(&writer, "missing", line->missing);
    json_end(&writer, '}');
    if (fclose(stream) == 0)
        return 0;
    free(*ret_line);
    *ret_line = NULL;
    return -ENOMEM;
}

/* ---- Lines in a minute ---- */

bool slow_log_rate_is_over(struct slow_log_rate *rate, int64_t now_ns) {
    bool is_over = rate->is_running && now_ns >= slow_log_rate_until(rate);
    if (is_over)
        rate->is_running = false;
    return is_over;
}

bool slow_log_rate_allows(struct slow_log_rate *rate, uid_t uid, int64_t now_ns) {
    slow_log_rate_is_over(rate, now_ns);
    if (!rate->is_running) {
        /* The first user may take half of what is left above the reserve of user_shares.h: that is to be lines_max. */
        const size_t lines = 2 * (size_t)rate->lines_max;
        rate->is_running = true;
        rate->begin_ns = now_ns;
        rate->lines_of_root = 0;
        user_shares_init(&rate->lines_of_others, lines + lines / 15, 0);
    }
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

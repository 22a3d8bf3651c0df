/* Lines of the log of slow calls. */
#include "slow_log_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "json_fields.h"
#include "json_writer.h"

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

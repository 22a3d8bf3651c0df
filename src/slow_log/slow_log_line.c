/* Lines of the log of slow calls. */
#include "slow_log_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "holders_text.h"
#include "json_chain.h"
#include "json_writer.h"

struct slow_log_call *slow_log_call_copy(const struct aggstats_slow_call *call) {
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

static uint64_t nanoseconds(uint64_t cycles, const struct aggstats_clock *clock) {
    return (uint64_t)((double)cycles * NS_PER_S / (double)clock->frequency_hz);
}

static void write_fields(struct json_writer *writer, const struct slow_log_call *line, const char *mountpoint,
                         const struct aggstats_clock *clock) {
    const struct aggstats_slow_call *call = &line->call;
    char time[UTC_TEXT_SIZE];
    char holder[HOLDERS_SHORT_SIZE];
    format_utc(call->end_ns, time);
    json_text(writer, "time", time);
    json_text(writer, "mount", mountpoint);
    json_text(writer, "op", call->op);
    json_count(writer, "latency_ns", nanoseconds(call->latency_cycles, clock));
    json_why(writer, &call->cause);
    json_text(writer, "holder", holders_format_thing(call->chain, holder, sizeof(holder)));
    json_links(writer, call->chain);
    json_text(writer, "path", call->path ? call->path : "");
    if (call->object > 0)
        json_count(writer, "inode", call->object);
    json_count(writer, "pid", call->pid);
    json_count(writer, "process", call->process);
    json_text(writer, "program", call->program);
    json_count(writer, "uid", call->uid);
    json_count(writer, "error", call->error);
    json_count(writer, "asked_bytes", call->asked_bytes);
    json_count(writer, "moved_bytes", call->moved_bytes);
    json_count(writer, "offset", call->offset);
    json_count(writer, "missing", line->missing);
}

int slow_log_line(const struct slow_log_call *call, const char *mountpoint, const struct aggstats_clock *clock,
                  char **ret_line, size_t *ret_size_bytes) {
    FILE *stream = open_memstream(ret_line, ret_size_bytes);
    if (!stream)
        return -ENOMEM;
    struct json_writer writer = {.stream = stream, .is_one_line = true};
    json_begin(&writer, NULL, '{');
    write_fields(&writer, call, mountpoint, clock);
    json_end(&writer, '}');
    if (fclose(stream) == 0)
        return 0;
    free(*ret_line);
    *ret_line = NULL;
    return -ENOMEM;
}

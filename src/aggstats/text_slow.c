/* Slow calls and causes, as lines of the header: readers that know nothing of them take them for labels. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile.h"
#include "profile_slow.h"
#include "text_parser.h"

/* ---- Writing ---- */

static void write_cause(const struct aggstats_cause *cause, FILE *stream) {
    fprintf(stream, "# cause: %s calls %" PRIu64 " total %" PRIu64 " longest %" PRIu64 " ", cause->op, cause->calls,
            cause->total_cycles, cause->longest_cycles);
    text_write_value(stream, cause->text);
    putc('\n', stream);
}

/* The number of its cause among the lines of causes, from 1; 0: it is none of them. */
static size_t cause_number(const struct aggstats_profile *profile, const struct aggstats_slow_call *call) {
    const struct aggstats_cause *cause = profile_find_cause(profile, call->op, call->cause);
    return cause ? (size_t)(cause - profile->causes) + 1 : 0;
}

static void write_slow_call(const struct aggstats_profile *profile, const struct aggstats_slow_call *call,
                            FILE *stream) {
    fprintf(stream,
            "# slow_call: %s latency %" PRIu64 " end %" PRIu64 " cause %zu object %" PRIu64 " pid %" PRIu64
            " uid %" PRIu64 " error %" PRIu64 " asked %" PRIu64 " moved %" PRIu64 " offset %" PRIu64,
            call->op, call->latency_cycles, (uint64_t)call->end_ns, cause_number(profile, call), call->object,
            call->pid, call->uid, call->error, call->asked_bytes, call->moved_bytes, call->offset);
    text_write_path(call->path, stream);
}

void text_write_slow(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->slow_cycles > 0)
        fprintf(stream, "# slow: %" PRIu64 "\n", profile->slow_cycles);
    for (size_t i = 0; i < profile->cause_count; i++)
        write_cause(&profile->causes[i], stream);
    for (size_t i = 0; i < profile->slow_call_count; i++)
        write_slow_call(profile, &profile->slow_calls[i], stream);
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        if (!profile->in_flight[i].cause[0])
            continue;
        fprintf(stream, "# waiting: %zu ", i + 1);
        text_write_value(stream, profile->in_flight[i].cause);
        putc('\n', stream);
    }
}

/* ---- Reading ---- */

int parser_slow(struct parser *parser, char *value) {
    return parser_only_number(parser, value, "a number of cycles", &parser->profile.slow_cycles);
}

/* The rest of the line. */
static int parse_cause_text(struct parser *parser, char *cursor, char ret_text[AGGSTATS_CAUSE_SIZE]) {
    text_skip_blanks(&cursor);
    text_unescape(cursor);
    if (!cursor[0] || strlen(cursor) >= AGGSTATS_CAUSE_SIZE)
        return parser_fail(parser, "expected a cause of 1 to %d characters", AGGSTATS_CAUSE_SIZE - 1);
    snprintf(ret_text, AGGSTATS_CAUSE_SIZE, "%s", cursor);
    return 0;
}

/* "FSYNC calls 12 total 5200000000 longest 780000000 waiting for the ext4 journal to commit" */
int parser_cause(struct parser *parser, char *value) {
    struct aggstats_cause cause = {.calls = 0};
    char *cursor = value;
    if (parser->profile.cause_count == PROFILE_CAUSES_MAX)
        return parser_fail(parser, "expected at most %d causes", PROFILE_CAUSES_MAX);
    int err = parser_name(parser, text_next_word(&cursor), cause.op);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "calls", &cause.calls);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "total", &cause.total_cycles);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "longest", &cause.longest_cycles);
    if (err == 0)
        err = parse_cause_text(parser, cursor, cause.text);
    if (err == 0 && profile_find_cause(&parser->profile, cause.op, cause.text))
        err = parser_fail(parser, "expected every cause of OP_%s once, found one a second time", cause.op);
    return err < 0 ? err : profile_append_cause(&parser->profile, &cause);
}

static int settle_cause(struct parser *parser, uint64_t number, struct aggstats_slow_call *call) {
    const struct aggstats_profile *profile = &parser->profile;
    if (number == 0)
        return 0;
    if (number > profile->cause_count || strcmp(profile->causes[number - 1].op, call->op) != 0)
        return parser_fail(parser, "expected the number of a cause of OP_%s, found %" PRIu64, call->op, number);
    memcpy(call->cause, profile->causes[number - 1].text, sizeof(call->cause));
    return 0;
}

/* As they are written by write_slow_call(). */
static int parse_slow_numbers(struct parser *parser, char **cursor, struct aggstats_slow_call *call) {
    uint64_t end_ns = 0;
    uint64_t cause = 0;
    const struct {
        const char *keyword;
        uint64_t *number;
    } numbers[] = {{"latency", &call->latency_cycles},
                   {"end", &end_ns},
                   {"cause", &cause},
                   {"object", &call->object},
                   {"pid", &call->pid},
                   {"uid", &call->uid},
                   {"error", &call->error},
                   {"asked", &call->asked_bytes},
                   {"moved", &call->moved_bytes},
                   {"offset", &call->offset}};
    int err = 0;
    for (size_t i = 0; i < ARRAY_SIZE(numbers) && err == 0; i++)
        err = parser_keyed_number(parser, cursor, numbers[i].keyword, numbers[i].number);
    if (err < 0)
        return err;
    if (end_ns > INT64_MAX)
        return parser_fail(parser, "expected nanoseconds since 1970 as the end of a slow call");
    call->end_ns = (int64_t)end_ns;
    return settle_cause(parser, cause, call);
}

int parser_slow_call(struct parser *parser, char *value) {
    struct aggstats_slow_call call = {.path = NULL};
    char *cursor = value;
    if (parser->profile.slow_call_count == PROFILE_SLOW_CALLS_MAX)
        return parser_fail(parser, "expected at most %d slow calls", PROFILE_SLOW_CALLS_MAX);
    int err = parser_name(parser, text_next_word(&cursor), call.op);
    if (err == 0)
        err = parse_slow_numbers(parser, &cursor, &call);
    CLEANUP_FREE char *path = NULL;
    if (err == 0)
        err = parser_path(parser, &cursor, &path);
    call.path = path;
    return err < 0 ? err : profile_append_slow_call(&parser->profile, &call);
}

/* "1 waiting for the disk": of the first call in flight */
int parser_waiting(struct parser *parser, char *value) {
    const struct aggstats_profile *profile = &parser->profile;
    uint64_t number = 0;
    char *cursor = value;
    int err = parser_number(parser, text_next_word(&cursor), "the number of a call in flight", &number);
    if (err == 0 && (number == 0 || number > profile->in_flight_count))
        err = parser_fail(parser, "expected one of the %zu calls in flight so far, found number %" PRIu64,
                          profile->in_flight_count, number);
    return err < 0 ? err : parse_cause_text(parser, cursor, profile->in_flight[number - 1].cause);
}

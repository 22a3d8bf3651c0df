/* Lines of the log of slow calls: what they say, and how many there may be. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "slow_log.h"
#include "slow_log_line.h"
#include "testing.h"

#define SECOND_NS INT64_C(1000000000)

static char *line_of(const struct aggstats_call *call, uint64_t missing) {
    const struct aggstats_clock clock = {.kind = AGGSTATS_CLOCK_TSC, .frequency_hz = 2000000000};
    CLEANUP_FREE struct slow_log_call *copy = slow_log_call_copy(call);
    char *line;
    size_t size_bytes;
    copy->missing = missing;
    ck_assert_int_eq(slow_log_line(copy, "/mnt", &clock, &line, &size_bytes), 0);
    ck_assert_uint_eq(strlen(line), size_bytes);
    return line;
}

TEST(a_call_is_one_line) {
    struct aggstats_call call = {.op = "READ",
                                 .cause = {AGGSTATS_CAUSE_DISK_READ, 0, "disk_read", "reading from the disk"},
                                 .end_ns = 1764065700 * SECOND_NS + 1,
                                 .latency_cycles = 500000001,
                                 .object = UINT64_MAX,
                                 .pid = 4711,
                                 .process = 4700,
                                 .program = "cc1",
                                 .uid = 1000,
                                 .error = 5,
                                 .asked_bytes = 4096,
                                 .moved_bytes = 10,
                                 .offset = 8192};
    char path[] = "/a\"b\\c\n\033[31m\xff";
    struct aggstats_chain chain = {.links = {{.waiter = {.process = 4711},
                                              .thing = AGGSTATS_CAUSE_FLOCK,
                                              .object = "/a\"b",
                                              .relation = AGGSTATS_HELD,
                                              .holder = {.process = 5, .name = "x"}}},
                                   .count = 1};
    call.path = path;
    call.chain = &chain;
    CLEANUP_FREE char *line = line_of(&call, 3);
    ck_assert_str_eq(line, "{\"time\": \"2025-11-25T10:15:00.000000001Z\", \"mount\": \"/mnt\", \"op\": \"READ\", "
                           "\"latency_ns\": 250000000, \"cause\": \"reading from the disk\", "
                           "\"cause_id\": \"disk_read\", \"cause_class\": \"disk_read\", "
                           "\"path\": \"/a\\\"b\\\\c\\u000a\\u001b[31m\xef\xbf\xbd\", "
                           "\"inode\": 18446744073709551615, \"pid\": 4711, \"process\": 4700, \"program\": \"cc1\", "
                           "\"uid\": 1000, \"error\": 5, "
                           "\"asked_bytes\": 4096, \"moved_bytes\": 10, \"offset\": 8192, "
                           "\"holder\": \"the flock of /a\\\"b, held by x 5\", "
                           "\"links\": [{\"process\": 4711, \"waits_for\": \"flock\", \"object\": \"/a\\\"b\", "
                           "\"relation\": \"held\", \"holder_process\": 5, \"holder_program\": \"x\"}], "
                           "\"missing\": 3}\n");
}

/* The call belongs to a profile, which may be freed before the line is written. */
TEST(copy_points_to_nothing_of_the_call) {
    char text[] = "of the profile";
    struct aggstats_chain chain = {.links = {{.object = "of the profile"}}, .count = 1};
    const struct aggstats_call call = {.path = text, .stack = text, .user_stack = text, .chain = &chain};
    CLEANUP_FREE struct slow_log_call *copy = slow_log_call_copy(&call);
    ck_assert_ptr_null(copy->call.stack);
    ck_assert_ptr_null(copy->call.user_stack);
    memset(text, 'x', sizeof(text) - 1);
    memset(&chain, 'x', sizeof(chain));
    ck_assert_str_eq(copy->call.path, "of the profile");
    ck_assert_str_eq(copy->call.chain->links[0].object, "of the profile");
}

TEST(what_is_not_known_is_empty) { /* an inode's number is not there */
    const struct aggstats_call call = {.op = "FSYNC", .cause.words = "a lock"};
    CLEANUP_FREE char *line = line_of(&call, 0);
    ck_assert_ptr_nonnull(strstr(line, "\"cause_class\": \"other\", \"path\": \"\", \"pid\": 0, \"process\": 0, "));
    ck_assert_ptr_nonnull(strstr(line, "\"offset\": 0, \"holder\": \"\", \"links\": [], \"missing\": 0}"));
}

TEST(so_many_lines_a_minute) {
    struct slow_log_rate rate = {.lines_max = 2};
    const int64_t begin_ns = 7 * SECOND_NS;
    ck_assert_int_eq(slow_log_rate_until(&rate), -1);
    ck_assert(slow_log_rate_allows(&rate, 0, begin_ns));
    ck_assert_int_eq(slow_log_rate_until(&rate), begin_ns + 60 * SECOND_NS);
    ck_assert(slow_log_rate_allows(&rate, 0, begin_ns + SECOND_NS));
    ck_assert(!slow_log_rate_allows(&rate, 0, begin_ns + 2 * SECOND_NS));
    ck_assert(!slow_log_rate_is_over(&rate, begin_ns + 60 * SECOND_NS - 1));
    ck_assert(slow_log_rate_is_over(&rate, begin_ns + 60 * SECOND_NS));
    ck_assert(!slow_log_rate_is_over(&rate, begin_ns + 60 * SECOND_NS)); /* once */
    ck_assert(slow_log_rate_allows(&rate, 0, begin_ns + 90 * SECOND_NS));
    ck_assert_int_eq(slow_log_rate_until(&rate), begin_ns + 150 * SECOND_NS);
}

static unsigned lines_allowed(struct slow_log_rate *rate, uid_t uid) {
    unsigned lines = 0;
    while (slow_log_rate_allows(rate, uid, SECOND_NS))
        lines++;
    return lines;
}

TEST(no_user_takes_the_lines_of_others) {
    struct slow_log_rate rate = {.lines_max = 60};
    ck_assert_uint_eq(lines_allowed(&rate, 1000), 60);
    ck_assert_uint_ge(lines_allowed(&rate, 1001), 20);
    ck_assert_uint_ge(lines_allowed(&rate, 1002), 10);
    for (uid_t uid = 100000; uid < 165536; uid++) /* of one user, by subuid(5) */
        lines_allowed(&rate, uid);
    ck_assert_uint_eq(lines_allowed(&rate, 0), 60);
    ck_assert_uint_eq(lines_allowed(&rate, 1003), 0);
    ck_assert(slow_log_rate_allows(&rate, 1003, 62 * SECOND_NS));
}

TEST(a_user_with_few_lines_a_minute_has_them_all) {
    for (unsigned lines = 1; lines <= 200; lines++) {
        struct slow_log_rate rate = {.lines_max = lines};
        ck_assert_uint_eq(lines_allowed(&rate, 1000), lines);
    }
}

static void take(struct slow_log *log, uint32_t uid, unsigned count) {
    const struct aggstats_call call = {.op = "FSYNC", .cause.words = "a lock", .uid = uid};
    for (unsigned i = 0; i < count; i++)
        slow_log_take(log, &call, 0);
}

/* They come faster than they are written. */
TEST(many_calls_of_a_user_leave_places_in_the_queue) {
    char path[] = "/tmp/osprof-slow_log-XXXXXX";
    char *text = NULL;
    size_t bytes = 0;
    struct slow_log *log = NULL;
    CLEANUP_FD int fd = mkstemp(path);
    const struct slow_log_options options = {.target = path, .mountpoint = "/mnt", .clock = {.frequency_hz = 1}};
    ck_assert_int_eq(slow_log_start(&options, &log), 0);
    for (unsigned round = 0; round < 50; round++) {
        take(log, 1000, 2000);
        take(log, 1001, 1);
    }
    ck_assert(slow_log_end(log));
    slow_log_destroy(log);
    CLEANUP_STREAM FILE *stream = fdopen(dup(fd), "r");
    unsigned of_other = 0;
    while (getline(&text, &bytes, stream) > 0)
        of_other += strstr(text, "\"uid\": 1001,") != NULL;
    free(text);
    unlink(path);
    ck_assert_uint_eq(of_other, 50);
}

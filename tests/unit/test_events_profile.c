/* Profiles made of events: which calls belong to them, and what they say. */
#include <errno.h>
#include <string.h>

#include "base.h"
#include "events_profile.h"
#include "events_writer.h"
#include "testing.h"

enum { LOOKUP, READ };
enum { HZ = 1000000000 };

static struct events_writer writer;
static struct events_file *file;
static struct aggstats_profile profile;

static void set_up(void) {
    writer = (struct events_writer){0};
    file = NULL;
    profile = (struct aggstats_profile){0};
    events_write_start(&writer, EVENTS_NAMES);
    events_chunk_begin(&writer, EVENTS_DESCRIPTION, NULL, 0);
    events_write_line(&writer, "host", "one");
    events_write_line(&writer, "clock tsc 1000000000", NULL);
    events_write_line(&writer, "resolution 1", NULL);
    events_write_line(&writer, "label layer", "fs");
    events_write_line(&writer, "op 0 LOOKUP|entry||name", NULL);
    events_write_line(&writer, "op 1 READ bytes|file size offset result||", NULL);
    events_chunk_end(&writer);
}

static void tear_down(void) {
    aggstats_profile_finish(&profile);
    events_close(file);
    ck_assert_int_eq(events_writer_finish(&writer), 0);
}

static void mark(enum events_mark_kind kind, uint64_t cycles, uint64_t number, uint64_t index) {
    const struct events_mark_stream stream = {.stream = 0, .index = index};
    const struct events_mark head = {.kind = (uint32_t)kind,
                                     .stream_count = 1,
                                     .cycles = cycles,
                                     .number = number,
                                     .realtime_ns = (int64_t)cycles + 1000000};
    events_chunk_begin(&writer, EVENTS_MARK, &head, sizeof(head));
    events_chunk_add(&writer, &stream, sizeof(stream));
    events_chunk_end(&writer);
}

struct made {
    unsigned op;
    uint64_t latency_cycles;
    uint64_t node;
    uint32_t thread;
    unsigned error;
    uint64_t size;
};

/* Calls first_index, ... of stream 0; call i begins at 1000 i. */
static void calls(uint64_t first_index, const struct made *made, unsigned count) {
    const struct events_buffer head = {.worker = 7, .first_index = first_index, .record_count = count};
    events_chunk_begin(&writer, EVENTS_BUFFER, &head, sizeof(head));
    for (unsigned i = 0; i < count; i++) {
        const uint64_t columns[] = {3, made[i].size, 0, made[i].error ? 0 : made[i].size / 2};
        const struct events_call call = {.start_cycles = 1000 * (first_index + i),
                                         .latency_cycles = made[i].latency_cycles,
                                         .node = made[i].node,
                                         .thread = made[i].thread,
                                         .uid = 65534,
                                         .op = made[i].op,
                                         .error = made[i].error,
                                         .columns = columns,
                                         .column_count = made[i].op == READ ? 4 : 1};
        events_write_record(&writer, &call);
    }
    events_chunk_end(&writer);
}

static void strings(void) {
    events_chunk_begin(&writer, EVENTS_STRINGS, NULL, 0);
    events_write_string(&writer, EVENTS_STRING_PATH, 5, 0, "/sub/file", 9);
    events_write_string(&writer, EVENTS_STRING_PATH, 6, 0, "/sub/other\n", 11);
    events_write_string(&writer, EVENTS_STRING_TASK, 11, 10, "cat", 3);
    events_write_string(&writer, EVENTS_STRING_TASK, 12, 10, "cat", 3);
    events_write_string(&writer, EVENTS_STRING_TASK, 13, 13, "dog", 3);
    events_chunk_end(&writer);
}

static const struct made six[] = {{READ, 100, 5, 11, 0, 4096},     {READ, 200, 5, 12, 0, 8192},
                                  {LOOKUP, 900, 6, 13, ENOENT, 0}, {READ, 300, 6, 13, EIO, 10},
                                  {READ, 70, 5, 11, 0, 1},         {LOOKUP, 50, 5, 0, 0, 0}};

static int make(const struct events_profile_options *options) {
    char complaint[EVENTS_COMPLAINT_SIZE];
    if (!file)
        ck_assert_int_eq(events_open(writer.bytes, writer.size_bytes, &file, complaint), 0);
    aggstats_profile_finish(&profile);
    return events_profile(file, options, &profile);
}

static const struct aggstats_op_profile *op_of(const char *name) {
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, name);
    ck_assert_ptr_nonnull(op);
    return op;
}

static void whole(void) {
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, six, 6);
    strings();
    mark(EVENTS_MARK_STOP, 10000, 0, 6);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(all_calls_are_counted_as_a_recorder_counts_them) {
    whole();
    ck_assert_int_eq(make(&(struct events_profile_options){0}), 0);
    const struct aggstats_op_profile *read = op_of("READ");
    ck_assert_uint_eq(read->calls, 4);
    ck_assert_uint_eq(read->total_cycles, 670);
    ck_assert_uint_eq(read->buckets[6], 2);
    ck_assert_uint_eq(read->buckets[7], 1);
    ck_assert_uint_eq(read->buckets[8], 1);
    ck_assert_uint_eq(read->asked_bytes, 4096 + 8192 + 10 + 1);
    ck_assert_uint_eq(read->moved_bytes, 2048 + 4096 + 0 + 0);
    ck_assert_uint_eq(read->longest_cycles, 300);
    ck_assert_uint_eq(read->longest_object, 6);
    ck_assert_uint_eq(read->failures[aggstats_failure_of_error(EIO)], 1);
    ck_assert_uint_eq(op_of("LOOKUP")->failures[aggstats_failure_of_error(ENOENT)], 1);
    ck_assert_str_eq(profile.ops[0].name, "LOOKUP"); /* the larger total */
    ck_assert_str_eq(aggstats_profile_label(&profile, "layer"), "fs");
    ck_assert(!profile.incomplete && profile.elapsed_cycles == 10000 && profile.clock.frequency_hz == HZ);
    ck_assert_int_eq(profile.start_ns, 1000000);
}

TEST(reset_begins_anew) {
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, six, 3);
    mark(EVENTS_MARK_RESET, 2500, 0, 3);
    calls(3, &six[3], 3);
    mark(EVENTS_MARK_STOP, 10000, 0, 6);
    ck_assert_int_eq(make(&(struct events_profile_options){0}), 0);
    ck_assert_uint_eq(op_of("READ")->calls, 2);
    ck_assert_uint_eq(profile.elapsed_cycles, 7500);
    ck_assert_int_eq(profile.start_ns, 1002500);
    ck_assert_uint_eq(events_window_count(file), 2);
    ck_assert_int_eq(make(&(struct events_profile_options){.window = 1}), 0);
    ck_assert_uint_eq(op_of("READ")->calls, 2);
    ck_assert_uint_eq(op_of("READ")->total_cycles, 300);
    ck_assert_int_eq(make(&(struct events_profile_options){.all = true}), 0);
    ck_assert_uint_eq(op_of("READ")->calls, 4);
    ck_assert_int_eq(make(&(struct events_profile_options){.window = 3}), -ERANGE);
}

TEST(what_ends_in_a_pause_is_not_counted) {
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, six, 6);
    mark(EVENTS_MARK_PAUSE, 1500, 0, 2);
    mark(EVENTS_MARK_RESUME, 4500, 0, 4);
    mark(EVENTS_MARK_STOP, 10000, 0, 6);
    ck_assert_int_eq(make(&(struct events_profile_options){0}), 0);
    ck_assert_uint_eq(op_of("READ")->calls, 3);
    ck_assert_uint_eq(op_of("READ")->total_cycles, 370);
    ck_assert_uint_eq(op_of("LOOKUP")->calls, 1);
    ck_assert_uint_eq(profile.elapsed_cycles, 7000);
}

TEST(rotation_counts_if_it_succeeded) {
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, six, 6);
    mark(EVENTS_MARK_ROTATE, 1500, 1, 2);
    mark(EVENTS_MARK_NOT_ROTATED, 1600, 1, 2);
    mark(EVENTS_MARK_ROTATE, 3500, 2, 4);
    mark(EVENTS_MARK_ROTATED, 3600, 2, 4);
    mark(EVENTS_MARK_STOP, 10000, 0, 6);
    ck_assert_int_eq(make(&(struct events_profile_options){0}), 0);
    ck_assert_uint_eq(op_of("READ")->calls, 1);
    ck_assert_int_eq(make(&(struct events_profile_options){.window = 1}), 0);
    ck_assert_uint_eq(op_of("READ")->calls, 3);
    ck_assert_uint_eq(events_window_count(file), 2);
}

static bool is_of_eleven(void *context, const struct event *event) {
    (void)context;
    return event->thread == 11;
}

TEST(only_what_is_wanted_is_counted) {
    whole();
    ck_assert_int_eq(make(&(struct events_profile_options){.wants = is_of_eleven}), 0);
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_uint_eq(op_of("READ")->calls, 2);
}

TEST(intervals_add_up) {
    whole();
    ck_assert_int_eq(make(&(struct events_profile_options){.interval_ns = 3000}), 0);
    ck_assert_uint_eq(profile.interval_count, 4);
    ck_assert_uint_eq(profile.borders[0], 3000);
    ck_assert_uint_eq(profile.borders[3], 10000);
    const struct aggstats_op_profile *read = op_of("READ");
    uint64_t sum = 0;
    for (size_t i = 0; i < read->sample_count; i++)
        sum += read->samples[i].count;
    ck_assert_uint_eq(sum, 4);
    ck_assert_uint_eq(read->samples[0].row, 0);
    ck_assert_uint_eq(read->samples[read->sample_count - 1].row, 1); /* at 4000 */
    ck_assert_int_eq(make(&(struct events_profile_options){.interval_ns = 1, .all = true}), 0);
    ck_assert_uint_eq(profile.interval_count, 10001);
}

TEST(values_are_related_as_asked) {
    const struct events_joint joints[] = {{"READ", AGGSTATS_SIZE}, {"LOOKUP", AGGSTATS_ERROR}};
    whole();
    ck_assert_int_eq(make(&(struct events_profile_options){.joints = joints, .joint_count = 2}), 0);
    ck_assert_uint_eq(profile.joint_count, 2);
    ck_assert_uint_eq(profile.joints[0].cell_count, 4);
    ck_assert_uint_eq(profile.joints[0].cells[3].row, aggstats_value_row(AGGSTATS_SIZE, 8192));
    ck_assert_uint_eq(profile.joints[1].cell_count, 2);
    ck_assert_uint_eq(profile.joints[1].cells[1].row, aggstats_value_row(AGGSTATS_ERROR, ENOENT));
    const struct events_joint cpu = {"READ", AGGSTATS_CPU};
    ck_assert_int_eq(make(&(struct events_profile_options){.joints = &cpu, .joint_count = 1}), -EINVAL);
}

static const struct aggstats_group *group_of(enum aggstats_grouping grouping, const char *name) {
    for (size_t i = 0; i < profile.group_count; i++)
        if (profile.groups[i].grouping == grouping && strcmp(profile.groups[i].name, name) == 0)
            return &profile.groups[i];
    ck_abort_msg("no group %s", name);
}

static uint64_t calls_of(const struct aggstats_group *group) {
    uint64_t count = 0;
    for (size_t i = 0; i < group->profile.op_count; i++)
        count += group->profile.ops[i].calls;
    return count;
}

TEST(groups_add_up) {
    uint64_t sum[AGGSTATS_GROUPINGS] = {0};
    const unsigned groupings = 1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_PROGRAM | 1U << AGGSTATS_BY_UID |
                               1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY;
    whole();
    ck_assert_int_eq(make(&(struct events_profile_options){.groupings = groupings}), 0);
    for (size_t i = 0; i < profile.group_count; i++)
        sum[profile.groups[i].grouping] += calls_of(&profile.groups[i]);
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS; grouping++)
        ck_assert_uint_eq(sum[grouping], groupings & 1U << grouping ? 6 : 0);
    ck_assert_uint_eq(calls_of(group_of(AGGSTATS_BY_PROGRAM, "cat")), 3);
    ck_assert_uint_eq(group_of(AGGSTATS_BY_PROCESS, "dog")->id, 13);
    ck_assert_uint_eq(calls_of(group_of(AGGSTATS_BY_FILE, "/sub/file")), 4);
    ck_assert_uint_eq(calls_of(group_of(AGGSTATS_BY_FILE, "/sub/other?")), 2);
    ck_assert_uint_eq(calls_of(group_of(AGGSTATS_BY_DIRECTORY, "/sub")), 6);
}

TEST(missing_calls_are_told) {
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, six, 3); /* and no end */
    ck_assert_int_eq(make(&(struct events_profile_options){0}), 0);
    ck_assert(profile.incomplete);
    ck_assert_uint_eq(profile.elapsed_cycles, 2900);
}

TEST(a_pause_that_nobody_ended_counts_no_time) {
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, six, 6); /* the last one ends at 5050 */
    mark(EVENTS_MARK_PAUSE, 1500, 0, 2);
    mark(EVENTS_MARK_ROTATE, 9000, 1, 6);
    mark(EVENTS_MARK_ROTATED, 9000, 1, 6);
    ck_assert_int_eq(make(&(struct events_profile_options){.window = 1}), 0);
    ck_assert_uint_eq(profile.elapsed_cycles, 1500);
}

TEST(groups_of_one_total_are_in_the_order_of_their_numbers) {
    const struct made two[] = {{READ, 100, 5, 13, 0, 1}, {READ, 100, 5, 11, 0, 1}};
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, two, 2);
    events_chunk_begin(&writer, EVENTS_STRINGS, NULL, 0);
    events_write_string(&writer, EVENTS_STRING_TASK, 11, 11, "zebra", 5);
    events_write_string(&writer, EVENTS_STRING_TASK, 13, 13, "ant", 3);
    events_chunk_end(&writer);
    mark(EVENTS_MARK_STOP, 10000, 0, 2);
    ck_assert_int_eq(make(&(struct events_profile_options){.groupings = 1U << AGGSTATS_BY_PROCESS}), 0);
    ck_assert_uint_eq(profile.group_count, 2);
    ck_assert_uint_eq(profile.groups[0].id, 11);
    ck_assert_uint_eq(profile.groups[1].id, 13);
}

TEST(every_clock_of_a_recorder_is_known) {
    for (uint32_t kind = AGGSTATS_CLOCK_TSC; kind <= AGGSTATS_CLOCK_MONOTONIC; kind++) {
        const struct events_file of_kind = {.clock_kind = (char *)(uintptr_t)aggstats_clock_name(kind), .clock_hz = HZ};
        ck_assert_uint_eq(events_profile_clock(&of_kind).kind, kind);
        ck_assert_uint_eq(events_profile_clock(&of_kind).frequency_hz, HZ);
    }
}

/* So many that the table of an op grows, and is put into its order, many times. */
TEST(cells_add_up_to_the_buckets) {
    enum { COUNT = 5000 };
    struct made *many = calloc(COUNT, sizeof(*many));
    uint64_t sums[64] = {0};
    for (unsigned i = 0; i < COUNT; i++)
        many[i] = (struct made){READ, (i * 7919U) % 997U + 1, 5, 11, 0, (i * 104729U) % 4001U};
    mark(EVENTS_MARK_START, 0, 0, 0);
    calls(0, many, COUNT);
    mark(EVENTS_MARK_STOP, 1000 * (uint64_t)COUNT, 0, COUNT);
    const struct events_joint joint = {"READ", AGGSTATS_SIZE};
    ck_assert_int_eq(make(&(struct events_profile_options){.interval_ns = 70000, .joints = &joint, .joint_count = 1}),
                     0);
    const struct aggstats_op_profile *read = op_of("READ");
    for (size_t i = 0; i < read->sample_count; i++)
        sums[read->samples[i].bucket] += read->samples[i].count;
    for (size_t i = 1; i < read->sample_count; i++)
        ck_assert(read->samples[i - 1].row < read->samples[i].row ||
                  (read->samples[i - 1].row == read->samples[i].row &&
                   read->samples[i - 1].bucket < read->samples[i].bucket));
    ck_assert_mem_eq(sums, read->buckets, sizeof(sums));
    memset(sums, 0, sizeof(sums));
    for (size_t i = 0; i < profile.joints[0].cell_count; i++)
        sums[profile.joints[0].cells[i].bucket] += profile.joints[0].cells[i].count;
    ck_assert_mem_eq(sums, read->buckets, sizeof(sums));
    free(many);
}

/* Merging recordings: calls of machines whose clocks are shifted and drift come on one time line, as near as stated. */
#include "events_merging.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

#include "base.h"
#include "events_writer.h"
#include "testing.h"

#define SECOND INT64_C(1000000000)
#define BEGIN_NS (INT64_C(1700000000) * SECOND) /* true time */
#define CALLS 101U
#define FILES_MAX 3

/* How a machine's clocks go, and what its osproffs says. */
struct machine {
    const char *host;
    const char *boot;
    uint64_t hz;          /* as it is stated */
    double real_hz;       /* as it is */
    uint64_t first_cycle; /* at the true time BEGIN_NS */
    int64_t wall_off_ns;  /* the wall clock is so far ahead */
    uint64_t error_ns;
    uint32_t status;
    const char *ops[2]; /* lines of LOOKUP and READ */
};

static const struct machine near = {
    .host = "near",
    .boot = "a",
    .hz = 1000000000,
    .real_hz = 1000000000,
    .first_cycle = 5000,
    .error_ns = 1000000,
    .ops = {"op 0 LOOKUP|entry|umask process|name program", "op 1 READ bytes|file size offset result||"}};
/* Its time stamp counter goes 80 ppm fast, and began elsewhere; other numbers of ops. */
static const struct machine far = {
    .host = "far",
    .boot = "b",
    .hz = 1000000000,
    .real_hz = 1000080000,
    .first_cycle = UINT64_C(1) << 60,
    .wall_off_ns = 700000,
    .error_ns = 2000000,
    .ops = {"op 4 LOOKUP|entry|umask process|name program", "op 2 READ bytes|file size offset result||"}};

static uint64_t latency_base_cycles;
static struct events_writer writers[FILES_MAX];
static struct events_file *files[FILES_MAX];
static size_t file_count;
static struct events_writer merged_bytes; /* only as a buffer that grows */
static struct events_file *merged;
static char complaint[EVENTS_COMPLAINT_SIZE];

static void set_up(void) {
    memset(writers, 0, sizeof(writers));
    merged_bytes = (struct events_writer){0};
    merged = NULL;
    file_count = 0;
    latency_base_cycles = 1000;
}

static void tear_down(void) {
    events_close(merged);
    ck_assert_int_eq(events_writer_finish(&merged_bytes), 0);
    for (size_t i = 0; i < file_count; i++) {
        events_close(files[i]);
        ck_assert_int_eq(events_writer_finish(&writers[i]), 0);
    }
}

static uint64_t cycles_at(const struct machine *machine, int64_t true_ns) {
    return machine->first_cycle + (uint64_t)((double)(true_ns - BEGIN_NS) * machine->real_hz / 1e9);
}

static void write_clock(struct events_writer *writer, const struct machine *machine, int64_t true_ns) {
    const struct events_clock clock = {
        .cycles = cycles_at(machine, true_ns),
        .realtime_ns = true_ns + machine->wall_off_ns,
        .monotonic_ns = true_ns - BEGIN_NS,
        .error_ns = machine->error_ns,
        .status = machine->status,
    };
    events_chunk_begin(writer, EVENTS_CLOCK, &clock, sizeof(clock));
    events_chunk_end(writer);
}

static void write_mark(struct events_writer *writer, uint32_t kind, uint64_t cycles, uint64_t index) {
    const struct events_mark head = {.kind = kind, .stream_count = 1, .cycles = cycles};
    const struct events_mark_stream stream = {.stream = 9, .index = index};
    events_chunk_begin(writer, EVENTS_MARK, &head, sizeof(head));
    events_chunk_add(writer, &stream, sizeof(stream));
    events_chunk_end(writer);
}

static unsigned number_of(const char *line) {
    return (unsigned)(line[3] - '0');
}

/* Call i begins at first_ns + i * step_ns of true time, and takes latency_base_cycles + i cycles. Each tenth is a
 * LOOKUP. */
static void write_calls(struct events_writer *writer, const struct machine *machine, int64_t first_ns,
                        int64_t step_ns) {
    const struct events_buffer head = {.stream = 9, .worker = 3, .record_count = CALLS};
    events_chunk_begin(writer, EVENTS_BUFFER, &head, sizeof(head));
    for (unsigned i = 0; i < CALLS; i++) {
        const uint64_t read_columns[] = {77, 4096, i, 17};
        const uint64_t lookup_columns[] = {100 + i, 022, 3998};
        const char *const texts[] = {"a name", "cat"};
        bool is_lookup = i % 10 == 0;
        const struct events_call call = {
            .start_cycles = cycles_at(machine, first_ns + i * step_ns),
            .latency_cycles = latency_base_cycles + i,
            .node = 1,
            .thread = 4000,
            .op = number_of(machine->ops[is_lookup ? 0 : 1]),
            .flags = is_lookup ? EVENTS_MORE : 0,
            .columns = is_lookup ? lookup_columns : read_columns,
            .column_count = is_lookup ? 3 : 4,
            .texts = texts,
            .text_count = is_lookup ? 2 : 0,
        };
        events_write_record(writer, &call);
    }
    events_chunk_end(writer);
}

/* A recording of ten seconds. */
static void record(const struct machine *machine, int64_t first_ns, int64_t step_ns) {
    struct events_writer *writer = &writers[file_count];
    char clock[64];
    snprintf(clock, sizeof(clock), "clock tsc %llu", (unsigned long long)machine->hz);
    events_write_start(writer, EVENTS_NAMES);
    events_chunk_begin(writer, EVENTS_DESCRIPTION, NULL, 0);
    events_write_line(writer, "host", machine->host);
    if (machine->boot)
        events_write_line(writer, "boot", machine->boot);
    events_write_line(writer, clock, NULL);
    events_write_line(writer, "label lower", "/srv");
    events_write_line(writer, "label mount", machine->host);
    events_write_line(writer, machine->ops[0], NULL);
    events_write_line(writer, machine->ops[1], NULL);
    events_chunk_end(writer);
    write_mark(writer, EVENTS_MARK_START, cycles_at(machine, BEGIN_NS), 0);
    for (int64_t ns = BEGIN_NS; ns <= BEGIN_NS + 10 * SECOND; ns += 2 * SECOND)
        write_clock(writer, machine, ns);
    write_calls(writer, machine, first_ns, step_ns);
    events_chunk_begin(writer, EVENTS_STRINGS, NULL, 0);
    events_write_string(writer, EVENTS_STRING_PATH, 105, cycles_at(machine, BEGIN_NS), machine->host,
                        strlen(machine->host));
    events_write_string(writer, EVENTS_STRING_TASK, 4000, 3999, "make", 4);
    events_chunk_end(writer);
    write_mark(writer, EVENTS_MARK_STOP, cycles_at(machine, BEGIN_NS + 10 * SECOND), CALLS);
    int err = events_open(writer->bytes, writer->size_bytes, &files[file_count], complaint);
    ck_assert_msg(err == 0, "%s", complaint);
    file_count++;
}

static int keep(void *context, const void *bytes, size_t size_bytes) {
    events_chunk_add(context, bytes, size_bytes);
    return 0;
}

static void merge_all(void) {
    size_t place;
    const struct events_file *all[FILES_MAX] = {files[0], files[1], files[2]};
    ck_assert_int_eq(events_merge(all, file_count, keep, &merged_bytes, &place), 0);
    int err = events_open(merged_bytes.bytes, merged_bytes.size_bytes, &merged, complaint);
    ck_assert_msg(err == 0, "%s", complaint);
}

static const char *host_name(const struct event *event) {
    return events_host_of(merged, event->stream)->name;
}

/* ---- Time ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(calls_are_where_true_time_has_them_within_the_stated_error) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS + SECOND / 20, SECOND / 10);
    merge_all();
    struct events_cursor *cursor = NULL;
    struct event event;
    unsigned count = 0;
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    for (; events_next(cursor, &event); count++) {
        /* they are 50 ms apart, far more than the clocks err: so they take turns */
        ck_assert_str_eq(host_name(&event), count % 2 == 0 ? "near" : "far");
        int64_t true_ns = BEGIN_NS + (int64_t)count * SECOND / 20;
        int64_t off_ns = events_unix_ns(merged, event.start_cycles) - true_ns - (count % 2 ? far.wall_off_ns : 0);
        /* valgrind calculates with 53 bits */
        ck_assert_msg(off_ns > -1000 && off_ns < 1000, "call %u is %lld ns off", count, (long long)off_ns);
    }
    ck_assert_uint_eq(count, 2 * CALLS);
    ck_assert_uint_eq(merged->hosts[0].head.error_ns, 1000000);
    ck_assert_uint_eq(merged->hosts[1].head.error_ns, 2000000);
    events_cursor_close(cursor);
}

TEST(latencies_stay_as_they_were_counted) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS, SECOND / 10);
    merge_all();
    struct events_cursor *cursor = NULL;
    struct event event;
    unsigned seen[CALLS] = {0};
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    while (events_next(cursor, &event)) {
        ck_assert(event.latency_cycles >= 1000 && event.latency_cycles < 1000 + CALLS);
        seen[event.latency_cycles - 1000]++;
    }
    for (unsigned i = 0; i < CALLS; i++)
        ck_assert_uint_eq(seen[i], 2);
    events_cursor_close(cursor);
}

TEST(latencies_of_another_rate_are_rescaled) {
    struct machine twice = far;
    twice.hz = 2000000000;
    twice.real_hz = 2000000000;
    record(&near, BEGIN_NS, SECOND / 10);
    record(&twice, BEGIN_NS + 1, SECOND / 10);
    merge_all();
    struct events_cursor *cursor = NULL;
    struct event event;
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    while (events_next(cursor, &event))
        if (strcmp(host_name(&event), "far") == 0)
            ck_assert_uint_eq(event.latency_cycles, (1000 + event.index + 1) / 2);
    events_cursor_close(cursor);
}

static unsigned count_unordered(void) {
    struct events_cursor *cursor = NULL;
    struct events_order *order = NULL;
    struct event event;
    unsigned count = 0;
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    ck_assert_int_eq(events_order_create(merged, &order), 0);
    while (events_next(cursor, &event))
        count += events_is_unordered(order, &event);
    free(order);
    events_cursor_close(cursor);
    return count;
}

TEST(calls_farther_apart_than_the_error_are_ordered) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS + SECOND / 20, SECOND / 10);
    merge_all();
    ck_assert_uint_eq(count_unordered(), 0);
}

/* 1 ms and 2 ms of error: what is 3 ms apart may be the other way round. */
TEST(calls_within_the_error_are_not_called_ordered) {
    struct machine exact = far;
    exact.wall_off_ns = 0;
    record(&near, BEGIN_NS, SECOND / 10);
    record(&exact, BEGIN_NS + 2900000, SECOND / 10);
    merge_all();
    ck_assert_uint_eq(count_unordered(), CALLS); /* each of the second machine, which come later */
}

TEST(without_a_clock_that_is_set_nothing_is_ordered) {
    struct machine unset = far;
    unset.status = STA_UNSYNC;
    record(&near, BEGIN_NS, SECOND / 10);
    record(&unset, BEGIN_NS + SECOND / 20, SECOND / 10);
    merge_all();
    ck_assert_uint_eq(merged->hosts[1].head.error_ns, UINT64_MAX);
    ck_assert_uint_eq(count_unordered(), 2 * CALLS - 1);
}

TEST(recordings_of_one_boot_are_ordered_exactly) {
    struct machine unset = near;
    unset.status = STA_UNSYNC;
    record(&unset, BEGIN_NS, 10000);
    record(&unset, BEGIN_NS + 5000, 10000);
    merge_all();
    ck_assert_uint_eq(merged->hosts[0].head.machine, merged->hosts[1].head.machine);
    ck_assert_uint_eq(count_unordered(), 0);
}

/* A clock that goes 900 ppm fast makes calls longer than the time between their starts. */
TEST(calls_of_a_stream_never_overlap) {
    struct machine busy = far;
    busy.real_hz = 1000900000; /* within a thousandth: still the same rate */
    record(&near, BEGIN_NS, SECOND / 10);
    latency_base_cycles = 1000000;
    record(&busy, BEGIN_NS, 999500);
    ck_assert_uint_eq(files[1]->losses.disordered, 0);
    merge_all();
    ck_assert_uint_eq(merged->losses.disordered, 0);
    /* each of them half a microsecond more */
    ck_assert_uint_gt(merged->hosts[1].head.error_ns, busy.error_ns + 49000);
    ck_assert_uint_lt(merged->hosts[1].head.error_ns, busy.error_ns + 60000);
}

/* ---- Numbers ---- */

TEST(objects_and_callers_of_different_hosts_are_kept_apart) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS, SECOND / 10);
    merge_all();
    const uint64_t other = UINT64_C(1) << EVENTS_HOST_NODE_SHIFT;
    struct events_text name;
    ck_assert_int_eq(memcmp(events_path(merged, 105, 0).bytes, "near", 4), 0);
    ck_assert_int_eq(memcmp(events_path(merged, 105 ^ other, 0).bytes, "far", 3), 0);
    uint64_t process = events_task(merged, &(struct event){.thread = 4000 | 1U << EVENTS_HOST_THREAD_SHIFT}, &name);
    ck_assert_uint_eq(events_thread_number(merged, process), 3999);
    ck_assert_uint_eq(events_task(merged, &(struct event){.thread = 4000}, &name), 3999);
    struct events_cursor *cursor = NULL;
    struct event event;
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    while (events_next(cursor, &event)) {
        uint64_t bits = strcmp(host_name(&event), "far") == 0 ? other : 0;
        ck_assert_uint_eq(event.node, 1 ^ bits);
        ck_assert_uint_eq(events_thread_number(merged, event.thread), 4000);
        process = events_task(merged, &event, &name);
        ck_assert_uint_eq(events_thread_number(merged, process), event.index % 10 == 0 ? 3998 : 3999);
        ck_assert_int_eq(memcmp(name.bytes, event.index % 10 == 0 ? "cat" : "make", name.length), 0);
        if (event.index % 10 == 0)
            ck_assert_uint_eq(events_value(merged, &event, "entry"), (100 + event.index) ^ bits);
        else
            ck_assert_uint_eq(events_value(merged, &event, "file"), 77 ^ bits);
    }
    events_cursor_close(cursor);
}

TEST(ops_are_one_by_name) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS, SECOND / 10);
    merge_all();
    unsigned lookups = 0;
    struct events_cursor *cursor = NULL;
    struct event event;
    ck_assert_ptr_null(merged->ops[2].name);
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    while (events_next(cursor, &event)) {
        bool is_lookup = strcmp(merged->ops[event.op].name, "LOOKUP") == 0;
        ck_assert(is_lookup == (event.index % 10 == 0));
        if (is_lookup) {
            ck_assert_int_eq(memcmp(events_text_of(merged, &event, "name").bytes, "a name", 6), 0);
            ck_assert_uint_eq(events_value(merged, &event, "umask"), 022);
            lookups++;
        }
    }
    ck_assert_uint_eq(lookups, 2 * 11);
    events_cursor_close(cursor);
}

TEST(an_op_with_other_columns_has_a_number_of_its_own) {
    struct machine newer = far;
    newer.ops[1] = "op 2 READ bytes|size file offset result||";
    record(&near, BEGIN_NS, SECOND / 10);
    record(&newer, BEGIN_NS, SECOND / 10);
    merge_all();
    ck_assert_str_eq(merged->ops[1].name, "READ");
    ck_assert_str_eq(merged->ops[2].name, "READ");
    ck_assert_int_eq(events_column(merged, 1, "file", false), 0);
    ck_assert_int_eq(events_column(merged, 2, "file", false), 1);
}

TEST(descriptions_tell_what_is_common_and_what_is_not) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS, SECOND / 10);
    merge_all();
    ck_assert_str_eq(merged->host, "near, far");
    ck_assert_uint_eq(merged->label_count, 1);
    ck_assert_str_eq(merged->labels[0].value, "/srv");
    ck_assert_ptr_nonnull(strstr(merged->hosts[1].description, "\nlabel mount far\n"));
}

/* ---- Completeness ---- */

TEST(what_is_missing_is_still_known) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS, SECOND / 10);
    /* of the last file all but its last mark */
    events_close(files[1]);
    size_t mark_bytes = sizeof(struct events_chunk) + sizeof(struct events_mark) + sizeof(struct events_mark_stream);
    ck_assert_int_eq(events_open(writers[1].bytes, writers[1].size_bytes - mark_bytes, &files[1], complaint), 0);
    merge_all();
    ck_assert(merged->losses.is_open);
    ck_assert_uint_eq(merged->losses.missing + merged->losses.dropped, 0);
    ck_assert(merged->hosts[1].head.flags & EVENTS_HOST_OPEN && !(merged->hosts[0].head.flags & EVENTS_HOST_OPEN));
}

TEST(a_mark_of_one_recording_does_nothing_to_others) {
    record(&near, BEGIN_NS, SECOND / 10);
    write_mark(&writers[0], EVENTS_MARK_RESET, cycles_at(&near, BEGIN_NS + 5 * SECOND), 50);
    write_mark(&writers[0], EVENTS_MARK_PAUSE, cycles_at(&near, BEGIN_NS + 6 * SECOND), 60);
    events_close(files[0]);
    ck_assert_int_eq(events_open(writers[0].bytes, writers[0].size_bytes, &files[0], complaint), 0);
    record(&far, BEGIN_NS, SECOND / 10);
    merge_all();
    ck_assert_uint_eq(merged->mark_count, 4);
    const struct events_mark_seen *reset = &merged->marks[1];
    const struct events_mark_seen *pause = &merged->marks[2];
    ck_assert_uint_eq(reset->mark.kind, EVENTS_MARK_RESET);
    struct events_cursor *cursor = NULL;
    struct event event;
    ck_assert_int_eq(events_cursor_open(merged, &cursor), 0);
    while (events_next(cursor, &event)) {
        bool is_far = strcmp(host_name(&event), "far") == 0;
        ck_assert(events_is_before(reset, &event) == (!is_far && event.index < 50));
        ck_assert(events_is_before(pause, &event) == (is_far || event.index < 60));
    }
    events_cursor_close(cursor);
}

TEST(a_merged_file_is_merged_again) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS + SECOND / 20, SECOND / 10);
    merge_all();
    struct machine third = near;
    third.host = "third";
    third.boot = "c";
    record(&third, BEGIN_NS + SECOND / 40, SECOND / 10);
    const struct events_file *both[] = {files[2], merged};
    struct events_writer again = {0};
    struct events_file *file = NULL;
    size_t place;
    ck_assert_int_eq(events_merge(both, 2, keep, &again, &place), 0);
    ck_assert_int_eq(events_open(again.bytes, again.size_bytes, &file, complaint), 0);
    ck_assert_uint_eq(file->host_count, 3);
    ck_assert_str_eq(file->hosts[2].name, "far");
    ck_assert_uint_ne(file->hosts[1].head.machine, file->hosts[2].head.machine);
    ck_assert_uint_eq(file->hosts[2].head.error_ns, 2000000);
    const uint64_t number = UINT64_C(2) << EVENTS_HOST_NODE_SHIFT;
    ck_assert_int_eq(memcmp(events_path(file, 105 ^ number, 0).bytes, "far", 3), 0);
    ck_assert_uint_eq(file->losses.missing + file->losses.disordered, 0);
    events_close(file);
    ck_assert_int_eq(events_writer_finish(&again), 0);
}

TEST(a_recording_without_times_is_refused) {
    record(&near, BEGIN_NS, SECOND / 10);
    record(&far, BEGIN_NS, SECOND / 10);
    files[1]->clock_count = 0;
    size_t place = 0;
    const struct events_file *all[] = {files[0], files[1]};
    ck_assert_int_eq(events_merge(all, 2, keep, &merged_bytes, &place), -ENODATA);
    ck_assert_uint_eq(place, 1);
}

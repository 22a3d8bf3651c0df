/* Events files: what is written is read, and of a broken file all that is whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_reader.h"
#include "events_writer.h"
#include "testing.h"

enum { LOOKUP, READ, SYMLINK };

static struct events_writer writer;
static struct events_file *file;
static char complaint[EVENTS_COMPLAINT_SIZE];

static void set_up(void) {
    writer = (struct events_writer){0};
    file = NULL;
}

static void tear_down(void) {
    events_close(file);
    ck_assert_int_eq(events_writer_finish(&writer), 0);
}

static void describe(void) {
    events_write_start(&writer, EVENTS_NAMES);
    events_chunk_begin(&writer, EVENTS_DESCRIPTION, NULL, 0);
    events_write_line(&writer, "host", "one\ntwo\\three");
    events_write_line(&writer, "clock tsc 1000000000", NULL);
    events_write_line(&writer, "resolution 2", NULL);
    events_write_line(&writer, "label lower", "/a path");
    events_write_line(&writer, "op 0 LOOKUP|entry||name", NULL);
    events_write_line(&writer, "op 1 READ bytes|file size offset result||", NULL);
    events_write_line(&writer, "op 2 SYMLINK|entry|umask gid|name target", NULL);
    events_write_line(&writer, "word of a later version", NULL);
    events_chunk_end(&writer);
}

static void mark(enum events_mark_kind kind, uint64_t cycles, const struct events_mark_stream *streams,
                 uint32_t count) {
    const struct events_mark head = {.kind = (uint32_t)kind, .stream_count = count, .cycles = cycles};
    events_chunk_begin(&writer, EVENTS_MARK, &head, sizeof(head));
    events_chunk_add(&writer, streams, count * sizeof(*streams));
    events_chunk_end(&writer);
}

/* Reads of a stream: call i begins at first_cycles + 100 i and takes 10 + i cycles. */
static void reads(uint32_t stream, uint64_t first_index, uint64_t dropped, unsigned count, uint64_t first_cycles) {
    const struct events_buffer head = {
        .stream = stream, .worker = 7, .first_index = first_index, .dropped = dropped, .record_count = count};
    events_chunk_begin(&writer, EVENTS_BUFFER, &head, sizeof(head));
    for (unsigned i = 0; i < count; i++) {
        const uint64_t columns[] = {3, 4096, i, 17};
        const struct events_call call = {.start_cycles = first_cycles + 100 * i,
                                         .latency_cycles = 10 + i,
                                         .node = 5,
                                         .thread = 11,
                                         .uid = 13,
                                         .op = READ,
                                         .columns = columns,
                                         .column_count = 4};
        events_write_record(&writer, &call);
    }
    events_chunk_end(&writer);
}

static void read_all(size_t size_bytes) {
    int err = events_open(writer.bytes, size_bytes, &file, complaint);
    ck_assert_msg(err == 0, "%s", complaint);
}

static unsigned count_calls(void) {
    struct events_cursor *cursor = NULL;
    struct event event;
    unsigned count = 0;
    ck_assert_int_eq(events_cursor_open(file, &cursor), 0);
    while (events_next(cursor, &event))
        count++;
    events_cursor_close(cursor);
    return count;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(description_is_read) {
    describe();
    read_all(writer.size_bytes);
    ck_assert_str_eq(file->host, "one\ntwo\\three");
    ck_assert_str_eq(file->clock_kind, "tsc");
    ck_assert_uint_eq(file->clock_hz, 1000000000);
    ck_assert_uint_eq(file->resolution, 2);
    ck_assert_uint_eq(file->label_count, 1);
    ck_assert_str_eq(file->labels[0].key, "lower");
    ck_assert_str_eq(file->labels[0].value, "/a path");
    ck_assert_str_eq(file->ops[READ].name, "READ");
    ck_assert(file->ops[READ].counts_bytes && !file->ops[LOOKUP].counts_bytes);
    ck_assert_int_eq(events_column(file, READ, "offset", false), 2);
    ck_assert_int_eq(events_column(file, SYMLINK, "umask", false), -1);
    ck_assert_int_eq(events_column(file, SYMLINK, "umask", true), 1);
    ck_assert(file->flags == EVENTS_NAMES && !file->ops[3].name);
}

TEST(record_is_read_as_written) {
    const struct events_buffer head = {.stream = 1, .worker = 4711, .first_index = 20, .record_count = 1};
    const uint64_t columns[] = {99, 022, 1000};
    const char *const texts[] = {"a name", "/a/target"};
    const struct events_call call = {.start_cycles = 1000,
                                     .latency_cycles = UINT64_C(0x123456789a),
                                     .node = UINT64_MAX,
                                     .thread = 4000000,
                                     .uid = UINT32_MAX,
                                     .op = SYMLINK,
                                     .error = EEXIST,
                                     .flags = EVENTS_MORE,
                                     .columns = columns,
                                     .column_count = 3,
                                     .texts = texts,
                                     .text_count = 2};
    struct events_cursor *cursor = NULL;
    struct event event;
    describe();
    events_chunk_begin(&writer, EVENTS_BUFFER, &head, sizeof(head));
    events_write_record(&writer, &call);
    events_chunk_end(&writer);
    read_all(writer.size_bytes);
    ck_assert_int_eq(events_cursor_open(file, &cursor), 0);
    ck_assert(events_next(cursor, &event));
    ck_assert_uint_eq(event.start_cycles, 1000);
    ck_assert_uint_eq(event.latency_cycles, UINT64_C(0x123456789a));
    ck_assert_uint_eq(event.end_cycles, UINT64_C(0x123456789a) + 1000);
    ck_assert(event.node == UINT64_MAX && event.thread == 4000000 && event.uid == UINT32_MAX);
    ck_assert(event.op == SYMLINK && event.error == EEXIST && !event.is_past_eof);
    ck_assert(event.stream == 1 && event.worker == 4711 && event.index == 20);
    ck_assert_uint_eq(events_value(file, &event, "gid"), 1000);
    struct events_text target = events_text_of(file, &event, "target");
    ck_assert(target.length == 9 && target.true_length == 9 && memcmp(target.bytes, "/a/target", 9) == 0);
    ck_assert_ptr_null(events_text_of(file, &event, "new_name").bytes);
    ck_assert(!events_next(cursor, &event));
    events_cursor_close(cursor);
}

TEST(record_without_names_takes_64_bytes) {
    describe();
    size_t before = writer.size_bytes;
    reads(0, 0, 0, 1, 100);
    size_t heads = sizeof(struct events_chunk) + sizeof(struct events_buffer);
    ck_assert_uint_eq(writer.size_bytes - before - heads, 64);
}

TEST(calls_of_all_streams_come_by_their_start) {
    struct events_cursor *cursor = NULL;
    struct event event;
    uint64_t last_cycles = 0;
    unsigned count = 0;
    describe();
    reads(2, 5, 0, 5, 1500); /* later than the next */
    reads(2, 0, 0, 5, 1000);
    reads(1, 0, 0, 10, 1050);
    read_all(writer.size_bytes);
    ck_assert_int_eq(events_cursor_open(file, &cursor), 0);
    for (; events_next(cursor, &event); count++) {
        ck_assert_uint_gt(event.start_cycles, last_cycles);
        last_cycles = event.start_cycles;
    }
    events_cursor_close(cursor);
    ck_assert_uint_eq(count, 20);
    ck_assert_uint_eq(file->losses.disordered, 0);
}

TEST(what_is_dropped_and_missing_is_counted) {
    const struct events_mark_stream start[] = {{.stream = 1, .index = 100, .dropped = 3}};
    const struct events_mark_stream stop[] = {{.stream = 1, .index = 150, .dropped = 14}, {.stream = 2, .index = 9}};
    describe();
    mark(EVENTS_MARK_START, 0, start, 1);
    reads(1, 102, 5, 10, 1000);            /* 2 dropped */
    reads(1, 120, 10, 10, 3000);           /* 5 dropped, 3 in a chunk that is missing */
    mark(EVENTS_MARK_STOP, 9999, stop, 2); /* 20 more, of which 4 were dropped; and the whole of stream 2 */
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.dropped, 2 + 5 + 4);
    ck_assert_uint_eq(file->losses.missing, 3 + 16 + 9);
    ck_assert(!file->losses.is_open && file->losses.cut_bytes == 0 && file->losses.unreadable == 0);
}

TEST(mark_tells_sides_by_numbers_of_calls) {
    const struct events_mark_stream reset[] = {{.stream = 9, .index = 0}, {.stream = 1, .index = 3}};
    describe();
    mark(EVENTS_MARK_RESET, 0, reset, 2);
    read_all(writer.size_bytes);
    ck_assert(events_is_before(&file->marks[0], &(struct event){.stream = 1, .index = 2}));
    ck_assert(!events_is_before(&file->marks[0], &(struct event){.stream = 1, .index = 3}));
    ck_assert(!events_is_before(&file->marks[0], &(struct event){.stream = 9, .index = 0}));
    ck_assert(!events_is_before(&file->marks[0], &(struct event){.stream = 5, .index = 0}));
}

/* Wherever a file is cut, what is before is read, and nothing else. */
TEST(cut_file_is_read_as_far_as_it_is_whole) {
    describe();
    size_t first = writer.size_bytes;
    reads(1, 0, 0, 3, 1000);
    size_t second = writer.size_bytes;
    reads(1, 3, 0, 4, 2000);
    for (size_t size_bytes = first; size_bytes <= writer.size_bytes; size_bytes++) {
        CLEANUP_FREE void *copy = malloc(size_bytes); /* nothing behind it may be read */
        memcpy(copy, writer.bytes, size_bytes);
        ck_assert_int_eq(events_open(copy, size_bytes, &file, complaint), 0);
        ck_assert_uint_eq(count_calls(), size_bytes == writer.size_bytes ? 7 : size_bytes >= second ? 3 : 0);
        ck_assert_uint_eq(file->losses.cut_bytes, size_bytes == writer.size_bytes ? 0
                                                  : size_bytes >= second          ? size_bytes - second
                                                                                  : size_bytes - first);
        ck_assert(file->losses.is_open);
        events_close(file);
        file = NULL;
    }
}

TEST(torn_chunk_ends_the_file) {
    describe();
    reads(1, 0, 0, 3, 1000);
    size_t second = writer.size_bytes;
    reads(1, 3, 0, 4, 2000);
    memset(writer.bytes + writer.size_bytes - 100, 0, 100); /* the size was written, the data were not */
    read_all(writer.size_bytes);
    ck_assert_uint_eq(count_calls(), 3);
    ck_assert_uint_eq(file->losses.cut_bytes, writer.size_bytes - second);
}

TEST(broken_record_ends_its_chunk) {
    const struct events_buffer head = {.stream = 1, .record_count = 3};
    const struct events_record record = {.head = events_head(LOOKUP, 5, 0, 0)};
    const struct events_record unknown = {.head = events_head(17, 5, 0, 0)};
    const uint64_t column = 0;
    describe();
    events_chunk_begin(&writer, EVENTS_BUFFER, &head, sizeof(head));
    events_chunk_add(&writer, &record, sizeof(record));
    events_chunk_add(&writer, &column, sizeof(column));
    events_chunk_add(&writer, &unknown, sizeof(unknown));
    events_chunk_add(&writer, &column, sizeof(column));
    events_chunk_end(&writer);
    reads(1, 3, 0, 4, 2000);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.unreadable, 2);
    ck_assert_uint_eq(count_calls(), 5);
}

TEST(disordered_records_are_read_and_counted) {
    describe();
    reads(1, 0, 0, 3, 5000);
    reads(1, 3, 0, 3, 1000);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.disordered, 1);
    ck_assert_uint_eq(count_calls(), 6);
}

/* The recording is known to have lasted an hour, and another one on either side is possible. */
TEST(calls_of_impossible_times_are_read_and_counted) {
    const uint64_t hour = 3600 * UINT64_C(1000000000);
    const struct events_clock clocks[] = {{.cycles = 10 * hour}, {.cycles = 11 * hour}};
    describe();
    for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
        events_chunk_begin(&writer, EVENTS_CLOCK, &clocks[i], sizeof(clocks[i]));
        events_chunk_end(&writer);
    }
    reads(1, 0, 0, 3, 9 * hour);
    reads(2, 0, 0, 5, 12 * hour - 1000);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.outside, 0);
    events_close(file);
    reads(3, 0, 0, 7, 9 * hour - 1000);
    reads(4, 0, 0, 11, 12 * hour - 9);
    reads(5, 0, 0, 13, UINT64_MAX - 100);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.outside, 7 + 11 + 13);
    ck_assert_uint_eq(count_calls(), 3 + 5 + 7 + 11 + 13);
}

TEST(chunk_of_unknown_kind_is_skipped) {
    describe();
    events_chunk_begin(&writer, (enum events_chunk_kind)99, "12345678", 8);
    events_chunk_end(&writer);
    reads(1, 0, 0, 3, 1000);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.skipped, 1);
    ck_assert_uint_eq(count_calls(), 3);
}

TEST(chunks_that_were_never_written_are_counted) {
    describe();
    reads(1, 0, 0, 3, 1000);
    writer.sequence += 4;
    reads(1, 3, 0, 3, 10000);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(file->losses.lost, 4);
    ck_assert_uint_eq(count_calls(), 6);
}

static void break_start(size_t at, unsigned char byte, const char *expected) {
    describe();
    writer.bytes[at] = byte;
    ck_assert_int_lt(events_open(writer.bytes, writer.size_bytes, &file, complaint), 0);
    ck_assert_msg(strstr(complaint, expected), "%s", complaint);
}

TEST(other_files_are_refused) {
    break_start(0, 'X', "no events file");
}

TEST(other_byte_order_is_refused) {
    break_start(offsetof(struct events_start, byte_order), 9, "byte order");
}

TEST(other_version_is_refused) {
    break_start(offsetof(struct events_start, major), 7, "version");
}

TEST(strings_are_found) {
    struct events_text text;
    describe();
    events_chunk_begin(&writer, EVENTS_STRINGS, NULL, 0);
    events_write_string(&writer, EVENTS_STRING_PATH, 5, 100, "/old", 4);
    events_write_string(&writer, EVENTS_STRING_PATH, 5, 200, "/renamed", 8);
    events_write_string(&writer, EVENTS_STRING_TASK, 5, 4, "make", 4);
    events_chunk_end(&writer);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(events_path(file, 5, 50).length, 4);
    ck_assert_uint_eq(events_path(file, 5, 199).length, 4);
    ck_assert_uint_eq(events_path(file, 5, 200).length, 8);
    ck_assert_ptr_null(events_path(file, 6, 200).bytes);
    ck_assert_uint_eq(events_task(file, &(struct event){.thread = 5}, &text), 4);
    ck_assert(text.length == 4 && memcmp(text.bytes, "make", 4) == 0);
    ck_assert_uint_eq(events_task(file, &(struct event){.thread = 7}, &text), 0);
}

static void clock_pair(uint64_t cycles, int64_t realtime_ns, int64_t monotonic_ns, uint32_t status) {
    const struct events_clock clock = {.cycles = cycles,
                                       .realtime_ns = realtime_ns,
                                       .monotonic_ns = monotonic_ns,
                                       .gap_cycles = 20,
                                       .error_ns = 1000,
                                       .status = status};
    events_chunk_begin(&writer, EVENTS_CLOCK, &clock, sizeof(clock));
    events_chunk_end(&writer);
}

TEST(time_is_that_of_the_nearest_pairs) {
    describe();
    clock_pair(3000, 50000, 50000, 0);
    clock_pair(1000, 10000, 10000, 0);
    clock_pair(2000, 20000, 20000, 0);
    read_all(writer.size_bytes);
    ck_assert_int_eq(events_unix_ns(file, 1500), 15000);
    ck_assert_int_eq(events_unix_ns(file, 2500), 35000);
    ck_assert_int_eq(events_unix_ns(file, 900), 9000);
    ck_assert_int_eq(events_unix_ns(file, 3100), 53000);
    ck_assert_uint_eq(events_error_ns(file, 1500), 1010);
}

TEST(error_of_time_is_what_the_kernel_says_and_what_was_set) {
    describe();
    clock_pair(1000, 10000, 10000, 0);
    clock_pair(2000, 27000, 20000, 0); /* set forward by 7000 */
    read_all(writer.size_bytes);
    ck_assert_uint_eq(events_error_ns(file, 1500), 1010 + 7000);
}

TEST(unsynchronized_clock_has_no_bound) {
    describe();
    clock_pair(1000, 10000, 10000, 0x40);
    read_all(writer.size_bytes);
    ck_assert_uint_eq(events_error_ns(file, 1000), UINT64_MAX);
    ck_assert_int_eq(events_unix_ns(file, 1500), 10500); /* at 1 GHz */
}

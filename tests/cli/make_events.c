/* Writes an events file on standard output: two programs that look a file up, read it and fail, a reset between them,
 * names that terminals, CSV, JSON and protobuf must not take as they are. Each call is known beforehand. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "events_writer.h"

enum { LOOKUP, READ, RENAME };
enum { CAT = 4711, DOG = 4713 };

#define BEGUN_NS INT64_C(1764094800000000000) /* 2025-11-25T18:20:00Z */
#define HZ 1000000000U

static struct events_writer writer;

static void describe(void) {
    events_write_start(&writer, EVENTS_NAMES);
    events_chunk_begin(&writer, EVENTS_DESCRIPTION, NULL, 0);
    events_write_line(&writer, "host", "one");
    events_write_line(&writer, "clock tsc 1000000000", NULL);
    events_write_line(&writer, "resolution 1", NULL);
    events_write_line(&writer, "label layer", "fs");
    events_write_line(&writer, "label lower", "/srv/data");
    events_write_line(&writer, "op 0 LOOKUP|entry||name", NULL);
    events_write_line(&writer, "op 1 READ bytes|file size offset result||", NULL);
    events_write_line(&writer, "op 2 RENAME|parent||name new_name", NULL);
    events_chunk_end(&writer);
}

static void pair_clocks(uint64_t cycles) {
    const struct events_clock clock = {
        .cycles = cycles, .realtime_ns = BEGUN_NS + (int64_t)cycles, .monotonic_ns = (int64_t)cycles, .error_ns = 1000};
    events_chunk_begin(&writer, EVENTS_CLOCK, &clock, sizeof(clock));
    events_chunk_end(&writer);
}

static void mark(enum events_mark_kind kind, uint64_t cycles, uint64_t first, uint64_t second) {
    const struct events_mark_stream streams[] = {{.stream = 0, .index = first}, {.stream = 1, .index = second}};
    const struct events_mark head = {
        .kind = (uint32_t)kind, .stream_count = 2, .cycles = cycles, .realtime_ns = BEGUN_NS + (int64_t)cycles};
    events_chunk_begin(&writer, EVENTS_MARK, &head, sizeof(head));
    events_chunk_add(&writer, streams, sizeof(streams));
    events_chunk_end(&writer);
}

/* A look-up that fails, and 40 reads of 1 to 40 ms, one after the other. */
static void read_file(uint32_t stream, uint64_t first_index, uint32_t thread, uint64_t start_cycles) {
    const struct events_buffer head = {
        .stream = stream, .worker = 100 + stream, .first_index = first_index, .record_count = 41};
    const uint64_t entry[] = {0};
    const char *const texts[] = {"no \"such\", file\n"};
    struct events_call call = {.start_cycles = start_cycles,
                               .latency_cycles = 5000,
                               .node = 1,
                               .thread = thread,
                               .uid = 65534,
                               .op = LOOKUP,
                               .error = ENOENT,
                               .flags = EVENTS_MORE,
                               .columns = entry,
                               .column_count = 1,
                               .texts = texts,
                               .text_count = 1};
    events_chunk_begin(&writer, EVENTS_BUFFER, &head, sizeof(head));
    events_write_record(&writer, &call);
    for (uint64_t i = 1; i <= 40; i++) {
        const uint64_t columns[] = {3, 4096, 4096 * i, i == 40 ? 0 : 4096};
        start_cycles = call.start_cycles + call.latency_cycles + 1000;
        call = (struct events_call){.start_cycles = start_cycles,
                                    .latency_cycles = 1000000 * i,
                                    .node = 5,
                                    .thread = thread,
                                    .uid = 65534,
                                    .op = READ,
                                    .error = i == 40 ? EIO : 0,
                                    .columns = columns,
                                    .column_count = 4};
        events_write_record(&writer, &call);
    }
    events_chunk_end(&writer);
}

static void rename_it(void) {
    const struct events_buffer head = {.stream = 1, .worker = 101, .first_index = 41, .record_count = 1};
    const uint64_t parent[] = {1};
    const char *const texts[] = {"file", "\xff\x1b[31mred"};
    const struct events_call call = {.start_cycles = 3000000000,
                                     .latency_cycles = 70000,
                                     .node = 1,
                                     .thread = DOG,
                                     .op = RENAME,
                                     .flags = EVENTS_MORE,
                                     .columns = parent,
                                     .column_count = 1,
                                     .texts = texts,
                                     .text_count = 2};
    events_chunk_begin(&writer, EVENTS_BUFFER, &head, sizeof(head));
    events_write_record(&writer, &call);
    events_chunk_end(&writer);
}

static void name_them(void) {
    events_chunk_begin(&writer, EVENTS_STRINGS, NULL, 0);
    events_write_string(&writer, EVENTS_STRING_PATH, 1, 0, "/", 1);
    events_write_string(&writer, EVENTS_STRING_PATH, 5, 0, "/sub/file", 9);
    events_write_string(&writer, EVENTS_STRING_TASK, CAT, CAT, "cat", 3);
    events_write_string(&writer, EVENTS_STRING_TASK, DOG, DOG, "dog\x1b[2J", 7);
    events_chunk_end(&writer);
}

int main(void) {
    describe();
    pair_clocks(0);
    mark(EVENTS_MARK_START, 0, 0, 0);
    read_file(0, 0, CAT, 1000);
    mark(EVENTS_MARK_RESET, 1500000000, 41, 0);
    read_file(1, 0, DOG, 2000000000);
    read_file(0, 41, CAT, 2000500000);
    rename_it();
    name_them();
    pair_clocks(4000000000);
    mark(EVENTS_MARK_STOP, 4000000000, 82, 42);
    fwrite(writer.bytes, 1, writer.size_bytes, stdout);
    return events_writer_finish(&writer) < 0 || fflush(stdout) != 0;
}

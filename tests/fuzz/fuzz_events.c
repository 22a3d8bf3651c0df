/* The reader of events files: any file is refused with a reason, or read as far as it is whole: all that is said of it
 * lies inside of it, and all its calls are there or counted as unreadable. Checksums are made right before, so that
 * what is behind them is reached; the file is also read as it is. */
#include <errno.h>
#include <string.h>

#include "base.h"
#include "events_reader.h"
#include "events_writer.h"
#include "fuzz.h"

struct input {
    const unsigned char *data;
    size_t size_bytes;
};

static void promise_inside(const struct input *input, const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes;
    FUZZ_PROMISE(!bytes || (at >= input->data && length <= input->size_bytes &&
                            (size_t)(at - input->data) <= input->size_bytes - length));
}

static void promise_event(const struct input *input, const struct events_file *file, const struct event *event) {
    const struct events_op *op = &file->ops[event->op];
    struct events_text name;
    FUZZ_PROMISE(event->op < EVENTS_OPS_MAX && op->name);
    for (unsigned i = 0; i < EVENTS_TEXTS_MAX; i++)
        promise_inside(input, event->texts[i].bytes, event->texts[i].length);
    struct events_text path = events_path(file, event->node, event->start_cycles);
    promise_inside(input, path.bytes, path.length);
    char whole[EVENTS_PATH_SIZE];
    FUZZ_PROMISE(events_whole_path(file, event->node, event->start_cycles, whole) == strlen(whole));
    events_task(file, event, &name);
    promise_inside(input, name.bytes, name.length);
    events_unix_ns(file, event->end_cycles);
    events_error_ns(file, event->start_cycles);
    for (unsigned i = 0; i < op->column_count_all; i++)
        FUZZ_PROMISE(events_column(file, event->op, op->columns[i], true) >= 0);
}

static uint64_t calls_of(const struct events_file *file) {
    uint64_t calls = 0;
    for (size_t i = 0; i < file->run_count; i++)
        calls += file->runs[i].buffer.record_count;
    return calls;
}

static void promise_file(const struct input *input, const struct events_file *file) {
    struct events_cursor *cursor;
    struct event event;
    uint64_t count = 0;
    FUZZ_PROMISE(events_cursor_open(file, &cursor) == 0);
    for (; events_next(cursor, &event); count++) {
        promise_event(input, file, &event);
        for (size_t mark = 0; mark < file->mark_count && mark < 3; mark++)
            events_is_before(&file->marks[mark], &event);
    }
    events_cursor_close(cursor);
    FUZZ_PROMISE(count + file->losses.unreadable == calls_of(file));
    FUZZ_PROMISE(file->losses.cut_bytes <= input->size_bytes);
}

static void read_input(const struct input *input) {
    char complaint[EVENTS_COMPLAINT_SIZE] = "";
    struct events_file *file = NULL;
    int err = events_open(input->data, input->size_bytes, &file, complaint);
    if (err < 0) {
        FUZZ_PROMISE((err == -EBADMSG || err == -EPROTO) && complaint[0] != '\0');
        return;
    }
    FUZZ_PROMISE(events_find_links(file) == 0);
    promise_file(input, file);
    events_close(file);
}

/* As far as there are chunks. */
static void make_checksums_right(unsigned char *data, size_t size_bytes) {
    struct events_start start;
    struct events_chunk chunk;
    if (size_bytes < sizeof(start))
        return;
    memcpy(&start, data, sizeof(start));
    size_t at = start.start_bytes;
    while (at < size_bytes && size_bytes - at >= sizeof(chunk)) {
        memcpy(&chunk, data + at, sizeof(chunk));
        if (chunk.size_bytes < sizeof(chunk) || chunk.size_bytes > size_bytes - at || chunk.size_bytes % 8 != 0)
            return;
        chunk.checksum = 0;
        struct events_sum sum = events_sum_add((struct events_sum){0}, &chunk, sizeof(chunk));
        chunk.checksum =
            events_checksum(events_sum_add(sum, data + at + sizeof(chunk), chunk.size_bytes - sizeof(chunk)));
        memcpy(data + at, &chunk, sizeof(chunk));
        at += chunk.size_bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    CLEANUP_FREE unsigned char *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    FUZZ_PROMISE(copy);
    memcpy(copy, data, size_bytes);
    read_input(&(struct input){data, size_bytes});
    make_checksums_right(copy, size_bytes);
    read_input(&(struct input){copy, size_bytes});
    return 0;
}

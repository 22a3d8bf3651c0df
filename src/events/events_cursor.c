/* All calls of a file ordered by their start: a heap of streams, each of which is ordered already. */
#include <stdlib.h>

#include "base.h"
#include "events_private.h"

/* A stream: runs [run, run_end); some records of the first run have been read. */
struct stream {
    size_t run;
    size_t run_end;
    size_t read_bytes;
    uint32_t read_count;
    struct event next;
};

struct events_cursor {
    const struct events_file *file;
    struct stream *streams; /* a heap by next.start_cycles */
    size_t stream_count;
};

/* Reads the stream's next call. Returns false if there is none. */
static bool advance(const struct events_file *file, struct stream *stream) {
    while (stream->run < stream->run_end) {
        const struct events_run *run = &file->runs[stream->run];
        if (stream->read_count < run->buffer.record_count) {
            size_t length_bytes = events_decode(file, run->records + stream->read_bytes,
                                                run->records_bytes - stream->read_bytes, &stream->next);
            if (length_bytes > 0) {
                stream->next.stream = run->buffer.stream;
                stream->next.worker = run->buffer.worker;
                stream->next.index = run->buffer.first_index + stream->read_count++;
                stream->read_bytes += length_bytes;
                return true;
            }
        }
        stream->run++;
        stream->read_bytes = 0;
        stream->read_count = 0;
    }
    return false;
}

static bool comes_before(const struct stream *a, const struct stream *b) {
    if (a->next.start_cycles != b->next.start_cycles)
        return a->next.start_cycles < b->next.start_cycles;
    return a->next.stream < b->next.stream;
}

static void sink(struct events_cursor *cursor, size_t place) {
    struct stream *streams = cursor->streams;
    for (;;) {
        size_t least = place;
        for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < cursor->stream_count; child++)
            if (comes_before(&streams[child], &streams[least]))
                least = child;
        if (least == place)
            return;
        struct stream moved = streams[place];
        streams[place] = streams[least];
        streams[least] = moved;
        place = least;
    }
}

static size_t count_streams(const struct events_file *file) {
    size_t count = 0;
    for (size_t run = 0; run < file->run_count; run++)
        count += run == 0 || file->runs[run].buffer.stream != file->runs[run - 1].buffer.stream;
    return count;
}

static void find_streams(struct events_cursor *cursor) {
    const struct events_file *file = cursor->file;
    size_t end;
    for (size_t run = 0; run < file->run_count; run = end) {
        for (end = run + 1; end < file->run_count && file->runs[end].buffer.stream == file->runs[run].buffer.stream;)
            end++;
        struct stream stream = {.run = run, .run_end = end};
        if (advance(file, &stream))
            cursor->streams[cursor->stream_count++] = stream;
    }
    for (size_t place = cursor->stream_count / 2; place-- > 0;)
        sink(cursor, place);
}

int events_cursor_open(const struct events_file *file, struct events_cursor **ret_cursor) {
    struct events_cursor *cursor = calloc(1, sizeof(*cursor));
    if (!cursor)
        return -ENOMEM;
    cursor->file = file;
    cursor->streams = calloc(count_streams(file) + 1, sizeof(*cursor->streams));
    if (!cursor->streams) {
        free(cursor);
        return -ENOMEM;
    }
    find_streams(cursor);
    *ret_cursor = cursor;
    return 0;
}

void events_cursor_close(struct events_cursor *cursor) {
    if (!cursor)
        return;
    free(cursor->streams);
    free(cursor);
}

bool events_next(struct events_cursor *cursor, struct event *ret_event) {
    if (cursor->stream_count == 0)
        return false;
    struct stream *first = &cursor->streams[0];
    *ret_event = first->next;
    if (!advance(cursor->file, first))
        *first = cursor->streams[--cursor->stream_count];
    sink(cursor, 0);
    return true;
}

int events_each(const struct events_file *file, events_each_fn each, void *context) {
    struct events_cursor *cursor;
    struct event event;
    int err = events_cursor_open(file, &cursor);
    if (err < 0)
        return err;
    while (err == 0 && events_next(cursor, &event))
        err = each(context, &event);
    events_cursor_close(cursor);
    return err;
}

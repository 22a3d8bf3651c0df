/* Decodes single records, and reads all calls of a file ordered by their start: from a heap of streams, each of which is
 * ordered already. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_private.h"

/* The bytes that have not been read yet. */
struct rest {
    const unsigned char *at;
    size_t size_bytes;
};

static bool take(struct rest *rest, void *ret_value, size_t size_bytes) {
    if (rest->size_bytes < size_bytes)
        return false;
    memcpy(ret_value, rest->at, size_bytes);
    rest->at += size_bytes;
    rest->size_bytes -= size_bytes;
    return true;
}

static bool take_text(struct rest *rest, struct events_text *ret_text) {
    uint16_t length;
    uint16_t true_length;
    if (!take(rest, &length, sizeof(length)) || !take(rest, &true_length, sizeof(true_length)) ||
        rest->size_bytes < length)
        return false;
    *ret_text = (struct events_text){.bytes = (const char *)rest->at, .length = length, .true_length = true_length};
    rest->at += length;
    rest->size_bytes -= length;
    return true;
}

size_t events_decode(const struct events_file *file, const unsigned char *bytes, size_t size_bytes,
                     struct event *ret_event) {
    struct events_record record;
    struct rest rest = {bytes, size_bytes};
    if (!take(&rest, &record, sizeof(record)))
        return 0;
    size_t length_bytes = (size_t)events_head_words(record.head) * 8;
    unsigned flags = events_head_flags(record.head);
    const struct events_op *op = &file->ops[events_head_op(record.head)];
    if (length_bytes < sizeof(record) || length_bytes > size_bytes || !op->name)
        return 0;
    rest.size_bytes = length_bytes - sizeof(record);
    *ret_event = (struct event){
        .start_cycles = record.start_cycles,
        .latency_cycles = record.latency_cycles,
        .node = record.node,
        .thread = record.thread,
        .uid = record.uid,
        .op = events_head_op(record.head),
        .error = events_head_error(record.head),
        .is_past_eof = flags & EVENTS_PAST_EOF,
        .has_more = flags & EVENTS_MORE,
    };
    if (flags & EVENTS_LONG && !take(&rest, &ret_event->latency_cycles, sizeof(ret_event->latency_cycles)))
        return 0;
    ret_event->end_cycles = record.start_cycles + ret_event->latency_cycles;
    unsigned column_count = ret_event->has_more ? op->column_count_all : op->column_count;
    if (!take(&rest, ret_event->columns, column_count * sizeof(ret_event->columns[0])))
        return 0;
    for (unsigned i = 0; ret_event->has_more && i < op->text_count; i++)
        if (!take_text(&rest, &ret_event->texts[i]))
            return 0;
    return length_bytes;
}

int events_column(const struct events_file *file, unsigned op, const char *name, bool has_more) {
    const struct events_op *columns = &file->ops[op];
    unsigned count = has_more ? columns->column_count_all : columns->column_count;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(columns->columns[i], name) == 0)
            return (int)i;
    return -1;
}

uint64_t events_value(const struct events_file *file, const struct event *event, const char *name) {
    int column = events_column(file, event->op, name, event->has_more);
    return column < 0 ? 0 : event->columns[column];
}

struct events_text events_text_of(const struct events_file *file, const struct event *event, const char *name) {
    const struct events_op *op = &file->ops[event->op];
    for (unsigned i = 0; i < op->text_count; i++)
        if (strcmp(op->texts[i], name) == 0)
            return event->texts[i];
    return (struct events_text){0};
}

const struct events_mark_seen *events_mark_of_kind(const struct events_file *file, enum events_mark_kind kind) {
    for (size_t i = 0; i < file->mark_count; i++)
        if (file->marks[i].mark.kind == (uint32_t)kind)
            return &file->marks[i];
    return NULL;
}

EVENTS_ORDER(by_stream, struct events_mark_stream, stream)

void events_mark_sort(struct events_mark_stream *streams, size_t count) {
    qsort(streams, count, sizeof(*streams), by_stream);
}

const struct events_mark_stream *events_mark_find(const struct events_mark_seen *mark, uint32_t stream) {
    const struct events_mark_stream wanted = {.stream = stream};
    return bsearch(&wanted, mark->streams, mark->mark.stream_count, sizeof(wanted), by_stream);
}

bool events_is_before(const struct events_mark_seen *mark, const struct event *event) {
    const struct events_mark_stream *stream = events_mark_find(mark, event->stream);
    return stream && event->index < stream->index;
}

/* ---- All calls ---- */

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

size_t events_stream_end(const struct events_file *file, size_t run) {
    size_t end = run + 1;
    while (end < file->run_count && file->runs[end].buffer.stream == file->runs[run].buffer.stream)
        end++;
    return end;
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

int events_cursor_open(const struct events_file *file, struct events_cursor **ret_cursor) {
    struct events_cursor *cursor = calloc(1, sizeof(*cursor));
    size_t count = 0;
    if (!cursor)
        return -ENOMEM;
    for (size_t run = 0; run < file->run_count; run = events_stream_end(file, run))
        count++;
    cursor->file = file;
    cursor->streams = calloc(count + 1, sizeof(*cursor->streams));
    if (!cursor->streams) {
        free(cursor);
        return -ENOMEM;
    }
    for (size_t run = 0; run < file->run_count; run = events_stream_end(file, run)) {
        struct stream stream = {.run = run, .run_end = events_stream_end(file, run)};
        if (advance(file, &stream))
            cursor->streams[cursor->stream_count++] = stream;
    }
    for (size_t place = cursor->stream_count / 2; place-- > 0;)
        sink(cursor, place);
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

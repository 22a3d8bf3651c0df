/* Decodes single records. */
#include <stdlib.h>
#include <string.h>

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

static bool take_parts(struct rest *rest, const struct events_op *op, struct event *event) {
    unsigned count = event->has_more ? op->column_count_all : op->column_count;
    for (unsigned i = 0; i < count; i++)
        if (!take(rest, &event->columns[i], sizeof(event->columns[i])))
            return false;
    for (unsigned i = 0; event->has_more && i < op->text_count; i++)
        if (!take_text(rest, &event->texts[i]))
            return false;
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
    return take_parts(&rest, op, ret_event) ? length_bytes : 0;
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

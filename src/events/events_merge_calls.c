/* Writes the calls of a merged file: the records stay as they were, except times and numbers. */
#include <string.h>

#include "base.h"
#include "events_merge_private.h"

/* State of a stream while its calls are written. */
struct written {
    uint64_t source_end;
    uint64_t end;
};

static uint64_t scale_latency(const struct merge *merge, const struct merge_host *host, uint64_t latency_cycles) {
    long double ratio = (long double)merge->hz / (long double)host->file->clock_hz;
    if (ratio > 0.999L && ratio < 1.001L)
        return latency_cycles;
    long double scaled = (long double)latency_cycles * ratio;
    return scaled > 1.8e19L ? UINT64_MAX : (uint64_t)(scaled + 0.5L);
}

/* Returns the call's start on the common time line. It is not before the end of the previous call, if that was so in
 * the recording. */
static uint64_t place_call(const struct merge *merge, struct merge_host *host, const struct event *event,
                           const struct written *written) {
    uint64_t start = merge_time(merge, host, event->start_cycles);
    if (start >= written->end || event->start_cycles < written->source_end)
        return start;
    if (written->end - start > host->moved_cycles)
        host->moved_cycles = written->end - start;
    return written->end;
}

static bool is_number_of_object(const char *column) {
    static const char *const names[] = {"entry", "parent", "out_node", "file", "out_file"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(column, names[i]) == 0)
            return true;
    return false;
}

/* raw: the record that `event` was decoded from. latency_cycles: in cycles of the merged file */
static void write_record(struct merge *merge, const struct merge_file *file, const struct merge_host *host,
                         struct event *event, const unsigned char *raw, size_t raw_bytes) {
    struct events_record record;
    memcpy(&record, raw, sizeof(record));
    const struct events_op *op = &file->file->ops[event->op];
    unsigned columns = event->has_more ? op->column_count_all : op->column_count;
    unsigned flags = events_head_flags(record.head) & ~(unsigned)EVENTS_LONG;
    size_t tail_at = sizeof(record) + (events_head_flags(record.head) & EVENTS_LONG ? 8U : 0U) + 8U * (size_t)columns;
    size_t words = (sizeof(record) + raw_bytes - tail_at) / 8 + columns;
    bool is_long = event->latency_cycles > UINT32_MAX && words < EVENTS_WORDS_MAX;
    if (event->latency_cycles > UINT32_MAX && !is_long)
        event->latency_cycles = UINT32_MAX; /* happens only if a text fills the whole record */
    for (unsigned i = 0; i < columns; i++)
        if (is_number_of_object(op->columns[i]))
            event->columns[i] = merge_node(host, event->columns[i]);
        else if (strcmp(op->columns[i], "process") == 0)
            event->columns[i] = merge_thread(host, (uint32_t)event->columns[i]);
    record.start_cycles = event->start_cycles;
    record.latency_cycles = (uint32_t)event->latency_cycles;
    record.node = merge_node(host, event->node);
    record.thread = merge_thread(host, event->thread);
    record.head = events_head(file->ops[event->op], (unsigned)words + is_long, event->error,
                              flags | (is_long ? (unsigned)EVENTS_LONG : 0U));
    events_chunk_add(&merge->writer, &record, sizeof(record));
    events_chunk_add(&merge->writer, &event->latency_cycles, is_long ? 8 : 0);
    events_chunk_add(&merge->writer, event->columns, 8U * (size_t)columns);
    events_chunk_add(&merge->writer, raw + tail_at, raw_bytes - tail_at);
}

static int end_buffer(struct merge *merge, struct events_buffer *buffer) {
    events_write_record_count(&merge->writer, buffer->record_count);
    buffer->first_index += buffer->record_count;
    buffer->record_count = 0;
    return merge_chunk_end(merge);
}

static int write_run(struct merge *merge, const struct merge_file *file, const struct events_run *run,
                     struct written *written) {
    const struct merge_stream *stream = merge_stream_find(file, run->buffer.stream);
    struct merge_host *host = &merge->hosts[stream->host];
    struct events_buffer buffer = run->buffer;
    size_t at = 0;
    int err = 0;
    buffer.stream = stream->to;
    buffer.record_count = 0;
    for (uint32_t i = 0; err == 0 && i < run->buffer.record_count; i++) {
        struct event event;
        size_t length = events_decode(file->file, run->records + at, run->records_bytes - at, &event);
        if (length == 0)
            break;
        if (buffer.record_count++ == 0)
            events_chunk_begin(&merge->writer, EVENTS_BUFFER, &buffer, sizeof(buffer));
        uint64_t start = place_call(merge, host, &event, written);
        written->source_end = event.end_cycles;
        event.start_cycles = start;
        event.latency_cycles = scale_latency(merge, host, event.latency_cycles);
        written->end = start + event.latency_cycles;
        write_record(merge, file, host, &event, run->records + at, length);
        at += length;
        if (merge->writer.size_bytes > MERGE_CHUNK_BYTES)
            err = end_buffer(merge, &buffer);
    }
    return err == 0 && buffer.record_count > 0 ? end_buffer(merge, &buffer) : err;
}

int merge_write_runs(struct merge *merge, const struct merge_file *file) {
    struct written written = {0};
    int err = 0;
    for (size_t i = 0; err == 0 && i < file->file->run_count; i++) {
        const struct events_run *run = &file->file->runs[i];
        if (i > 0 && run->buffer.stream != file->file->runs[i - 1].buffer.stream)
            written = (struct written){0};
        err = write_run(merge, file, run, &written);
    }
    return err;
}

/* What is missing in an events file: gaps in the numbers of calls, and records that cannot be read. */
#include <stdlib.h>

#include "events_private.h"

/* How far a stream has been checked: all numbers below `index` are accounted for; `dropped` of these were dropped. */
struct reached {
    uint64_t index;
    uint64_t dropped;
};

/* The first and the last mark; NULL: there is none. */
struct ends {
    const struct events_mark_seen *start;
    const struct events_mark_seen *stop;
};

static const struct events_mark_stream *find_stream(const struct events_mark_seen *mark, uint32_t stream) {
    return mark ? events_mark_find(mark, stream) : NULL;
}

/* The last mark that has the numbers of all streams. */
static const struct events_mark_seen *find_end(const struct events_file *file) {
    for (size_t i = file->mark_count; i-- > 0;) {
        uint32_t kind = file->marks[i].mark.kind;
        if (kind == EVENTS_MARK_STOP || kind == EVENTS_MARK_WRITTEN || kind == EVENTS_MARK_SLOW)
            return &file->marks[i];
    }
    return NULL;
}

/* Counts the calls that are missing before the call of that number. */
static void account(struct events_losses *losses, struct reached *reached, uint64_t index, uint64_t dropped) {
    uint64_t gap = index > reached->index ? index - reached->index : 0;
    uint64_t of_them = dropped > reached->dropped ? dropped - reached->dropped : 0;
    if (of_them > gap)
        of_them = gap;
    losses->dropped += of_them;
    losses->missing += gap - of_them;
    if (index > reached->index)
        reached->index = index;
    if (dropped > reached->dropped)
        reached->dropped = dropped;
}

/* Returns the time when the last call ended. */
static uint64_t count_in_run(struct events_file *file, const struct events_run *run, uint64_t ended_cycles) {
    struct event event;
    size_t read_bytes = 0;
    uint32_t count = 0;
    for (; count < run->buffer.record_count; count++) {
        size_t length_bytes = events_decode(file, run->records + read_bytes, run->records_bytes - read_bytes, &event);
        if (length_bytes == 0)
            break;
        file->losses.disordered += event.start_cycles < ended_cycles;
        file->losses.outside += events_is_outside(file, &event);
        ended_cycles = event.end_cycles;
        read_bytes += length_bytes;
    }
    file->losses.unreadable += run->buffer.record_count - count;
    return ended_cycles;
}

/* Where a stream begins in this file: as the first mark says, else the stream is new. */
static struct reached begin(const struct events_mark_seen *start, const struct events_run *first) {
    const struct events_mark_stream *began = find_stream(start, first->buffer.stream);
    if (began)
        return (struct reached){began->index, began->dropped};
    return start ? (struct reached){0} : (struct reached){first->buffer.first_index, first->buffer.dropped};
}

static void count_in_stream(struct events_file *file, const struct ends *ends, size_t run, size_t run_end) {
    struct reached reached = begin(ends->start, &file->runs[run]);
    uint64_t ended_cycles = 0;
    for (size_t i = run; i < run_end; i++) {
        const struct events_buffer *buffer = &file->runs[i].buffer;
        account(&file->losses, &reached, buffer->first_index, buffer->dropped);
        uint64_t end_index = buffer->first_index + buffer->record_count;
        if (end_index > reached.index)
            reached.index = end_index;
        ended_cycles = count_in_run(file, &file->runs[i], ended_cycles);
    }
    const struct events_mark_stream *ended = find_stream(ends->stop, file->runs[run].buffer.stream);
    if (ended)
        account(&file->losses, &reached, ended->index, ended->dropped);
}

static int compare_stream(const void *stream, const void *run) {
    uint32_t wanted = *(const uint32_t *)stream;
    uint32_t found = ((const struct events_run *)run)->buffer.stream;
    return (wanted > found) - (wanted < found);
}

static bool has_runs(const struct events_file *file, uint32_t stream) {
    return file->run_count > 0 && bsearch(&stream, file->runs, file->run_count, sizeof(*file->runs), compare_stream);
}

/* Streams that have no call in the file. */
static void count_absent_streams(struct events_file *file, const struct ends *ends) {
    for (uint32_t i = 0; ends->start && ends->stop && i < ends->stop->mark.stream_count; i++) {
        const struct events_mark_stream *ended = &ends->stop->streams[i];
        const struct events_mark_stream *began = find_stream(ends->start, ended->stream);
        struct reached reached = began ? (struct reached){began->index, began->dropped} : (struct reached){0};
        if (!has_runs(file, ended->stream))
            account(&file->losses, &reached, ended->index, ended->dropped);
    }
}

void events_count_losses(struct events_file *file) {
    const struct ends ends = {events_mark_of_kind(file, EVENTS_MARK_START), find_end(file)};
    size_t end;
    for (size_t run = 0; run < file->run_count; run = end) {
        for (end = run + 1; end < file->run_count && file->runs[end].buffer.stream == file->runs[run].buffer.stream;)
            end++;
        count_in_stream(file, &ends, run, end);
    }
    count_absent_streams(file, &ends);
    file->losses.is_open = !ends.stop || events_has_open_host(file);
}

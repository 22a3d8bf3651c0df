/* Marks of a merged file: one at each end for all recordings, and between them the marks of single recordings. */
#include <string.h>

#include "base.h"
#include "events_merge_private.h"

/* A mark under construction. */
struct made {
    struct events_mark head;
    struct events_mark_stream *streams;
};

static bool is_of_kind(const struct events_mark_seen *mark, uint32_t kind) {
    return mark->mark.kind == kind;
}

static const struct events_mark_seen *find_mark(const struct events_file *file, uint32_t kind) {
    for (size_t i = 0; i < file->mark_count; i++)
        if (is_of_kind(&file->marks[i], kind))
            return &file->marks[i];
    return NULL;
}

static size_t count_streams(const struct merge *merge) {
    size_t count = 0;
    for (size_t i = 0; i < merge->file_count; i++)
        count += merge->files[i].stream_count;
    return count;
}

static int write_mark(struct merge *merge, const struct made *made) {
    events_chunk_begin(&merge->writer, EVENTS_MARK, &made->head, sizeof(made->head));
    events_chunk_add(&merge->writer, made->streams, made->head.stream_count * sizeof(*made->streams));
    return merge_chunk_end(merge);
}

/* Copies what a mark says about the streams of its file. */
static void add_streams(const struct merge_file *file, const struct events_mark_seen *mark, struct made *made) {
    for (size_t i = 0; i < file->stream_count; i++) {
        const struct events_mark_stream *said = events_mark_find(mark, file->streams[i].from);
        if (!said)
            continue;
        struct events_mark_stream *stream = &made->streams[made->head.stream_count++];
        *stream = *said;
        stream->stream = file->streams[i].to;
    }
}

/* ---- Both ends ---- */

/* If there is no mark, recording of a stream began with its first call in the file. */
static void add_first_calls(const struct merge_file *file, struct made *made) {
    for (size_t i = 0; i < file->file->run_count; i++) {
        const struct events_buffer *buffer = &file->file->runs[i].buffer;
        if (i > 0 && buffer->stream == file->file->runs[i - 1].buffer.stream)
            continue;
        made->streams[made->head.stream_count++] = (struct events_mark_stream){
            .stream = merge_stream_find(file, buffer->stream)->to,
            .index = buffer->first_index,
            .dropped = buffer->dropped,
        };
    }
}

/* The time when a recording began or ended: from its mark, else from the clock's first or last pair. */
static uint64_t end_time(const struct merge *merge, const struct merge_file *file, const struct events_mark_seen *mark,
                         bool is_end) {
    const struct merge_host *host = &merge->hosts[file->first_host];
    const struct events_clock *clocks = file->file->clocks;
    return merge_time(merge, host, mark ? mark->mark.cycles : clocks[is_end ? file->file->clock_count - 1 : 0].cycles);
}

static int write_end_mark(struct merge *merge, struct made *made, bool is_end) {
    made->head =
        (struct events_mark){.kind = is_end ? EVENTS_MARK_STOP : EVENTS_MARK_START, .cycles = is_end ? 0 : UINT64_MAX};
    for (size_t i = 0; i < merge->file_count; i++) {
        const struct merge_file *file = &merge->files[i];
        const struct events_mark_seen *mark = find_mark(file->file, made->head.kind);
        uint64_t cycles = end_time(merge, file, mark, is_end);
        if (is_end ? cycles > made->head.cycles : cycles < made->head.cycles)
            made->head.cycles = cycles;
        if (mark)
            add_streams(file, mark, made);
        else if (!is_end)
            add_first_calls(file, made);
    }
    made->head.realtime_ns = (int64_t)((long double)made->head.cycles * 1e9L / (long double)merge->hz);
    return write_mark(merge, made);
}

/* ---- Marks of single recordings ---- */

/* Marks PAUSE and RESUME come after all calls of the other recordings; marks that begin a profile anew come before
 * them. */
static void add_others(const struct merge *merge, const struct merge_file *file, struct made *made) {
    if (made->head.kind != EVENTS_MARK_PAUSE && made->head.kind != EVENTS_MARK_RESUME)
        return;
    for (size_t i = 0; i < merge->file_count; i++)
        for (size_t j = 0; &merge->files[i] != file && j < merge->files[i].stream_count; j++)
            made->streams[made->head.stream_count++] =
                (struct events_mark_stream){.stream = merge->files[i].streams[j].to, .index = UINT64_MAX};
}

static int write_marks_of(struct merge *merge, const struct merge_file *file, struct made *made) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < file->file->mark_count; i++) {
        const struct events_mark_seen *mark = &file->file->marks[i];
        if (is_of_kind(mark, EVENTS_MARK_START) || is_of_kind(mark, EVENTS_MARK_STOP))
            continue;
        made->head = mark->mark;
        made->head.stream_count = 0;
        made->head.cycles = merge_time(merge, &merge->hosts[file->first_host], mark->mark.cycles);
        /* keeps numbers of rotations of different files distinct */
        made->head.number = mark->mark.number * merge->file_count + (uint64_t)(file - merge->files);
        add_streams(file, mark, made);
        add_others(merge, file, made);
        err = write_mark(merge, made);
    }
    return err;
}

/* Writes the reasons why calls were dropped. */
static int write_failures_of(struct merge *merge, const struct merge_file *file) {
    const struct merge_host *host = &merge->hosts[file->first_host];
    int err = 0;
    for (size_t i = 0; err == 0 && i < file->file->failure_count; i++) {
        struct events_failure failure = file->file->failures[i];
        failure.first_cycles = merge_time(merge, host, failure.first_cycles);
        failure.last_cycles = merge_time(merge, host, failure.last_cycles);
        events_chunk_begin(&merge->writer, EVENTS_FAILURE, &failure, sizeof(failure));
        err = merge_chunk_end(merge);
    }
    return err;
}

int merge_write_marks(struct merge *merge, bool is_end) {
    struct made made = {.streams = calloc(count_streams(merge) + 1, sizeof(*made.streams))};
    int err = made.streams ? write_end_mark(merge, &made, is_end) : -ENOMEM;
    for (size_t i = 0; err == 0 && !is_end && i < merge->file_count; i++)
        err = write_marks_of(merge, &merge->files[i], &made);
    for (size_t i = 0; err == 0 && !is_end && i < merge->file_count; i++)
        err = write_failures_of(merge, &merge->files[i]);
    free(made.streams);
    return err;
}

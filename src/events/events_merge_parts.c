/* Numbers and times of a recording, as they are in the merged file. Writes all parts of that file except the calls. Marks:
 * one at each end for all recordings, and between them the marks of single recordings. */
#include <string.h>
#include <sys/timex.h>

#include "base.h"
#include "events_merge_private.h"

/* ---- Numbers and times of a recording, as they are in the merged file ---- */

uint64_t merge_time(const struct merge *merge, const struct merge_host *host, uint64_t cycles) {
    int64_t unix_ns = events_unix_ns(&merge->machines[host->machine].clock, cycles);
    long double at = (long double)unix_ns * (long double)merge->hz / NS_PER_S;
    return at <= 0 ? 0 : at > 1.8e19L ? UINT64_MAX : (uint64_t)at;
}

uint64_t merge_error_ns(const struct merge *merge, const struct merge_host *host) {
    const struct events_file *clock = &merge->machines[host->machine].clock;
    uint64_t error_ns = host->seen ? host->seen->head.error_ns : 0;
    for (size_t i = 0; !host->seen && i < clock->clock_count; i++) {
        uint64_t here_ns = events_error_ns(clock, clock->clocks[i].cycles);
        error_ns = here_ns > error_ns ? here_ns : error_ns;
    }
    uint64_t moved_ns = (uint64_t)((long double)host->moved_cycles * NS_PER_S / (long double)merge->hz);
    return error_ns > UINT64_MAX - moved_ns ? UINT64_MAX : error_ns + moved_ns;
}

EVENTS_ORDER(stream_order, struct merge_stream, from)

const struct merge_stream *merge_stream_find(const struct merge_file *file, uint32_t stream) {
    const struct merge_stream wanted = {.from = stream};
    return file->stream_count ? bsearch(&wanted, file->streams, file->stream_count, sizeof(wanted), stream_order)
                              : NULL;
}

uint64_t merge_node(const struct merge_host *host, uint64_t node) {
    return node == 0 ? 0 : node ^ host->node_bits;
}

uint32_t merge_thread(const struct merge_host *host, uint32_t thread) {
    return thread == 0 ? 0 : thread ^ host->thread_bits;
}

int merge_chunk_end(struct merge *merge) {
    events_chunk_end(&merge->writer);
    if (merge->writer.error)
        return merge->writer.error;
    int err = merge->write(merge->context, merge->writer.bytes, merge->writer.size_bytes);
    merge->writer.size_bytes = 0;
    return err;
}

/* ---- Descriptions ---- */

static void write_common_labels(struct merge *merge) {
    const struct events_file *first = merge->files[0].file;
    for (size_t i = 0; i < first->label_count; i++) {
        const struct events_label *label = &first->labels[i];
        bool is_common = true;
        for (size_t j = 1; is_common && j < merge->file_count; j++) {
            const struct events_file *other = merge->files[j].file;
            size_t k = 0;
            while (k < other->label_count &&
                   (strcmp(other->labels[k].key, label->key) != 0 || strcmp(other->labels[k].value, label->value) != 0))
                k++;
            is_common = k < other->label_count;
        }
        if (is_common)
            events_write_label(&merge->writer, label->key, label->value);
    }
}

/* after: "|" or "\n" */
static void write_words(struct events_writer *writer, const char *const *words, unsigned from, unsigned to,
                        const char *after) {
    for (unsigned i = from; i < to; i++) {
        events_chunk_add(writer, " ", i > from ? 1 : 0);
        events_write_text(writer, words[i]);
    }
    events_chunk_add(writer, after, 1);
}

static int write_description(struct merge *merge) {
    const struct events_file *first = merge->files[0].file;
    struct events_writer *writer = &merge->writer;
    unsigned resolution = first->resolution; /* the coarsest */
    uint32_t flags = 0;
    for (size_t i = 0; i < merge->file_count; i++) {
        flags |= merge->files[i].file->flags;
        if (merge->files[i].file->resolution < resolution)
            resolution = merge->files[i].file->resolution;
    }
    events_write_start(writer, flags);
    events_chunk_begin(writer, EVENTS_DESCRIPTION, NULL, 0);
    for (size_t i = 0; i < merge->host_count; i++) {
        const struct merge_host *host = &merge->hosts[i];
        const char *name = host->seen ? host->seen->name : host->file->host;
        events_write_text(writer, i > 0 ? ", " : "host ");
        events_write_text(writer, name ? name : "?");
    }
    events_chunk_add(writer, "\n", 1);
    if (first->version)
        events_write_line(writer, "osproffs", first->version);
    events_write_clock(writer, first->clock_kind ? first->clock_kind : "?", merge->hz);
    events_write_number(writer, "resolution", resolution);
    write_common_labels(merge);
    for (unsigned number = 0; number < merge->op_count; number++) {
        const struct events_op *op = merge->ops[number];
        char head[32];
        events_chunk_add(writer, head, (size_t)snprintf(head, sizeof(head), "op %u ", number));
        events_write_text(writer, op->name);
        events_write_text(writer, op->counts_bytes ? " bytes|" : "|");
        write_words(writer, op->columns, 0, op->column_count, "|");
        write_words(writer, op->columns, op->column_count, op->column_count_all, "|");
        write_words(writer, op->texts, 0, op->text_count, "\n");
    }
    return merge_chunk_end(merge);
}

static void describe_host(struct events_writer *writer, const struct merge_host *host) {
    const struct events_file *file = host->file;
    if (host->seen) {
        events_chunk_add(writer, host->seen->description, strlen(host->seen->description));
        return;
    }
    if (file->host)
        events_write_line(writer, "host", file->host);
    if (file->version)
        events_write_line(writer, "osproffs", file->version);
    if (file->boot)
        events_write_line(writer, "boot", file->boot);
    events_write_number(writer, "pid", file->pid);
    events_write_clock(writer, file->clock_kind ? file->clock_kind : "?", file->clock_hz);
    events_write_number(writer, "resolution", file->resolution);
    for (size_t i = 0; i < file->label_count; i++)
        events_write_label(writer, file->labels[i].key, file->labels[i].value);
}

static int write_hosts(struct merge *merge) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < merge->host_count; i++) {
        const struct merge_host *host = &merge->hosts[i];
        bool is_open = host->seen ? host->seen->head.flags & EVENTS_HOST_OPEN : host->file->losses.is_open;
        const struct events_host head = {
            .number = (uint32_t)i,
            .machine = host->machine,
            .first_stream = host->first_stream,
            .stream_count = host->stream_count,
            .error_ns = merge_error_ns(merge, host),
            .flags = is_open ? EVENTS_HOST_OPEN : 0,
        };
        events_chunk_begin(&merge->writer, EVENTS_HOST, &head, sizeof(head));
        describe_host(&merge->writer, host);
        err = merge_chunk_end(merge);
    }
    return err;
}

/* ---- The clock: two pairs that define the line on which all times are ---- */

static int write_clock(struct merge *merge, uint64_t cycles, uint64_t error_ns) {
    const struct events_clock clock = {
        .cycles = cycles,
        .realtime_ns = (int64_t)((long double)cycles * 1e9L / (long double)merge->hz),
        .monotonic_ns = (int64_t)((long double)cycles * 1e9L / (long double)merge->hz),
        .error_ns = error_ns == UINT64_MAX ? 0 : error_ns,
        .status = error_ns == UINT64_MAX ? STA_UNSYNC : 0,
    };
    events_chunk_begin(&merge->writer, EVENTS_CLOCK, &clock, sizeof(clock));
    return merge_chunk_end(merge);
}

static int write_clocks(struct merge *merge) {
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    uint64_t error_ns = 0;
    for (size_t i = 0; i < merge->host_count; i++) {
        const struct merge_host *host = &merge->hosts[i];
        const struct events_file *clock = &merge->machines[host->machine].clock;
        uint64_t from = merge_time(merge, host, clock->clocks[0].cycles);
        uint64_t to = merge_time(merge, host, clock->clocks[clock->clock_count - 1].cycles);
        first = from < first ? from : first;
        last = to > last ? to : last;
        error_ns = merge_error_ns(merge, host) > error_ns ? merge_error_ns(merge, host) : error_ns;
    }
    int err = write_clock(merge, first, error_ns);
    return err < 0 ? err : write_clock(merge, last > first ? last : first + merge->hz, error_ns);
}

/* ---- Strings ---- */

static const struct merge_host *host_of_key(const struct merge *merge, const struct merge_file *file, uint64_t number) {
    for (size_t i = 0; i < file->file->host_count; i++)
        if (file->file->hosts[i].head.number == number)
            return &merge->hosts[file->first_host + i];
    return &merge->hosts[file->first_host];
}

static void write_string(struct merge *merge, const struct merge_file *file, const struct events_string_seen *string) {
    struct events_string head = string->head;
    if (head.kind == EVENTS_STRING_PATH) {
        const struct merge_host *host = host_of_key(merge, file, head.key >> EVENTS_HOST_NODE_SHIFT);
        head.key = merge_node(host, head.key);
        head.value = merge_time(merge, host, head.value);
    } else if (head.kind == EVENTS_STRING_TASK) {
        const struct merge_host *host = host_of_key(merge, file, head.key >> EVENTS_HOST_THREAD_SHIFT);
        head.key = merge_thread(host, (uint32_t)head.key);
        head.value = merge_thread(host, (uint32_t)head.value);
    } else {
        return;
    }
    events_write_string(&merge->writer, (enum events_string_kind)head.kind, head.key, head.value, string->bytes,
                        string->length);
}

static int write_strings(struct merge *merge, const struct merge_file *file) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < file->file->string_count;) {
        events_chunk_begin(&merge->writer, EVENTS_STRINGS, NULL, 0);
        while (i < file->file->string_count && merge->writer.size_bytes < MERGE_CHUNK_BYTES)
            write_string(merge, file, &file->file->strings[i++]);
        err = merge_chunk_end(merge);
    }
    return err;
}

/* ---- Marks ---- */

/* A mark under construction. */
struct made {
    struct events_mark head;
    struct events_mark_stream *streams;
};

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

static int write_end_mark(struct merge *merge, struct made *made, bool is_end) {
    made->head =
        (struct events_mark){.kind = is_end ? EVENTS_MARK_STOP : EVENTS_MARK_START, .cycles = is_end ? 0 : UINT64_MAX};
    for (size_t i = 0; i < merge->file_count; i++) {
        const struct merge_file *file = &merge->files[i];
        const struct events_mark_seen *mark = events_mark_of_kind(file->file, made->head.kind);
        const struct events_clock *pair = &file->file->clocks[is_end ? file->file->clock_count - 1 : 0];
        uint64_t cycles = merge_time(merge, &merge->hosts[file->first_host], mark ? mark->mark.cycles : pair->cycles);
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

static int write_marks_of(struct merge *merge, const struct merge_file *file, struct made *made) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < file->file->mark_count; i++) {
        const struct events_mark_seen *mark = &file->file->marks[i];
        uint32_t kind = mark->mark.kind;
        if (kind == EVENTS_MARK_START || kind == EVENTS_MARK_STOP)
            continue;
        made->head = mark->mark;
        made->head.stream_count = 0;
        made->head.cycles = merge_time(merge, &merge->hosts[file->first_host], mark->mark.cycles);
        /* keeps numbers of rotations of different files distinct */
        made->head.number = mark->mark.number * merge->file_count + (uint64_t)(file - merge->files);
        add_streams(file, mark, made);
        /* PAUSE and RESUME come after all calls of the other recordings; marks that begin a profile anew before them. */
        for (size_t j = 0; (kind == EVENTS_MARK_PAUSE || kind == EVENTS_MARK_RESUME) && j < merge->file_count; j++)
            for (size_t k = 0; &merge->files[j] != file && k < merge->files[j].stream_count; k++)
                made->streams[made->head.stream_count++] =
                    (struct events_mark_stream){.stream = merge->files[j].streams[k].to, .index = UINT64_MAX};
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

static int write_marks(struct merge *merge, bool is_end) {
    size_t count = 0;
    for (size_t i = 0; i < merge->file_count; i++)
        count += merge->files[i].stream_count;
    struct made made = {.streams = calloc(count + 1, sizeof(*made.streams))};
    int err = made.streams ? write_end_mark(merge, &made, is_end) : -ENOMEM;
    for (size_t i = 0; err == 0 && !is_end && i < merge->file_count; i++)
        err = write_marks_of(merge, &merge->files[i], &made);
    for (size_t i = 0; err == 0 && !is_end && i < merge->file_count; i++)
        err = write_failures_of(merge, &merge->files[i]);
    free(made.streams);
    return err;
}

int merge_write_beginning(struct merge *merge) {
    int err = write_description(merge);
    return err < 0 ? err : write_marks(merge, false);
}

int merge_write_rest(struct merge *merge) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < merge->file_count; i++)
        err = write_strings(merge, &merge->files[i]);
    if (err == 0)
        err = write_hosts(merge);
    if (err == 0)
        err = write_clocks(merge);
    return err < 0 ? err : write_marks(merge, true);
}

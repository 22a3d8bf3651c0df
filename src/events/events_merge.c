/* Merging recordings: lists them, finds recordings of the same machine, numbers streams and operations, and writes the
 * calls: the records stay as they were, except times and numbers. */
#include "events_merging.h"

#include <string.h>

#include "base.h"
#include "events_merge_private.h"

#define HZ_MAX 9000000000U      /* cycles since 1970 fit in 64 bits */
#define PAIRS_APART_NS 10000000 /* nearer pairs of a clock would show their own errors rather than its rate */

EVENTS_ORDER(stream_order, struct merge_stream, from)

/* ---- Clocks ---- */

/* Adds a recording's pairs of clocks to those of its machine. */
static int add_clocks(struct merge_machine *machine, const struct events_file *file) {
    size_t count = machine->clock.clock_count;
    struct events_clock *clocks = reallocarray(machine->clock.clocks, count + file->clock_count, sizeof(*clocks));
    if (!clocks)
        return -ENOMEM;
    memcpy(clocks + count, file->clocks, file->clock_count * sizeof(*clocks));
    qsort(clocks, count + file->clock_count, sizeof(*clocks), events_clock_order);
    size_t kept = 1;
    for (size_t i = 1; i < count + file->clock_count; i++) {
        int64_t before_ns = clocks[kept - 1].monotonic_ns;
        if (count == 0 || clocks[i].monotonic_ns < before_ns || clocks[i].monotonic_ns - before_ns >= PAIRS_APART_NS)
            clocks[kept++] = clocks[i];
    }
    machine->clock.clocks = clocks;
    machine->clock.clock_count = kept;
    return 0;
}

/* Finds or adds the machine of a recording, and adds the recording's pairs. */
static int find_machine(struct merge *merge, const struct merge_file *file, struct merge_host *host) {
    const struct merge_machine wanted = {
        .clock.clock_hz = file->file->clock_hz,
        .boot = file->file->boot,
        .merged_file = host->seen ? (size_t)(file - merge->files) + 1 : 0,
        .merged_machine = host->seen ? host->seen->head.machine : 0,
    };
    size_t place = 0;
    for (; place < merge->machine_count; place++) {
        const struct merge_machine *machine = &merge->machines[place];
        if (machine->merged_file != wanted.merged_file)
            continue;
        if (wanted.merged_file ? machine->merged_machine == wanted.merged_machine
                               : machine->boot && wanted.boot && strcmp(machine->boot, wanted.boot) == 0)
            break;
    }
    host->machine = (uint32_t)place;
    if (place < merge->machine_count && host->seen)
        return 0; /* the pairs are of the merged file */
    if (place == merge->machine_count)
        merge->machines[merge->machine_count++] = wanted;
    return add_clocks(&merge->machines[place], file->file);
}

/* ---- Streams ---- */

static bool is_end(const struct events_mark_seen *mark) {
    return mark->mark.kind == EVENTS_MARK_START || mark->mark.kind == EVENTS_MARK_STOP;
}

/* All streams of a file, each once. */
static int list_streams(struct merge_file *file) {
    size_t count = file->file->run_count;
    for (size_t i = 0; i < file->file->mark_count; i++)
        count += is_end(&file->file->marks[i]) ? file->file->marks[i].mark.stream_count : 0;
    struct merge_stream *streams = calloc(count + 1, sizeof(*streams));
    if (!streams)
        return -ENOMEM;
    count = 0;
    for (size_t i = 0; i < file->file->run_count; i++)
        streams[count++].from = file->file->runs[i].buffer.stream;
    for (size_t i = 0; i < file->file->mark_count; i++)
        for (uint32_t j = 0; is_end(&file->file->marks[i]) && j < file->file->marks[i].mark.stream_count; j++)
            streams[count++].from = file->file->marks[i].streams[j].stream;
    qsort(streams, count, sizeof(*streams), stream_order);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || streams[i].from != streams[file->stream_count - 1].from)
            streams[file->stream_count++] = streams[i];
    file->streams = streams;
    return 0;
}

/* The streams of a host get consecutive numbers. */
static void number_streams(struct merge *merge) {
    uint32_t next = 0;
    for (size_t i = 0; i < merge->file_count; i++)
        for (size_t j = 0; j < merge->files[i].stream_count; j++) {
            struct merge_stream *stream = &merge->files[i].streams[j];
            const struct events_file *file = merge->files[i].file;
            const struct events_host_seen *host = events_host_of(file, stream->from);
            stream->host = (uint32_t)(merge->files[i].first_host + (host ? (size_t)(host - file->hosts) : 0));
            merge->hosts[stream->host].stream_count++;
        }
    for (size_t i = 0; i < merge->host_count; i++) {
        merge->hosts[i].first_stream = next;
        next += merge->hosts[i].stream_count;
        merge->hosts[i].stream_count = 0;
    }
    for (size_t i = 0; i < merge->file_count; i++)
        for (size_t j = 0; j < merge->files[i].stream_count; j++) {
            struct merge_host *host = &merge->hosts[merge->files[i].streams[j].host];
            merge->files[i].streams[j].to = host->first_stream + host->stream_count++;
        }
}

/* ---- Hosts, operations ---- */

static bool are_same_lists(const struct events_op *a, const struct events_op *b) {
    bool is_same = strcmp(a->name, b->name) == 0 && a->counts_bytes == b->counts_bytes &&
                   a->column_count == b->column_count && a->column_count_all == b->column_count_all &&
                   a->text_count == b->text_count;
    for (unsigned i = 0; is_same && i < a->column_count_all; i++)
        is_same = strcmp(a->columns[i], b->columns[i]) == 0;
    for (unsigned i = 0; is_same && i < a->text_count; i++)
        is_same = strcmp(a->texts[i], b->texts[i]) == 0;
    return is_same;
}

/* If two versions of osproffs record an op in different columns, the op has one number for each. */
static int number_ops(struct merge *merge, struct merge_file *file) {
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++) {
        unsigned number = 0;
        if (!file->file->ops[op].name)
            continue;
        while (number < merge->op_count && !are_same_lists(merge->ops[number], &file->file->ops[op]))
            number++;
        if (number == EVENTS_OPS_MAX)
            return -E2BIG;
        if (number == merge->op_count)
            merge->ops[merge->op_count++] = &file->file->ops[op];
        file->ops[op] = number;
    }
    return 0;
}

/* Adds a recording, and finds or adds its machine. */
static int add_host(struct merge *merge, const struct merge_file *file, const struct events_host_seen *seen) {
    if (merge->host_count == EVENTS_HOSTS_MAX)
        return -E2BIG;
    uint32_t number = (uint32_t)merge->host_count;
    uint64_t changed = number ^ (seen ? seen->head.number : 0U);
    struct merge_host *host = &merge->hosts[merge->host_count++];
    *host = (struct merge_host){
        .file = file->file,
        .seen = seen,
        .node_bits = changed << EVENTS_HOST_NODE_SHIFT,
        .thread_bits = (uint32_t)(changed << EVENTS_HOST_THREAD_SHIFT),
    };
    return find_machine(merge, file, host);
}

static int add_file(struct merge *merge, const struct events_file *events) {
    struct merge_file *file = &merge->files[merge->file_count++];
    *file = (struct merge_file){.file = events, .first_host = merge->host_count};
    if (events->clock_count == 0 || events->clock_hz == 0 || events->clock_hz > HZ_MAX)
        return -ENODATA;
    int err = events->host_count == 0 ? add_host(merge, file, NULL) : 0;
    for (size_t i = 0; err == 0 && i < events->host_count; i++)
        err = add_host(merge, file, &events->hosts[i]);
    if (err == 0)
        err = number_ops(merge, file);
    return err < 0 ? err : list_streams(file);
}

/* ---- Calls ---- */

/* State of a stream while its calls are written. */
struct written {
    uint64_t source_end;
    uint64_t end;
};

/* raw: the record that `event` was decoded from. latency_cycles: in cycles of the merged file */
static void write_record(struct merge *merge, const struct merge_file *file, const struct merge_host *host,
                         struct event *event, const unsigned char *raw, size_t raw_bytes) {
    static const char *const objects[] = {"entry", "parent", "out_node", "file", "out_file"}; /* columns */
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
    for (unsigned i = 0; i < columns; i++) {
        for (size_t j = 0; j < ARRAY_SIZE(objects); j++)
            if (strcmp(op->columns[i], objects[j]) == 0)
                event->columns[i] = merge_node(host, event->columns[i]);
        if (strcmp(op->columns[i], "process") == 0)
            event->columns[i] = merge_thread(host, (uint32_t)event->columns[i]);
    }
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

/* Calls are placed on the common time line. The start of a call is not before the end of the previous call, if that was
 * so in the recording. */
static int write_run(struct merge *merge, const struct merge_file *file, const struct events_run *run,
                     struct written *written) {
    const struct merge_stream *stream = merge_stream_find(file, run->buffer.stream);
    struct merge_host *host = &merge->hosts[stream->host];
    const long double ratio = (long double)merge->hz / (long double)host->file->clock_hz;
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
        uint64_t start = merge_time(merge, host, event.start_cycles);
        if (start < written->end && event.start_cycles >= written->source_end) {
            if (written->end - start > host->moved_cycles)
                host->moved_cycles = written->end - start;
            start = written->end;
        }
        written->source_end = event.end_cycles;
        event.start_cycles = start;
        if (ratio <= 0.999L || ratio >= 1.001L) {
            long double scaled = (long double)event.latency_cycles * ratio;
            event.latency_cycles = scaled > 1.8e19L ? UINT64_MAX : (uint64_t)(scaled + 0.5L);
        }
        written->end = start + event.latency_cycles;
        write_record(merge, file, host, &event, run->records + at, length);
        at += length;
        if (merge->writer.size_bytes > MERGE_CHUNK_BYTES)
            err = end_buffer(merge, &buffer);
    }
    return err == 0 && buffer.record_count > 0 ? end_buffer(merge, &buffer) : err;
}

static int write_runs(struct merge *merge, const struct merge_file *file) {
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

/* ---- The whole ---- */

int events_merge(const struct events_file *const *files, size_t file_count, events_merge_write_fn write, void *context,
                 size_t *ret_file) {
    struct merge merge = {.hz = files[0]->clock_hz, .write = write, .context = context};
    merge.files = calloc(file_count, sizeof(*merge.files));
    merge.hosts = calloc(EVENTS_HOSTS_MAX, sizeof(*merge.hosts));
    merge.machines = calloc(EVENTS_HOSTS_MAX, sizeof(*merge.machines));
    int err = merge.files && merge.hosts && merge.machines ? 0 : -ENOMEM;
    for (size_t i = 0; err == 0 && i < file_count; i++) {
        *ret_file = i;
        err = add_file(&merge, files[i]);
    }
    if (err == 0) {
        number_streams(&merge);
        err = merge_write_beginning(&merge);
    }
    for (size_t i = 0; err == 0 && i < file_count; i++)
        err = write_runs(&merge, &merge.files[i]);
    if (err == 0)
        err = merge_write_rest(&merge);
    for (size_t i = 0; i < merge.file_count; i++)
        free(merge.files[i].streams);
    for (size_t i = 0; i < merge.machine_count; i++)
        free(merge.machines[i].clock.clocks);
    free(merge.files);
    free(merge.hosts);
    free(merge.machines);
    events_writer_finish(&merge.writer);
    return err;
}

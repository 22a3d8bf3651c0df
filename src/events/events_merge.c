/* Merging recordings: lists them, finds recordings of the same machine, and numbers streams and operations. */
#include "events_merging.h"

#include <string.h>

#include "base.h"
#include "events_merge_private.h"

#define HZ_MAX 9000000000U      /* cycles since 1970 fit in 64 bits */
#define PAIRS_APART_NS 10000000 /* nearer pairs of a clock would show their own errors rather than its rate */

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

static bool is_on_machine(const struct merge_machine *machine, const struct merge_machine *wanted) {
    if (wanted->merged_file)
        return machine->merged_file == wanted->merged_file && machine->merged_machine == wanted->merged_machine;
    return !machine->merged_file && machine->boot && wanted->boot && strcmp(machine->boot, wanted->boot) == 0;
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
    while (place < merge->machine_count && !is_on_machine(&merge->machines[place], &wanted))
        place++;
    host->machine = (uint32_t)place;
    if (place < merge->machine_count && host->seen)
        return 0; /* the pairs are of the merged file */
    if (place == merge->machine_count)
        merge->machines[merge->machine_count++] = wanted;
    return add_clocks(&merge->machines[place], file->file);
}

/* ---- Streams ---- */

static size_t host_of_stream(const struct merge_file *file, uint32_t stream) {
    const struct events_host_seen *host = events_host_of(file->file, stream);
    return file->first_host + (host ? (size_t)(host - file->file->hosts) : 0);
}

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
    qsort(streams, count, sizeof(*streams), merge_stream_order);
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
            stream->host = (uint32_t)host_of_stream(&merge->files[i], stream->from);
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

/* ---- The whole ---- */

static int write_all_parts(struct merge *merge) {
    int err = merge_write_description(merge);
    if (err == 0)
        err = merge_write_marks(merge, false);
    for (size_t i = 0; err == 0 && i < merge->file_count; i++)
        err = merge_write_runs(merge, &merge->files[i]);
    for (size_t i = 0; err == 0 && i < merge->file_count; i++)
        err = merge_write_strings(merge, &merge->files[i]);
    if (err == 0)
        err = merge_write_hosts(merge);
    if (err == 0)
        err = merge_write_clocks(merge);
    return err < 0 ? err : merge_write_marks(merge, true);
}

static void finish(struct merge *merge) {
    for (size_t i = 0; i < merge->file_count; i++)
        free(merge->files[i].streams);
    for (size_t i = 0; i < merge->machine_count; i++)
        free(merge->machines[i].clock.clocks);
    free(merge->files);
    free(merge->hosts);
    free(merge->machines);
    events_writer_finish(&merge->writer);
}

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
        err = write_all_parts(&merge);
    }
    finish(&merge);
    return err;
}

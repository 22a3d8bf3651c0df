/* Writes the parts of a merged file. */
#include <string.h>
#include <sys/timex.h>

#include "base.h"
#include "events_merge_private.h"

/* ---- Descriptions ---- */

static const char *clock_of(const struct events_file *file) {
    return file->clock_kind ? file->clock_kind : "?";
}

static bool has_label(const struct events_file *file, const struct events_label *label) {
    for (size_t i = 0; i < file->label_count; i++)
        if (strcmp(file->labels[i].key, label->key) == 0 && strcmp(file->labels[i].value, label->value) == 0)
            return true;
    return false;
}

static void write_common_labels(struct merge *merge) {
    const struct events_file *first = merge->files[0].file;
    for (size_t i = 0; i < first->label_count; i++) {
        bool is_common = true;
        for (size_t j = 1; is_common && j < merge->file_count; j++)
            is_common = has_label(merge->files[j].file, &first->labels[i]);
        if (is_common)
            events_write_label(&merge->writer, first->labels[i].key, first->labels[i].value);
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

static void write_op(struct events_writer *writer, unsigned number, const struct events_op *op) {
    char head[32];
    events_chunk_add(writer, head, (size_t)snprintf(head, sizeof(head), "op %u ", number));
    events_write_text(writer, op->name);
    events_write_text(writer, op->counts_bytes ? " bytes|" : "|");
    write_words(writer, op->columns, 0, op->column_count, "|");
    write_words(writer, op->columns, op->column_count, op->column_count_all, "|");
    write_words(writer, op->texts, 0, op->text_count, "\n");
}

/* The names of all hosts. */
static void write_hosts_line(struct merge *merge) {
    for (size_t i = 0; i < merge->host_count; i++) {
        const struct merge_host *host = &merge->hosts[i];
        const char *name = host->seen ? host->seen->name : host->file->host;
        events_write_text(&merge->writer, i > 0 ? ", " : "host ");
        events_write_text(&merge->writer, name ? name : "?");
    }
    events_chunk_add(&merge->writer, "\n", 1);
}

static unsigned coarsest(const struct merge *merge) {
    unsigned resolution = merge->files[0].file->resolution;
    for (size_t i = 1; i < merge->file_count; i++)
        if (merge->files[i].file->resolution < resolution)
            resolution = merge->files[i].file->resolution;
    return resolution;
}

int merge_write_description(struct merge *merge) {
    const struct events_file *first = merge->files[0].file;
    uint32_t flags = 0;
    for (size_t i = 0; i < merge->file_count; i++)
        flags |= merge->files[i].file->flags;
    events_write_start(&merge->writer, flags);
    events_chunk_begin(&merge->writer, EVENTS_DESCRIPTION, NULL, 0);
    write_hosts_line(merge);
    if (first->version)
        events_write_line(&merge->writer, "osproffs", first->version);
    events_write_clock(&merge->writer, clock_of(first), merge->hz);
    events_write_number(&merge->writer, "resolution", coarsest(merge));
    write_common_labels(merge);
    for (unsigned op = 0; op < merge->op_count; op++)
        write_op(&merge->writer, op, merge->ops[op]);
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
    events_write_clock(writer, clock_of(file), file->clock_hz);
    events_write_number(writer, "resolution", file->resolution);
    for (size_t i = 0; i < file->label_count; i++)
        events_write_label(writer, file->labels[i].key, file->labels[i].value);
}

static bool is_open(const struct merge_host *host) {
    return host->seen ? host->seen->head.flags & EVENTS_HOST_OPEN : host->file->losses.is_open;
}

int merge_write_hosts(struct merge *merge) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < merge->host_count; i++) {
        const struct merge_host *host = &merge->hosts[i];
        const struct events_host head = {
            .number = (uint32_t)i,
            .machine = host->machine,
            .first_stream = host->first_stream,
            .stream_count = host->stream_count,
            .error_ns = merge_error_ns(merge, host),
            .flags = is_open(host) ? EVENTS_HOST_OPEN : 0,
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

int merge_write_clocks(struct merge *merge) {
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

int merge_write_strings(struct merge *merge, const struct merge_file *file) {
    int err = 0;
    for (size_t i = 0; err == 0 && i < file->file->string_count;) {
        events_chunk_begin(&merge->writer, EVENTS_STRINGS, NULL, 0);
        while (i < file->file->string_count && merge->writer.size_bytes < MERGE_CHUNK_BYTES)
            write_string(merge, file, &file->file->strings[i++]);
        err = merge_chunk_end(merge);
    }
    return err;
}

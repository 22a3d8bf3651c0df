/* Reads the chunks of an events file one after the other, until one is not complete. Then counts what is missing: gaps in
 * the numbers of calls, and records that cannot be read. */
#include <string.h>

#include "base.h"
#include "events_private.h"

/* A complete chunk. */
struct chunk {
    struct events_chunk head;
    const unsigned char *inside; /* after the head */
    size_t inside_bytes;
};

/* ---- Kinds of chunks ---- */

/* Copies the head struct of the chunk, as much of it as both versions know. Returns the address behind it. */
static const unsigned char *take_head(const struct chunk *chunk, void *ret_head, size_t head_bytes,
                                      size_t *ret_rest_bytes) {
    if (chunk->head.head_bytes < head_bytes || chunk->head.head_bytes > chunk->inside_bytes)
        return NULL;
    memcpy(ret_head, chunk->inside, head_bytes);
    *ret_rest_bytes = chunk->inside_bytes - chunk->head.head_bytes;
    return chunk->inside + chunk->head.head_bytes;
}

static int take_description(struct events_file *file, const struct chunk *chunk) {
    CLEANUP_FREE char *text = strndup((const char *)chunk->inside, chunk->inside_bytes);
    char *rest = text;
    int err = text ? 0 : -ENOMEM;
    while (err == 0 && rest)
        err = events_describe(file, strsep(&rest, "\n"));
    return err;
}

static int take_clock(struct events_file *file, const struct chunk *chunk) {
    size_t rest_bytes;
    int err = grow_array(&file->clocks, file->clock_count, sizeof(*file->clocks));
    if (err == 0 && !take_head(chunk, &file->clocks[file->clock_count], sizeof(*file->clocks), &rest_bytes))
        return -EBADMSG;
    file->clock_count += err == 0;
    return err;
}

static int take_failure(struct events_file *file, const struct chunk *chunk) {
    size_t rest_bytes;
    int err = grow_array(&file->failures, file->failure_count, sizeof(*file->failures));
    if (err == 0 && !take_head(chunk, &file->failures[file->failure_count], sizeof(*file->failures), &rest_bytes))
        return -EBADMSG;
    file->failure_count += err == 0;
    return err;
}

static int take_buffer(struct events_file *file, const struct chunk *chunk) {
    struct events_run run = {.sequence = chunk->head.sequence};
    run.records = take_head(chunk, &run.buffer, sizeof(run.buffer), &run.records_bytes);
    if (!run.records || run.buffer.first_index > UINT64_MAX - run.buffer.record_count)
        return -EBADMSG;
    int err = grow_array(&file->runs, file->run_count, sizeof(*file->runs));
    if (err == 0)
        file->runs[file->run_count++] = run;
    return err;
}

static int take_mark(struct events_file *file, const struct chunk *chunk) {
    struct events_mark_seen seen = {.sequence = chunk->head.sequence};
    size_t rest_bytes;
    const unsigned char *streams = take_head(chunk, &seen.mark, sizeof(seen.mark), &rest_bytes);
    size_t streams_bytes = (size_t)seen.mark.stream_count * sizeof(struct events_mark_stream);
    if (!streams || streams_bytes > rest_bytes)
        return -EBADMSG;
    struct events_mark_stream *copy = malloc(streams_bytes + 1);
    if (!copy || grow_array(&file->marks, file->mark_count, sizeof(*file->marks)) < 0) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, streams, streams_bytes);
    events_mark_sort(copy, seen.mark.stream_count);
    seen.streams = copy;
    file->marks[file->mark_count++] = seen;
    return 0;
}

/* The name in the first line "host NAME"; NULL: there is no such line. */
static const char *find_host_line(const char *description) {
    static const char word[] = "host ";
    for (const char *line = description; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    }
    return NULL;
}

static int take_host(struct events_file *file, const struct chunk *chunk) {
    struct events_host_seen seen = {0};
    size_t rest_bytes;
    const unsigned char *text = take_head(chunk, &seen.head, sizeof(seen.head), &rest_bytes);
    if (!text || seen.head.number >= EVENTS_HOSTS_MAX)
        return -EBADMSG;
    if (grow_array(&file->hosts, file->host_count, sizeof(*file->hosts)) < 0)
        return -ENOMEM;
    seen.description = strndup((const char *)text, rest_bytes);
    /* Escapes in the name are left as they are: they are rare, and the name is only shown. */
    const char *line = seen.description ? find_host_line(seen.description) : NULL;
    if (line)
        seen.name = strndup(line, strcspn(line, "\n"));
    file->hosts[file->host_count++] = seen;
    return !seen.description || (line && !seen.name) ? -ENOMEM : 0;
}

static int take_strings(struct events_file *file, const struct chunk *chunk) {
    const unsigned char *at = chunk->inside;
    const unsigned char *end = at + chunk->inside_bytes;
    int err = 0;
    while (err == 0 && at < end) {
        struct events_string_seen string = {.sequence = chunk->head.sequence};
        if ((size_t)(end - at) < sizeof(string.head))
            return -EBADMSG;
        memcpy(&string.head, at, sizeof(string.head));
        at += sizeof(string.head);
        size_t padded_bytes = ((size_t)string.head.length_bytes + 7) / 8 * 8;
        if ((size_t)(end - at) < padded_bytes)
            return -EBADMSG;
        string.bytes = (const char *)at;
        string.length = strnlen(string.bytes, string.head.length_bytes);
        at += padded_bytes;
        err = grow_array(&file->strings, file->string_count, sizeof(*file->strings));
        if (err == 0)
            file->strings[file->string_count++] = string;
    }
    return err;
}

/* Unknown chunks, and chunks that are broken inside, are skipped and counted. */
static int take_chunk(struct events_file *file, const struct chunk *chunk) {
    static int (*const kinds[])(struct events_file * file, const struct chunk *chunk) = {
        [EVENTS_DESCRIPTION] = take_description, [EVENTS_CLOCK] = take_clock,
        [EVENTS_BUFFER] = take_buffer,           [EVENTS_MARK] = take_mark,
        [EVENTS_STRINGS] = take_strings,         [EVENTS_HOST] = take_host,
        [EVENTS_FAILURE] = take_failure,
    };
    unsigned kind = chunk->head.kind;
    int err = kind < ARRAY_SIZE(kinds) && kinds[kind] ? kinds[kind](file, chunk) : -EBADMSG;
    if (err == -EBADMSG)
        file->losses.skipped++;
    return err == -EBADMSG ? 0 : err;
}

/* ---- Chunks ---- */

/* Returns its length; 0: it is not complete. */
static size_t find_chunk(const unsigned char *at, size_t size_bytes, struct chunk *ret_chunk) {
    struct events_chunk head;
    if (size_bytes < sizeof(head))
        return 0;
    memcpy(&head, at, sizeof(head));
    if (head.magic != EVENTS_CHUNK_MAGIC || head.size_bytes < sizeof(head) || head.size_bytes > size_bytes ||
        head.size_bytes > EVENTS_CHUNK_MAX || head.size_bytes % 8 != 0)
        return 0;
    ret_chunk->head = head;
    ret_chunk->inside = at + sizeof(head);
    ret_chunk->inside_bytes = head.size_bytes - sizeof(head);
    head.checksum = 0;
    struct events_sum sum = events_sum_add((struct events_sum){0}, &head, sizeof(head));
    sum = events_sum_add(sum, ret_chunk->inside, ret_chunk->inside_bytes);
    return events_checksum(sum) == ret_chunk->head.checksum ? head.size_bytes : 0;
}

static int take_chunks(struct events_file *file, const unsigned char *at, size_t size_bytes) {
    struct chunk chunk;
    size_t length_bytes;
    uint64_t count = 0;
    uint64_t last_sequence = 0;
    int err = 0;
    while (err == 0 && (length_bytes = find_chunk(at, size_bytes, &chunk)) > 0) {
        err = take_chunk(file, &chunk);
        count++;
        if (chunk.head.sequence > last_sequence)
            last_sequence = chunk.head.sequence;
        at += length_bytes;
        size_bytes -= length_bytes;
    }
    file->losses.cut_bytes = size_bytes;
    /* A ring has overwritten its older chunks. */
    if (!(file->flags & EVENTS_RING) && count > 0 && last_sequence > count - 1)
        file->losses.lost = last_sequence - (count - 1);
    return err;
}

/* ---- Sorting ---- */

static int compare(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

EVENTS_ORDER(by_sequence, struct events_mark_seen, sequence)
EVENTS_ORDER(by_number, struct events_host_seen, head.number)
EVENTS_ORDER(by_error, struct events_failure, error)

static int by_place(const void *a, const void *b) {
    const struct events_run *one = a;
    const struct events_run *other = b;
    int order = compare(one->buffer.stream, other->buffer.stream);
    if (order == 0)
        order = compare(one->buffer.first_index, other->buffer.first_index);
    return order ? order : compare(one->sequence, other->sequence);
}

static int by_key(const void *a, const void *b) {
    const struct events_string_seen *one = a;
    const struct events_string_seen *other = b;
    int order = compare(one->head.kind, other->head.kind);
    if (order == 0)
        order = compare(one->head.key, other->head.key);
    if (order == 0)
        order = compare(one->sequence, other->sequence);
    return order ? order : compare((uintptr_t)one->bytes, (uintptr_t)other->bytes); /* both are in one chunk */
}

static void sort(void *array, size_t count, size_t member_bytes, int (*order)(const void *, const void *)) {
    if (count > 1)
        qsort(array, count, member_bytes, order);
}

static void join_failures(struct events_file *file) {
    size_t kept = 0;
    for (size_t i = 0; i < file->failure_count; i++) {
        const struct events_failure *failure = &file->failures[i];
        struct events_failure *before = kept > 0 ? &file->failures[kept - 1] : NULL;
        if (!before || before->error != failure->error) {
            file->failures[kept++] = *failure;
            continue;
        }
        if (__builtin_add_overflow(before->dropped, failure->dropped, &before->dropped))
            before->dropped = UINT64_MAX;
        if (failure->first_cycles < before->first_cycles)
            before->first_cycles = failure->first_cycles;
        if (failure->last_cycles > before->last_cycles)
            before->last_cycles = failure->last_cycles;
    }
    file->failure_count = kept;
}

/* ---- Losses ---- */

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

/* Where a stream begins in this file: as the first mark says, else the stream is new. */
static struct reached begin(const struct events_mark_seen *start, uint32_t stream) {
    const struct events_mark_stream *began = events_mark_find(start, stream);
    return began ? (struct reached){began->index, began->dropped} : (struct reached){0};
}

static void count_in_stream(struct events_file *file, const struct ends *ends, size_t run, size_t run_end) {
    const struct events_buffer *first = &file->runs[run].buffer;
    struct reached reached =
        ends->start ? begin(ends->start, first->stream) : (struct reached){first->first_index, first->dropped};
    struct event event;
    uint64_t ended_cycles = 0; /* when the last call ended */
    for (size_t i = run; i < run_end; i++) {
        const struct events_buffer *buffer = &file->runs[i].buffer;
        account(&file->losses, &reached, buffer->first_index, buffer->dropped);
        uint64_t end_index = buffer->first_index + buffer->record_count;
        if (end_index > reached.index)
            reached.index = end_index;
        size_t read_bytes = 0;
        uint32_t count = 0;
        for (; count < buffer->record_count; count++) {
            size_t length_bytes = events_decode(file, file->runs[i].records + read_bytes,
                                                file->runs[i].records_bytes - read_bytes, &event);
            if (length_bytes == 0)
                break;
            file->losses.disordered += event.start_cycles < ended_cycles;
            file->losses.outside += events_is_outside(file, &event);
            ended_cycles = event.end_cycles;
            read_bytes += length_bytes;
        }
        file->losses.unreadable += buffer->record_count - count;
    }
    const struct events_mark_stream *ended = ends->stop ? events_mark_find(ends->stop, first->stream) : NULL;
    if (ended)
        account(&file->losses, &reached, ended->index, ended->dropped);
}

static int compare_stream(const void *stream, const void *run) {
    uint32_t wanted = *(const uint32_t *)stream;
    uint32_t found = ((const struct events_run *)run)->buffer.stream;
    return (wanted > found) - (wanted < found);
}

static void count_losses(struct events_file *file) {
    struct ends ends = {.start = events_mark_of_kind(file, EVENTS_MARK_START)};
    for (size_t i = 0; i < file->mark_count; i++) { /* the last mark that has the numbers of all streams */
        uint32_t kind = file->marks[i].mark.kind;
        if (kind == EVENTS_MARK_STOP || kind == EVENTS_MARK_WRITTEN || kind == EVENTS_MARK_SLOW)
            ends.stop = &file->marks[i];
    }
    size_t end;
    for (size_t run = 0; run < file->run_count; run = end) {
        end = events_stream_end(file, run);
        count_in_stream(file, &ends, run, end);
    }
    for (uint32_t i = 0; ends.start && ends.stop && i < ends.stop->mark.stream_count; i++) {
        const struct events_mark_stream *ended = &ends.stop->streams[i];
        struct reached reached = begin(ends.start, ended->stream);
        if (file->run_count == 0 ||
            !bsearch(&ended->stream, file->runs, file->run_count, sizeof(*file->runs), compare_stream))
            account(&file->losses, &reached, ended->index, ended->dropped); /* the stream has no call in the file */
    }
    file->losses.is_open = !ends.stop;
    for (size_t i = 0; i < file->host_count; i++)
        if (file->hosts[i].head.flags & EVENTS_HOST_OPEN)
            file->losses.is_open = true;
}

/* ---- The interface ---- */

static int check_start(const struct events_start *start, size_t size_bytes, char ret_complaint[EVENTS_COMPLAINT_SIZE]) {
    if (size_bytes < sizeof(*start) || memcmp(start->magic, EVENTS_MAGIC, sizeof(start->magic)) != 0) {
        snprintf(ret_complaint, EVENTS_COMPLAINT_SIZE, "no events file of osproffs");
        return -EBADMSG;
    }
    if (start->byte_order != EVENTS_BYTE_ORDER) {
        snprintf(ret_complaint, EVENTS_COMPLAINT_SIZE, "recorded by a machine of the other byte order; read it there");
        return -EPROTO;
    }
    if (start->major != EVENTS_MAJOR) {
        snprintf(ret_complaint, EVENTS_COMPLAINT_SIZE, "of version %u of the format; this program reads version %u",
                 start->major, EVENTS_MAJOR);
        return -EPROTO;
    }
    if (start->start_bytes < sizeof(*start) || start->start_bytes > size_bytes || start->start_bytes % 8 != 0) {
        snprintf(ret_complaint, EVENTS_COMPLAINT_SIZE, "its first %zu bytes are broken", sizeof(*start));
        return -EBADMSG;
    }
    return 0;
}

int events_open(const void *data, size_t size_bytes, struct events_file **ret_file,
                char ret_complaint[EVENTS_COMPLAINT_SIZE]) {
    struct events_start start = {0};
    if (size_bytes >= sizeof(start))
        memcpy(&start, data, sizeof(start));
    int err = check_start(&start, size_bytes, ret_complaint);
    if (err < 0)
        return err;
    struct events_file *file = calloc(1, sizeof(*file));
    if (file) {
        file->flags = start.flags;
        file->resolution = 1;
        file->losses.is_newer = start.minor > EVENTS_MINOR;
    }
    err = file ? take_chunks(file, (const unsigned char *)data + start.start_bytes, size_bytes - start.start_bytes)
               : -ENOMEM;
    if (err < 0) {
        snprintf(ret_complaint, EVENTS_COMPLAINT_SIZE, "%s", strerror(-err));
        events_close(file);
        return err;
    }
    sort(file->clocks, file->clock_count, sizeof(*file->clocks), events_clock_order);
    sort(file->marks, file->mark_count, sizeof(*file->marks), by_sequence);
    sort(file->runs, file->run_count, sizeof(*file->runs), by_place);
    sort(file->strings, file->string_count, sizeof(*file->strings), by_key);
    sort(file->failures, file->failure_count, sizeof(*file->failures), by_error);
    join_failures(file);
    sort(file->hosts, file->host_count, sizeof(*file->hosts), by_number);
    events_find_span(file);
    count_losses(file);
    *ret_file = file;
    return 0;
}

void events_close(struct events_file *file) {
    if (!file)
        return;
    for (size_t i = 0; i < file->mark_count; i++)
        free((void *)(uintptr_t)file->marks[i].streams);
    free(file->marks);
    free(file->clocks);
    free(file->runs);
    free(file->strings);
    free(file->links);
    free(file->failures);
    for (size_t i = 0; i < file->host_count; i++) {
        free(file->hosts[i].name);
        free(file->hosts[i].description);
    }
    free(file->hosts);
    events_description_free(file);
    free(file);
}

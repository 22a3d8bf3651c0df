/* Reading live files, of processes that run, hang or have died. The file is read with pread() only: mapping it would
 * turn a file cut short into SIGBUS. All data of the file is checked before use. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base.h"
#include "clock_pair.h"
#include "profile_owned.h"
#include "shared_part.h"
#include "snapshot.h"
#include "text_format.h"

#define WINDOW_ATTEMPTS_MAX 1000
#define SLOW_ATTEMPTS_MAX 10

struct reader {
    int fd;
    uint64_t file_bytes;
    struct live_header header;
    struct layout layout;
    struct live_offsets offsets;
    struct shared_part shared; /* of a shared file, like the next */
    struct shared_numbers numbers;
    char (*op_names)[AGGSTATS_NAME_SIZE];
    struct aggstats_label *labels;
    size_t label_count;
    struct window *window;
    struct slow_store slow;
    struct live_looks looks;
    struct tally tally;
    bool is_recording;
    struct aggstats_parse_error *error;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *reader, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    reader->error->line = 0;
    vsnprintf(reader->error->message, sizeof(reader->error->message), format, arguments);
    va_end(arguments);
    return -EBADMSG;
}

/* ---- Pieces of the file ---- */

/* err: of one of the functions that read without a message. */
static int explain(struct reader *reader, int err, uint64_t offset) {
    return err == -EBADMSG ? fail(reader, "live file is cut short behind byte %llu", (unsigned long long)offset) : err;
}

static int read_at(struct reader *reader, void *to, size_t size_bytes, uint64_t offset) {
    return explain(reader, read_whole_at(reader->fd, to, size_bytes, offset), offset);
}

/* The same into new memory, aligned for any of our structures, with a NUL behind it. */
static int read_new(struct reader *reader, size_t size_bytes, uint64_t offset, void *ret_pointer) {
    CLEANUP_FREE char *memory = aligned_alloc(CACHE_LINE_BYTES, round_up(size_bytes + 1, CACHE_LINE_BYTES));
    if (!memory)
        return -ENOMEM;
    memory[size_bytes] = '\0';
    int err = read_at(reader, memory, size_bytes, offset);
    if (err == 0)
        *(void **)ret_pointer = steal_pointer(&memory);
    return err;
}

/* ---- Header ---- */

static int check_header(struct reader *reader) {
    const struct live_header *header = &reader->header;
    if (memcmp(header->magic, LIVE_MAGIC, sizeof(header->magic)) != 0)
        return fail(reader, "not a live file");
    if (header->byte_order != LIVE_BYTE_ORDER)
        return fail(reader, "live file of a machine with another byte order");
    if (header->version != AGGSTATS_LIVE_VERSION)
        return fail(reader, "live file has version %u, expected %d: use the osprof that came with what wrote it",
                    header->version, AGGSTATS_LIVE_VERSION);
    if (!aggstats_clock_name(header->clock_kind))
        return fail(reader, "live file names an unknown clock (%u)", header->clock_kind);
    if (!aggstats_resolution_valid(header->resolution))
        return fail(reader, "live file has resolution %u, expected 1, 2, 4 or 8", header->resolution);
    if (header->op_count == 0 || header->op_count > AGGSTATS_OPS_MAX)
        return fail(reader, "live file has %u operations, expected 1 to %d", header->op_count, AGGSTATS_OPS_MAX);
    if (header->labels_bytes > LIVE_LABELS_BYTES_MAX || header->label_count > header->labels_bytes)
        return fail(reader, "live file has labels of impossible size");
    return 0;
}

static int check_sizes(struct reader *reader) {
    const struct live_header *header = &reader->header;
    const struct layout *layout = &reader->layout;
    if (header->header_bytes < reader->offsets.end || header->header_bytes > reader->file_bytes)
        return fail(reader, "live file is cut short, or its header's size is wrong");
    if (layout->is_shared && !shared_layout_is_possible(header, layout, reader->file_bytes))
        return fail(reader, "live file has impossible sizes");
    if (header->block_stride_bytes < layout_block_bytes(layout))
        return fail(reader, "live file has blocks of impossible size");
    uint64_t room = (reader->file_bytes - header->header_bytes) / header->block_stride_bytes;
    if (header->block_count > room || header->block_count > LIVE_BLOCKS_MAX)
        return fail(reader, "live file has room for %llu blocks, its header says %llu", (unsigned long long)room,
                    (unsigned long long)header->block_count);
    return 0;
}

static int read_header(struct reader *reader) {
    struct stat status;
    /* the header first: a file that grows meanwhile is then large enough for what the header says */
    ssize_t read_bytes = pread(reader->fd, &reader->header, sizeof(reader->header), 0);
    if (read_bytes < 0 && errno != ESPIPE)
        return negative_errno();
    if (read_bytes < (ssize_t)sizeof(reader->header))
        return fail(reader, "not a live file");
    if (fstat(reader->fd, &status) < 0)
        return negative_errno();
    reader->file_bytes = (uint64_t)status.st_size;
    int err = check_header(reader);
    if (err < 0)
        return err;
    reader->layout = layout_make(reader->header.op_count, reader->header.resolution);
    reader->layout.is_shared = reader->header.shared_threads > 0;
    reader->offsets = live_offsets_make(&reader->layout, reader->header.labels_bytes);
    return check_sizes(reader);
}

static int read_names(struct reader *reader) {
    int err = read_new(reader, reader->layout.op_count * (size_t)AGGSTATS_NAME_SIZE, reader->offsets.names,
                       &reader->op_names);
    for (unsigned op = 0; err == 0 && op < reader->layout.op_count; op++) {
        if (!text_name_valid(reader->op_names[op]))
            err = fail(reader, "live file has a broken name of operation %u", op);
        for (unsigned other = 0; err == 0 && other < op; other++)
            if (strcmp(reader->op_names[op], reader->op_names[other]) == 0)
                err = fail(reader, "live file names operations %u and %u alike", other, op);
    }
    return err;
}

/* The string at *cursor, which moves behind it; NULL if there is none before end. */
static const char *next_string(const char **cursor, const char *end) {
    const char *string = *cursor;
    if (string == end)
        return NULL;
    *cursor += strnlen(string, (size_t)(end - string));
    if (*cursor == end)
        return NULL;
    (*cursor)++;
    return string;
}

static int read_labels(struct reader *reader) {
    CLEANUP_FREE char *text = NULL;
    int err = read_new(reader, reader->header.labels_bytes, reader->offsets.labels, &text);
    if (err < 0)
        return err;
    reader->labels = calloc(reader->header.label_count + 1, sizeof(*reader->labels));
    if (!reader->labels)
        return -ENOMEM;
    const char *cursor = text;
    const char *end = text + reader->header.labels_bytes;
    while (reader->label_count < reader->header.label_count) {
        const char *key = next_string(&cursor, end);
        const char *value = key ? next_string(&cursor, end) : NULL;
        const struct aggstats_label seen = {.key = (char *)(uintptr_t)key, .value = (char *)(uintptr_t)value};
        if (!value || !text_label_valid(&seen))
            return fail(reader, "live file has a broken label (number %zu)", reader->label_count + 1);
        struct aggstats_label *label = &reader->labels[reader->label_count++];
        *label = (struct aggstats_label){.key = strdup(key), .value = strdup(value)};
        if (!label->key || !label->value)
            return -ENOMEM;
    }
    return 0;
}

/* ---- What changes while the process records ---- */

static int read_sequence(struct reader *reader, uint64_t *ret_sequence) {
    return read_at(reader, ret_sequence, sizeof(*ret_sequence), offsetof(struct live_header, window_sequence));
}

/* Reads the first bytes of the valid window; again if it was replaced meanwhile. */
static int read_window(struct reader *reader, size_t size_bytes) {
    uint64_t sequence;
    int err = read_sequence(reader, &sequence);
    for (int attempt = 0; err == 0 && attempt < WINDOW_ATTEMPTS_MAX; attempt++) {
        uint64_t before = sequence;
        free(steal_pointer(&reader->window));
        err = read_new(reader, size_bytes, reader->offsets.windows[before % 2], &reader->window);
        if (err == 0)
            err = read_sequence(reader, &sequence);
        if (err < 0 || sequence == before)
            return err;
    }
    return err < 0 ? err : -EAGAIN;
}

/* Blocks are checked as they are added up; frozen counts are shown as they are. */
static int check_window(struct reader *reader) {
    const struct layout *layout = &reader->layout;
    for (unsigned op = 0; op < layout->op_count; op++) {
        const struct aggstats_counters *frozen =
            layout_counters_const(layout, window_frozen(reader->window, layout), op);
        uint64_t finished = 0;
        for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
            if (__builtin_add_overflow(finished, frozen->buckets[bucket], &finished))
                return fail(reader, "live file has impossible counts of operation %u", op);
    }
    return 0;
}

static int read_own_blocks(struct reader *reader) {
    const struct live_header *header = &reader->header;
    struct block_reader blocks;
    int err = block_reader_init(&blocks, reader->fd, &reader->layout, header->header_bytes, header->block_stride_bytes);
    for (uint64_t number = 0; number < header->block_count && err >= 0; number++) {
        struct aggstats_block *block;
        err = block_reader_read(&blocks, number, &block);
        if (err == 0)
            err = tally_add_block(&reader->tally, block);
        if (err == -EBADMSG)
            err = fail(reader, "live file has impossible counts in block %llu", (unsigned long long)number);
        else if (err == 0)
            err = tally_add_call(&reader->tally, block);
    }
    block_reader_finish(&blocks);
    return err < 0 ? err : 0;
}

/* While the file's maker records, threads that have ended in a call make none. */
static int read_shared_blocks(struct reader *reader) {
    uint64_t broken = 0;
    reader->shared = shared_part_of(&reader->header, &reader->layout, reader->fd);
    if (!reader->is_recording)
        reader->shared.namespace = 0;
    int err = shared_part_read_numbers(&reader->shared, &reader->numbers);
    if (err == 0)
        err = shared_part_tally(&reader->shared, false, &reader->tally, &broken);
    if (broken > 0)
        return fail(reader, "live file has impossible counts in %llu blocks", (unsigned long long)broken);
    return explain(reader, err, reader->header.shared_offset);
}

/* Reads blocks after the window. Longest calls that were moved from one to the other meanwhile are unknown. */
static int read_blocks(struct reader *reader, uint64_t changes_before_window) {
    const struct layout *layout = &reader->layout;
    uint64_t changes = 0;
    int err = tally_init(&reader->tally, layout);
    if (err == 0)
        err = layout->is_shared ? read_shared_blocks(reader) : read_own_blocks(reader);
    if (err == 0)
        err = read_at(reader, &changes, sizeof(changes), offsetof(struct live_header, longest_changes));
    if (err < 0 || (changes == changes_before_window && changes % 2 == 0))
        return err;
    memset(reader->window->tables + 2 * layout_table_bytes(layout), 0, 2 * sizeof(struct longest) * layout->op_count);
    for (unsigned op = 0; op < layout->op_count; op++)
        longest_put(layout_counters(layout, reader->tally.table, op), layout->resolution, (struct longest){0});
    return 0;
}

/* If the process has died during a change, the store may be half changed. */
static int read_slow(struct reader *reader) {
    uint64_t before = 0;
    int err = 0;
    for (int attempt = 0; attempt < SLOW_ATTEMPTS_MAX && err == 0; attempt++) {
        err = read_at(reader, &before, sizeof(before), reader->offsets.slow);
        if (err == 0)
            err = read_at(reader, &reader->slow, sizeof(reader->slow), reader->offsets.slow);
        uint64_t after = 0;
        if (err == 0)
            err = read_at(reader, &after, sizeof(after), reader->offsets.slow);
        if (err == 0 && before == after && before % 2 == 0)
            break;
    }
    return err;
}

/* A recorder holds an exclusive lock for as long as it exists. */
static bool has_recorder(int fd) {
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The time to which elapsed time and ages are counted: now; for a process that has died, the last moment at which it is
 * known to have lived: its last call's beginning, its last snapshot or its orderly end. */
static uint64_t end_cycles(const struct reader *reader) {
    if (reader->is_recording && clock_readable(reader->header.clock_kind))
        return aggstats_clock_now(reader->header.clock_kind);
    return larger(reader->tally.last_start_cycles, larger(reader->header.seen_cycles, reader->window->start_cycles));
}

/* ---- The whole ---- */

static int read_everything(struct reader *reader) {
    int err = read_header(reader);
    if (err == 0)
        err = read_names(reader);
    if (err == 0)
        err = read_labels(reader);
    const struct live_header before = reader->header;
    if (err == 0)
        err = read_window(reader, window_bytes(&reader->layout));
    if (err == 0)
        err = check_window(reader);
    if (err == 0)
        err = read_slow(reader);
    if (err == 0)
        err = read_at(reader, &reader->looks, sizeof(reader->looks), reader->offsets.looks);
    if (err == 0) /* after the looks of each op: those of the whole are not fewer; and after the window */
        err = read_header(reader);
    if (err == 0 && memcmp(&before, &reader->header, offsetof(struct live_header, frequency_hz)) != 0)
        err = fail(reader, "live file was overwritten while being read");
    if (err == 0)
        err = read_blocks(reader, before.longest_changes);
    return err;
}

static int make_profile(struct reader *reader, struct aggstats_profile *ret_profile) {
    const struct snapshot_source source = {
        .op_names = (const char(*)[AGGSTATS_NAME_SIZE])reader->op_names,
        .window = reader->window,
        .tally = &reader->tally,
        .now_cycles = end_cycles(reader),
        .clock = {.kind = reader->header.clock_kind, .frequency_hz = reader->header.frequency_hz},
        .labels = reader->labels,
        .label_count = reader->label_count,
        .incomplete = reader->header.incomplete != 0 || reader->header.lost > 0 || reader->numbers.is_incomplete,
        .header = &reader->header,
        .slow = &reader->slow,
        .looks = &reader->looks,
    };
    int err = snapshot_make(&source, ret_profile);
    if (err == -EBADMSG && reader->slow.sequence % 2 != 0) { /* killed during a change: all else is whole */
        reader->slow = (struct slow_store){.sequence = 0};
        err = snapshot_make(&source, ret_profile);
    }
    if (err == 0 && reader->layout.is_shared && !reader->is_recording)
        profile_settle_left(ret_profile);
    return err == -EBADMSG ? fail(reader, "live file has impossible slow calls") : err;
}

/* Of a shared file with groups: only they have names for its objects. */
static int name_calls(struct reader *reader, struct aggstats_profile *profile) {
    if (reader->header.groups_offset == 0 || !reader->layout.is_shared)
        return 0;
    CLEANUP_FREE struct groups_file *groups = calloc(1, sizeof(*groups));
    if (!groups)
        return -ENOMEM;
    const int err = shared_part_read_groups(&reader->shared, SHARED_GROUPS_NAMES, groups);
    return err < 0 ? explain(reader, err, reader->header.groups_offset) : groups_file_name_calls(groups, profile);
}

static struct aggstats_live_info info_of(const struct reader *reader) {
    return (struct aggstats_live_info){
        .pid = reader->header.pid, .recording = reader->is_recording, .paused = reader->window->paused != 0};
}

static void reader_finish(struct reader *reader) {
    labels_free(reader->labels, reader->label_count);
    tally_finish(&reader->tally);
    free(reader->op_names);
    free(reader->window);
}

bool aggstats_live_is(int fd) {
    char magic[sizeof(((struct live_header *)NULL)->magic)];
    return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
           memcmp(magic, LIVE_MAGIC, sizeof(magic)) == 0;
}

int aggstats_live_read(int fd, struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info,
                       struct aggstats_parse_error *ret_error) {
    struct aggstats_parse_error unused;
    struct reader reader = {.fd = fd, .error = ret_error ? ret_error : &unused};
    reader.is_recording = has_recorder(fd); /* first: what a dead process has left is final */
    int err = read_everything(&reader);
    if (err == 0)
        err = make_profile(&reader, ret_profile);
    if (err == 0) {
        err = name_calls(&reader, ret_profile);
        if (err < 0)
            aggstats_profile_finish(ret_profile);
    }
    if (err == 0 && ret_info)
        *ret_info = info_of(&reader);
    reader_finish(&reader);
    return err;
}

int aggstats_live_read_head(int fd, struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info,
                            struct aggstats_parse_error *ret_error) {
    struct reader reader = {.fd = fd, .error = ret_error};
    reader.is_recording = has_recorder(fd);
    int err = read_header(&reader);
    if (err == 0)
        err = read_labels(&reader);
    if (err == 0)
        err = read_window(&reader, sizeof(*reader.window));
    if (err == 0) {
        *ret_info = info_of(&reader);
        *ret_profile = (struct aggstats_profile){
            .resolution = reader.header.resolution,
            .clock = {.kind = reader.header.clock_kind, .frequency_hz = reader.header.frequency_hz},
            .start_ns = reader.window->start_ns,
            .has_start = true,
            .label_count = reader.label_count,
            .labels = steal_pointer(&reader.labels),
        };
        reader.label_count = 0;
    }
    reader_finish(&reader);
    return err;
}

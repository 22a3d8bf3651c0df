#include "events_script.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define CALLS_MAX 20000U
#define WORDS_MAX 24U
#define BEGIN_NS (INT64_C(1700000000) * 1000000000)

/* Columns of each record, further ones, texts: as osproffs has them. */
static const struct op {
    const char *name;
    const char *columns[9];
    unsigned always; /* of the columns; the others are further ones */
    const char *texts[2];
    bool counts_bytes;
} ops[] = {
    {"LOOKUP", {"entry"}, 1, {"name"}, false},
    {"GETATTR", {"file"}, 1, {NULL}, false},
    {"SETATTR",
     {"file", "which", "size", "mode", "owner", "group", "atime_s", "atime_ns", "mtime_s"},
     3,
     {NULL},
     false},
    {"READLINK", {"size"}, 1, {NULL}, false},
    {"SYMLINK", {"entry", "umask", "gid"}, 1, {"name", "target"}, false},
    {"MKNOD", {"entry", "mode", "device", "umask", "gid"}, 3, {"name"}, false},
    {"MKDIR", {"entry", "mode", "umask", "gid"}, 2, {"name"}, false},
    {"UNLINK", {NULL}, 0, {"name"}, false},
    {"RMDIR", {NULL}, 0, {"name"}, false},
    {"RENAME2", {"parent", "flags"}, 2, {"name", "new_name"}, false},
    {"LINK", {"entry", "parent"}, 2, {"new_name"}, false},
    {"OPEN", {"file", "flags"}, 2, {NULL}, false},
    {"READ", {"file", "size", "offset", "result"}, 4, {NULL}, true},
    {"WRITE", {"file", "size", "offset", "result", "flags"}, 4, {NULL}, true},
    {"RELEASE", {"file"}, 1, {NULL}, false},
    {"FSYNC", {"file", "data_only"}, 2, {NULL}, false},
    {"SETXATTR", {"size", "flags"}, 1, {"attribute"}, false},
    {"FLUSH", {"file", "lock_owner"}, 1, {NULL}, false},
    {"OPENDIR", {"file"}, 1, {NULL}, false},
    {"READDIRPLUS", {"file", "offset", "result"}, 3, {NULL}, false},
    {"RELEASEDIR", {"file"}, 1, {NULL}, false},
    {"CREATE", {"file", "entry", "mode", "flags", "umask", "gid"}, 4, {"name"}, false},
    {"IOCTL", {"file", "command"}, 2, {NULL}, false},
    {"FALLOCATE", {"file", "size", "offset", "mode"}, 4, {NULL}, false},
    {"COPY_FILE_RANGE",
     {"file", "size", "offset", "result", "out_node", "out_file", "out_offset", "flags"},
     4,
     {NULL},
     true},
    {"MADE_UP", {NULL}, 0, {"name"}, false},
};

struct call {
    uint32_t thread;
    int64_t start_ns;
    uint64_t latency_ns;
    unsigned op;
    uint64_t node;
    unsigned error;
    uint64_t columns[9];
    char texts[2][300];
    bool has_texts;
};

struct script {
    char host[64];
    char boot[64];
    uint64_t hz;
    double drift;
    int64_t ahead_ns;
    uint64_t error_ns;
    struct call *calls;
    size_t call_count;
    char paths[64][300];
    uint64_t path_nodes[64];
    size_t path_count;
    int64_t end_ns;
};

__attribute__((noreturn)) static void refuse(const char *line) {
    fprintf(stderr, "events script: cannot read: %s\n", line);
    exit(2);
}

static void copy_word(char *to, size_t room, const char *word) {
    for (; *word && room > 1; room--) {
        unsigned byte;
        if (*word == '%' && sscanf(word + 1, "%2x", &byte) == 1) {
            *to++ = (char)byte;
            word += 3;
        } else {
            *to++ = *word++;
        }
    }
    *to = '\0';
}

static unsigned find_op(const char *name) {
    for (unsigned op = 0; op < ARRAY_SIZE(ops); op++)
        if (strcmp(ops[op].name, name) == 0)
            return op;
    refuse(name);
}

static void take_pair(struct call *call, char *pair) {
    const struct op *op = &ops[call->op];
    char *value = strchr(pair, '=');
    if (!value)
        refuse(pair);
    *value++ = '\0';
    if (strcmp(pair, "errno") == 0) {
        call->error = (unsigned)strtoul(value, NULL, 0);
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(op->columns) && op->columns[i]; i++) {
        if (strcmp(op->columns[i], pair) == 0) {
            call->columns[i] = strtoull(value, NULL, 0);
            return;
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(op->texts) && op->texts[i]; i++) {
        if (strcmp(op->texts[i], pair) == 0) {
            copy_word(call->texts[i], sizeof(call->texts[i]), value);
            return;
        }
    }
    refuse(pair);
}

static void take_call(struct script *script, char **words, size_t count) {
    struct call *call = &script->calls[script->call_count++];
    if (count < 5 || script->call_count == CALLS_MAX)
        refuse("call");
    *call = (struct call){
        .thread = (uint32_t)strtoul(words[0], NULL, 0),
        .start_ns = (int64_t)(strtod(words[1], NULL) * 1000),
        .latency_ns = (uint64_t)(strtod(words[2], NULL) * 1000),
        .op = find_op(words[3]),
        .node = strtoull(words[4], NULL, 0),
        .has_texts = true,
    };
    for (size_t i = 5; i < count; i++)
        take_pair(call, words[i]);
}

static void take_line(struct script *script, char *line) {
    char *words[WORDS_MAX];
    size_t count = 0;
    for (char *word = strtok(line, " \n"); word && count < WORDS_MAX; word = strtok(NULL, " \n"))
        words[count++] = word;
    if (count == 0 || words[0][0] == '#')
        return;
    if (count < 2)
        refuse(words[0]);
    if (strcmp(words[0], "call") == 0)
        take_call(script, words + 1, count - 1);
    else if (strcmp(words[0], "host") == 0)
        copy_word(script->host, sizeof(script->host), words[1]);
    else if (strcmp(words[0], "boot") == 0)
        copy_word(script->boot, sizeof(script->boot), words[1]);
    else if (strcmp(words[0], "hz") == 0)
        script->hz = strtoull(words[1], NULL, 0);
    else if (strcmp(words[0], "drift") == 0)
        script->drift = strtod(words[1], NULL) / 1e6;
    else if (strcmp(words[0], "ahead") == 0)
        script->ahead_ns = strtoll(words[1], NULL, 0);
    else if (strcmp(words[0], "error") == 0)
        script->error_ns = strtoull(words[1], NULL, 0);
    else if (strcmp(words[0], "end") == 0)
        script->end_ns = (int64_t)(strtod(words[1], NULL) * 1000);
    else if (strcmp(words[0], "path") == 0 && count == 3 && script->path_count < ARRAY_SIZE(script->paths)) {
        script->path_nodes[script->path_count] = strtoull(words[1], NULL, 0);
        copy_word(script->paths[script->path_count++], sizeof(script->paths[0]), words[2]);
    } else
        refuse(words[0]);
}

/* ---- Writing ---- */

static uint64_t to_cycles(const struct script *script, double ns) {
    return 1000000 + (uint64_t)(ns * (double)script->hz * (1 + script->drift) / 1e9);
}

static void write_op(struct events_writer *writer, unsigned number) {
    const struct op *op = &ops[number];
    char line[300];
    int length = snprintf(line, sizeof(line), "%u %s%s|", number, op->name, op->counts_bytes ? " bytes" : "");
    for (unsigned i = 0; i < ARRAY_SIZE(op->columns) && op->columns[i]; i++)
        length += snprintf(line + length, sizeof(line) - (size_t)length, "%s%s",
                           i == op->always ? "|"
                           : i             ? " "
                                           : "",
                           op->columns[i]);
    if (!op->columns[op->always])
        length += snprintf(line + length, sizeof(line) - (size_t)length, "|");
    for (unsigned i = 0; i < ARRAY_SIZE(op->texts) && op->texts[i]; i++)
        length += snprintf(line + length, sizeof(line) - (size_t)length, "%s%s", i ? " " : "|", op->texts[i]);
    events_write_line(writer, "op", line);
}

static void describe(const struct script *script, struct events_writer *writer) {
    char clock[64];
    snprintf(clock, sizeof(clock), "clock tsc %" PRIu64, script->hz);
    events_write_start(writer, EVENTS_NAMES);
    events_chunk_begin(writer, EVENTS_DESCRIPTION, NULL, 0);
    events_write_line(writer, "host", script->host);
    if (script->boot[0])
        events_write_line(writer, "boot", script->boot);
    events_write_line(writer, clock, NULL);
    for (unsigned op = 0; op < ARRAY_SIZE(ops); op++)
        write_op(writer, op);
    events_chunk_end(writer);
}

static void write_clock(const struct script *script, struct events_writer *writer, int64_t ns) {
    const struct events_clock clock = {
        .cycles = to_cycles(script, (double)ns),
        .realtime_ns = BEGIN_NS + ns + script->ahead_ns,
        .monotonic_ns = 5000000000 + ns,
        .error_ns = script->error_ns,
    };
    events_chunk_begin(writer, EVENTS_CLOCK, &clock, sizeof(clock));
    events_chunk_end(writer);
}

static void write_call(const struct script *script, struct events_writer *writer, const struct call *call) {
    const struct op *op = &ops[call->op];
    unsigned columns = 0;
    unsigned texts = 0;
    const char *const text[] = {call->texts[0], call->texts[1]};
    while (columns < ARRAY_SIZE(op->columns) && op->columns[columns])
        columns++;
    while (texts < ARRAY_SIZE(op->texts) && op->texts[texts])
        texts++;
    const struct events_call record = {
        .start_cycles = to_cycles(script, (double)call->start_ns),
        .latency_cycles = to_cycles(script, (double)call->latency_ns) - 1000000,
        .node = call->node,
        .thread = call->thread,
        .op = call->op,
        .error = call->error,
        .flags = EVENTS_MORE,
        .columns = call->columns,
        .column_count = columns,
        .texts = text,
        .text_count = texts,
    };
    events_write_record(writer, &record);
}

/* Each thread is a stream. */
static void write_thread(const struct script *script, struct events_writer *writer, uint32_t thread) {
    struct events_buffer head = {.stream = thread, .worker = thread};
    for (size_t i = 0; i < script->call_count; i++)
        head.record_count += script->calls[i].thread == thread;
    events_chunk_begin(writer, EVENTS_BUFFER, &head, sizeof(head));
    for (size_t i = 0; i < script->call_count; i++)
        if (script->calls[i].thread == thread)
            write_call(script, writer, &script->calls[i]);
    events_chunk_end(writer);
}

static bool is_first_of_thread(const struct script *script, size_t place) {
    for (size_t i = 0; i < place; i++)
        if (script->calls[i].thread == script->calls[place].thread)
            return false;
    return true;
}

static void write_paths(const struct script *script, struct events_writer *writer) {
    events_chunk_begin(writer, EVENTS_STRINGS, NULL, 0);
    for (size_t i = 0; i < script->path_count; i++)
        events_write_string(writer, EVENTS_STRING_PATH, script->path_nodes[i], 0, script->paths[i],
                            strlen(script->paths[i]));
    events_chunk_end(writer);
}

static void write_end(const struct script *script, struct events_writer *writer, int64_t ns) {
    const struct events_mark stop = {.kind = EVENTS_MARK_STOP, .cycles = to_cycles(script, (double)ns)};
    write_clock(script, writer, ns);
    events_chunk_begin(writer, EVENTS_MARK, &stop, sizeof(stop));
    events_chunk_end(writer);
}

void events_script_read(FILE *input, struct events_writer *writer) {
    struct script script = {.host = "host", .hz = 1000000000, .calls = calloc(CALLS_MAX, sizeof(*script.calls))};
    if (!script.calls)
        abort();
    CLEANUP_FREE char *line = NULL;
    size_t room = 0;
    int64_t last_ns = 1000000000;
    while (getline(&line, &room, input) > 0)
        take_line(&script, line);
    for (size_t i = 0; i < script.call_count; i++)
        if (script.calls[i].start_ns + (int64_t)script.calls[i].latency_ns > last_ns)
            last_ns = script.calls[i].start_ns + (int64_t)script.calls[i].latency_ns;
    describe(&script, writer);
    write_clock(&script, writer, 0);
    for (size_t i = 0; i < script.call_count; i++)
        if (is_first_of_thread(&script, i))
            write_thread(&script, writer, script.calls[i].thread);
    write_paths(&script, writer);
    write_end(&script, writer, script.end_ns ? script.end_ns : last_ns);
    free(script.calls);
}

/* Writes chunks. */
#include "events_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

#define TEXT_MAX 3900U /* two of them, and all columns, fit in a record */

void events_chunk_add(struct events_writer *writer, const void *data, size_t size_bytes) {
    if (writer->error || size_bytes == 0)
        return;
    if (size_bytes > writer->room_bytes - writer->size_bytes) {
        size_t room_bytes = 2 * (writer->size_bytes + size_bytes);
        unsigned char *grown = realloc(writer->bytes, room_bytes);
        if (!grown) {
            writer->error = -ENOMEM;
            return;
        }
        writer->bytes = grown;
        writer->room_bytes = room_bytes;
    }
    memcpy(writer->bytes + writer->size_bytes, data, size_bytes);
    writer->size_bytes += size_bytes;
}

static void pad(struct events_writer *writer) {
    static const char zeros[8];
    events_chunk_add(writer, zeros, (8 - writer->size_bytes % 8) % 8);
}

void events_write_start(struct events_writer *writer, uint32_t flags) {
    const struct events_start start = {
        .magic = EVENTS_MAGIC,
        .byte_order = EVENTS_BYTE_ORDER,
        .major = EVENTS_MAJOR,
        .minor = EVENTS_MINOR,
        .start_bytes = sizeof(start),
        .flags = flags,
    };
    events_chunk_add(writer, &start, sizeof(start));
}

/* ---- Chunks ---- */

struct events_chunk events_chunk_seal(enum events_chunk_kind kind, uint64_t sequence, const void *head,
                                      size_t head_bytes, const void *rest, size_t rest_bytes) {
    struct events_chunk chunk = {
        .magic = EVENTS_CHUNK_MAGIC,
        .kind = (uint16_t)kind,
        .head_bytes = (uint16_t)head_bytes,
        .size_bytes = (uint32_t)(sizeof(chunk) + head_bytes + rest_bytes),
        .sequence = sequence,
    };
    struct events_sum sum = events_sum_add((struct events_sum){0}, &chunk, sizeof(chunk));
    sum = events_sum_add(sum, head, head_bytes);
    chunk.checksum = events_checksum(events_sum_add(sum, rest, rest_bytes));
    return chunk;
}

void events_chunk_begin(struct events_writer *writer, enum events_chunk_kind kind, const void *head,
                        size_t head_bytes) {
    const struct events_chunk chunk = {.kind = (uint16_t)kind, .head_bytes = (uint16_t)head_bytes};
    writer->chunk_at = writer->size_bytes;
    events_chunk_add(writer, &chunk, sizeof(chunk));
    events_chunk_add(writer, head, head_bytes);
}

void events_chunk_end(struct events_writer *writer) {
    struct events_chunk chunk;
    pad(writer);
    if (writer->error)
        return;
    unsigned char *at = writer->bytes + writer->chunk_at;
    size_t size_bytes = writer->size_bytes - writer->chunk_at;
    if (size_bytes > EVENTS_CHUNK_MAX) {
        writer->error = -E2BIG;
        return;
    }
    memcpy(&chunk, at, sizeof(chunk));
    unsigned char *inside = at + sizeof(chunk);
    size_t rest_bytes = size_bytes - sizeof(chunk) - chunk.head_bytes;
    chunk = events_chunk_seal((enum events_chunk_kind)chunk.kind, writer->sequence++, inside, chunk.head_bytes,
                              inside + chunk.head_bytes, rest_bytes);
    memcpy(at, &chunk, sizeof(chunk));
}

/* ---- Contents of chunks ---- */

void events_write_text(struct events_writer *writer, const char *text) {
    for (; *text; text++) {
        const char *escaped = *text == '\n' ? "\\n" : *text == '\r' ? "\\r" : *text == '\\' ? "\\\\" : NULL;
        events_chunk_add(writer, escaped ? escaped : text, escaped ? 2 : 1);
    }
}

void events_write_line(struct events_writer *writer, const char *word, const char *value) {
    events_chunk_add(writer, word, strlen(word));
    events_chunk_add(writer, " ", value ? 1 : 0);
    events_write_text(writer, value ? value : "");
    events_chunk_add(writer, "\n", 1);
}

void events_write_number(struct events_writer *writer, const char *word, uint64_t number) {
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    events_write_line(writer, word, text);
}

void events_write_clock(struct events_writer *writer, const char *kind, uint64_t hz) {
    char value[64];
    snprintf(value, sizeof(value), "%.32s %llu", kind, (unsigned long long)hz);
    events_write_line(writer, "clock", value);
}

void events_write_label(struct events_writer *writer, const char *key, const char *value) {
    events_chunk_add(writer, "label ", strlen("label "));
    events_write_line(writer, key, value);
}

void events_write_string(struct events_writer *writer, enum events_string_kind kind, uint64_t key, uint64_t value,
                         const char *text, size_t length) {
    const struct events_string head = {
        .kind = (uint32_t)kind, .length_bytes = (uint32_t)length, .key = key, .value = value};
    events_chunk_add(writer, &head, sizeof(head));
    events_chunk_add(writer, text, length);
    pad(writer);
}

void events_write_record(struct events_writer *writer, const struct events_call *call) {
    bool is_long = call->latency_cycles > UINT32_MAX;
    size_t at = writer->size_bytes;
    struct events_record record = {
        .start_cycles = call->start_cycles,
        .node = call->node,
        .latency_cycles = (uint32_t)call->latency_cycles,
        .thread = call->thread,
        .uid = call->uid,
    };
    events_chunk_add(writer, &record, sizeof(record));
    events_chunk_add(writer, &call->latency_cycles, is_long ? sizeof(call->latency_cycles) : 0);
    events_chunk_add(writer, call->columns, call->column_count * sizeof(*call->columns));
    for (unsigned i = 0; i < call->text_count; i++) {
        size_t length = strlen(call->texts[i]);
        uint16_t lengths[2] = {(uint16_t)(length < TEXT_MAX ? length : TEXT_MAX),
                               (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX)};
        events_chunk_add(writer, lengths, sizeof(lengths));
        events_chunk_add(writer, call->texts[i], lengths[0]);
    }
    pad(writer);
    if (writer->error)
        return;
    unsigned words = (unsigned)((writer->size_bytes - at) / 8);
    record.head = events_head(call->op, words, call->error, call->flags | (is_long ? EVENTS_LONG : 0));
    memcpy(writer->bytes + at, &record, sizeof(record));
}

void events_write_record_count(struct events_writer *writer, uint32_t record_count) {
    if (!writer->error)
        memcpy(writer->bytes + writer->chunk_at + sizeof(struct events_chunk) +
                   offsetof(struct events_buffer, record_count),
               &record_count, sizeof(record_count));
}

int events_writer_finish(struct events_writer *writer) {
    free(writer->bytes);
    writer->bytes = NULL;
    return writer->error;
}

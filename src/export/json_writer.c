/* JSON (RFC 8259) with a value per line down to LINES_DEPTH, so that people can read it; deeper values share a line.
 *
 * Why not jansson, which reads JSON here: it has signed 64-bit integers, but inode numbers use all bits; it refuses
 * text that is not UTF-8, but labels are paths, so any bytes; and it needs the whole document in memory. */
#include "json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "views_private.h"

#define LINES_DEPTH 4

/* Code points beyond U+FFFF are two escapes, as in UTF-16. */
static void write_character(FILE *stream, const char *character, size_t length) {
    if (!is_invisible(character, length)) {
        if (*character == '"' || *character == '\\')
            putc('\\', stream);
        fwrite(character, 1, length, stream);
        return;
    }
    const uint32_t code = character_code(character, length);
    if (code > 0xffff)
        fprintf(stream, "\\u%04x\\u%04x", 0xd800 | (code - 0x10000) >> 10, 0xdc00 | (code & 0x3ff));
    else
        fprintf(stream, "\\u%04x", code);
}

static void write_text(FILE *stream, const char *text) {
    const char *character;
    size_t length;
    putc('"', stream);
    while ((length = next_character(&text, &character)) > 0)
        write_character(stream, character, length);
    putc('"', stream);
}

static bool has_lines(const struct json_writer *writer) {
    return writer->depth <= LINES_DEPTH && !writer->is_one_line;
}

static void break_line(const struct json_writer *writer) {
    if (has_lines(writer))
        fprintf(writer->stream, "\n%*s", (int)writer->depth * 2, "");
}

/* Writes all that precedes a value. */
static void begin_value(struct json_writer *writer, const char *key) {
    if (writer->has_sibling)
        fputs(has_lines(writer) ? "," : ", ", writer->stream);
    if (writer->depth > 0)
        break_line(writer);
    if (key) {
        write_text(writer->stream, key);
        fputs(": ", writer->stream);
    }
    writer->has_sibling = true;
}

void json_begin(struct json_writer *writer, const char *key, char bracket) {
    begin_value(writer, key);
    putc(bracket, writer->stream);
    writer->depth++;
    writer->has_sibling = false;
}

void json_end(struct json_writer *writer, char bracket) {
    bool is_empty = !writer->has_sibling;
    bool in_lines = has_lines(writer);
    writer->depth--;
    if (!is_empty && in_lines)
        break_line(writer);
    putc(bracket, writer->stream);
    if (writer->depth == 0)
        putc('\n', writer->stream);
    writer->has_sibling = true;
}

void json_text(struct json_writer *writer, const char *key, const char *text) {
    begin_value(writer, key);
    write_text(writer->stream, text);
}

void json_count(struct json_writer *writer, const char *key, wide_count count) {
    char text[WIDE_COUNT_TEXT_SIZE];
    begin_value(writer, key);
    fputs(wide_count_format(count, text), writer->stream);
}

void json_real(struct json_writer *writer, const char *key, double value) {
    char text[REAL_TEXT_SIZE];
    format_real(value, text);
    begin_value(writer, key);
    fputs(text, writer->stream);
}

void json_bool(struct json_writer *writer, const char *key, bool value) {
    begin_value(writer, key);
    fputs(value ? "true" : "false", writer->stream);
}

static void put_seconds(struct json_writer *writer, uint64_t frequency_hz, const char *name, double cycles) {
    char key[64];
    if (frequency_hz == 0)
        return;
    snprintf(key, sizeof(key), "%s_seconds", name);
    json_real(writer, key, cycles / (double)frequency_hz);
}

void json_latency(struct json_writer *writer, uint64_t frequency_hz, const char *name, double cycles) {
    char key[64];
    snprintf(key, sizeof(key), "%s_cycles", name);
    json_real(writer, key, cycles);
    put_seconds(writer, frequency_hz, name, cycles);
}

void json_cycles(struct json_writer *writer, uint64_t frequency_hz, const char *name, uint64_t cycles) {
    char key[64];
    snprintf(key, sizeof(key), "%s_cycles", name);
    json_count(writer, key, cycles);
    put_seconds(writer, frequency_hz, name, (double)cycles);
}

void json_labels(struct json_writer *writer, const struct aggstats_profile *profile) {
    json_begin(writer, "labels", '{');
    for (size_t i = 0; i < profile->label_count; i++) {
        const struct aggstats_label *label = &profile->labels[i];
        if (aggstats_profile_label(profile, label->key) == label->value)
            json_text(writer, label->key, label->value);
    }
    json_end(writer, '}');
}

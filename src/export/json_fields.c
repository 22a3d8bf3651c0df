/* Records as members of JSON objects, for profiles, waits and the log of slow calls. */
#include "json_fields.h"

#include <stddef.h>

#include "aggstats/why.h"
#include "base.h"
#include "holders_text.h"

void json_why(struct json_writer *writer, const struct aggstats_why *why) {
    char text[AGGSTATS_WHY_TEXT_SIZE];
    json_text(writer, "cause", aggstats_why_text(why, text));
    if (why->id[0])
        json_text(writer, "cause_id", why->id);
    json_text(writer, "cause_class", aggstats_cause_class_name(why->kind));
    if (why->flags & AGGSTATS_WHY_OTHER_THREAD)
        json_bool(writer, "other_thread", true);
    if (why->flags & AGGSTATS_WHY_SINCE_BEFORE)
        json_bool(writer, "since_before", true);
}

void json_records(struct json_writer *writer, const char *key, const struct field *fields, const void *records,
                  size_t count, size_t record_bytes, uint64_t frequency_hz) {
    json_begin(writer, key, '[');
    for (size_t i = 0; i < count; i++) {
        json_begin(writer, NULL, '{');
        json_fields(writer, fields, (const char *)records + i * record_bytes, frequency_hz, JSON_FOR_PROFILE);
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

void json_links(struct json_writer *writer, const struct aggstats_chain *chain) {
    json_records(writer, "links", link_fields, chain ? chain->links : NULL, chain ? chain->count : 0,
                 sizeof(struct aggstats_link), 0);
    if (chain && chain->is_circle)
        json_bool(writer, "circle", true);
}

static void write_nanoseconds(struct json_writer *writer, uint64_t frequency_hz, const char *name, uint64_t cycles) {
    char key[64];
    snprintf(key, sizeof(key), "%s_ns", name);
    json_count(writer, key, (uint64_t)((double)cycles * NS_PER_S / (double)frequency_hz));
}

static void write_field(struct json_writer *writer, const struct field *field, const void *record,
                        uint64_t frequency_hz, enum json_fields_for reader) {
    switch (field->kind) {
    case FIELD_CYCLES:
        (reader == JSON_FOR_LOG ? write_nanoseconds : json_cycles)(writer, frequency_hz, field->key,
                                                                   field_number(field, record));
        break;
    case FIELD_TIME: /* a line of the log begins with it, in words */
        if (reader == JSON_FOR_PROFILE)
            json_count(writer, field->key, field_number(field, record));
        break;
    case FIELD_NUMBER:
        json_count(writer, field->key, field_number(field, record));
        break;
    case FIELD_FLAG:
        json_bool(writer, field->key, true);
        break;
    case FIELD_CAUSE: {
        const char *words = field_word(field, record);
        json_why(writer, (const struct aggstats_why *)(const void *)(words - offsetof(struct aggstats_why, words)));
        break;
    }
    case FIELD_CHAIN: {
        char holder[HOLDERS_SHORT_SIZE];
        json_text(writer, "holder", holders_format_thing(field_chain(field, record), holder, sizeof(holder)));
        json_links(writer, field_chain(field, record));
        break;
    }
    default:
        json_text(writer, field->key, field_word(field, record) ? field_word(field, record) : "");
    }
}

void json_fields(struct json_writer *writer, const struct field *fields, const void *record, uint64_t frequency_hz,
                 enum json_fields_for reader) {
    for (const struct field *field = fields; field->key; field++)
        if (!field->is_of_cause && (field_is_there(field, record) || (reader == JSON_FOR_LOG && field->is_logged)))
            write_field(writer, field, record, frequency_hz, reader);
}

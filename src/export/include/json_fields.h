/* Calls, causes, and who holds what is waited for, as members of JSON. */
#ifndef JSON_FIELDS_H
#define JSON_FIELDS_H

#include "aggstats.h"
#include "aggstats/fields.h"
#include "json_writer.h"

/* How fields are written. */
enum json_fields_for {
    JSON_FOR_PROFILE,
    JSON_FOR_LOG, /* of slow calls: fields of the log are there even if they are not known, and cycles are nanoseconds */
};

/* Members for the fields of a record. frequency_hz: of the clock; 0: unknown, which a log's is not */
void json_fields(struct json_writer *writer, const struct field *fields, const void *record, uint64_t frequency_hz,
                 enum json_fields_for reader);

/* A member that is an array of records, each of record_bytes. */
void json_records(struct json_writer *writer, const char *key, const struct field *fields, const void *records,
                  size_t count, size_t record_bytes, uint64_t frequency_hz);

/* Members "cause", "cause_class" and, if there are, "cause_id", "other_thread" and "since_before". */
void json_why(struct json_writer *writer, const struct aggstats_why *why);

/* Members "links", an array, and "circle", if so. chain: NULL: no links */
void json_links(struct json_writer *writer, const struct aggstats_chain *chain);

#endif

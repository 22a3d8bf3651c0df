/* libaggstats, inside this project: the fields of calls, of causes, of functions that make slow calls, and of links. Each of
 * these records has a table, from which text profiles, JSON, the log of slow calls and the live file's chains are written
 * and read. A key is the same in all of them; only JSON says the unit of cycles behind it. */
#ifndef AGGSTATS_FIELDS_H
#define AGGSTATS_FIELDS_H

#include "aggstats.h"

enum field_kind {
    FIELD_OP,       /* the name of an operation: in a line the first word, without its key */
    FIELD_NUMBER,   /* uint64_t */
    FIELD_CYCLES,   /* the same; JSON has seconds, too */
    FIELD_TIME,     /* int64_t: nanoseconds since 1970 */
    FIELD_FLAG,     /* bool: true, or not there */
    FIELD_BIT,      /* of an unsigned; size_bytes is its mask */
    FIELD_TEXT,     /* an array */
    FIELD_CAUSE_ID, /* the same */
    FIELD_CAUSE,    /* the same: the words of a struct aggstats_why, all of which JSON writes in its place */
    FIELD_STRING,   /* char *, which the record owns */
    FIELD_STACK,    /* the same; in a text the number of its line */
    FIELD_CLASS,
    FIELD_RELATION,
    FIELD_CHAIN, /* struct aggstats_chain *, which the record owns; in a text all that follows is of it */
};

enum field_presence {
    FIELD_IF_KNOWN, /* there unless it is 0, empty, or the first of its enumeration */
    FIELD_ALWAYS,
    FIELD_IF_FLAG, /* there if a bool is true, and reading it makes that true */
    FIELD_UNLESS_FLAG,
};

struct field {
    const char *key; /* NULL: the end of the table */
    enum field_kind kind;
    uint16_t offset; /* in its record, like flag_offset */
    uint16_t size_bytes;
    enum field_presence presence;
    uint16_t flag_offset;
    bool is_of_cause; /* JSON has it with the cause */
    bool is_logged;   /* the log of slow calls has it even if it is not known */
};

#define FIELD_LINK "link" /* begins each link of a chain in a text */

extern const struct field call_fields[];   /* struct aggstats_call */
extern const struct field cause_fields[];  /* struct aggstats_cause, without buckets */
extern const struct field caller_fields[]; /* struct aggstats_caller */
extern const struct field link_fields[];   /* struct aggstats_link */

/* Of a record of the field's table. number: of numbers, cycles and times; word: of all else, NULL: unknown.
 * Owner:   the record, or static */
bool field_is_there(const struct field *field, const void *record);
uint64_t field_number(const struct field *field, const void *record);
const char *field_word(const struct field *field, const void *record);
const struct aggstats_chain *field_chain(const struct field *field, const void *record);

/* Of a field that is an enumeration: the member of that name, or their number if there is none. */
unsigned field_enumerator(const struct field *field, const char *word);
unsigned field_enumerators(const struct field *field);

/* A copy with texts and a chain of its own. Errors: -ENOMEM */
int call_copy(const struct aggstats_call *call, struct aggstats_call *ret_copy);
void call_finish(struct aggstats_call *call);

/* Appends a copy to an array that this function has made, or none. Errors: -ENOMEM */
int calls_append(struct aggstats_call **calls, size_t *count, const struct aggstats_call *call);
void calls_free(struct aggstats_call **calls, size_t *count);

/* A copy; NULL: no memory, or no chain. Owner: the caller frees it */
struct aggstats_chain *chain_copy(const struct aggstats_chain *chain);

#define CHAIN_TEXT_SIZE 1024 /* with its NUL; of a longer chain the last links are left out */

/* The chain as a text of fields, as in a line of a profile; "": there is no link. */
void chain_encode(const struct aggstats_chain *chain, char ret_text[CHAIN_TEXT_SIZE]);

/* The inverse. Any bytes may be given. Returns false if it is no such text */
bool chain_decode(const char text[CHAIN_TEXT_SIZE], struct aggstats_chain *ret_chain);

#endif

/* Lines of the header about calls, and about causes and functions of slow calls; readers that do not know them take them for
 * labels. The fields of a line are those of fields.c, each a key and a word, in any order. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/fields.h"
#include "aggstats/why.h"
#include "base.h"
#include "profile_owned.h"
#include "profile_slow.h"
#include "text_parser.h"

#define CALLS_IN_FLIGHT_MAX 65536 /* limits what a hostile text can make readers search for each operation */
#define STACKS_MAX 2048           /* more than a recorder has: limits what a hostile text makes us compare */
#define CHAINS_MAX 2048           /* of calls with links: limits what a small hostile text can make us allocate */
#define CIRCLE "circle"

/* ---- Stacks, each once ---- */

/* The stacks of all calls; a stack's number is its index, from 1. */
struct stacks {
    const char **texts; /* owned by the calls */
    size_t count;
};

static size_t stack_number(const struct stacks *stacks, const char *stack) {
    for (size_t i = 0; i < stacks->count; i++)
        if (strcmp(stacks->texts[i], stack) == 0)
            return i + 1;
    return 0;
}

static void write_stacks(const struct aggstats_call *calls, size_t count, struct stacks *stacks, FILE *stream) {
    for (size_t i = 0; i < 2 * count; i++) {
        const char *stack = i % 2 == 0 ? calls[i / 2].stack : calls[i / 2].user_stack;
        if (!stack || !stack[0] || stacks->count == STACKS_MAX || stack_number(stacks, stack) > 0)
            continue;
        stacks->texts[stacks->count++] = stack;
        fputs("# stack: ", stream);
        text_write_value(stream, stack);
        putc('\n', stream);
    }
}

/* ---- Writing ---- */

static void write_chain(const struct aggstats_chain *chain, size_t count, FILE *stream);

/* " READ pid 4711 program a\\040b". stacks: NULL: the record has none */
static void write_fields(const struct field *field, const void *record, const struct stacks *stacks, FILE *stream) {
    for (; field->key; field++) {
        if (!field_is_there(field, record))
            continue;
        const size_t stack = stacks && field->kind == FIELD_STACK ? stack_number(stacks, field_word(field, record)) : 0;
        switch (field->kind) {
        case FIELD_NUMBER:
        case FIELD_CYCLES:
        case FIELD_TIME:
            fprintf(stream, " %s %" PRIu64, field->key, field_number(field, record));
            break;
        case FIELD_STACK:
            if (stack > 0)
                fprintf(stream, " %s %zu", field->key, stack);
            break;
        case FIELD_CHAIN: {
            const struct aggstats_chain *chain = field_chain(field, record);
            write_chain(chain, chain->count, stream);
            break;
        }
        default:
            if (field->kind != FIELD_OP)
                fprintf(stream, " %s", field->key);
            putc(' ', stream);
            text_write_word(field_word(field, record), stream);
        }
    }
}

/* " link process 4711 waits_for flock link process 5": the first links */
static void write_chain(const struct aggstats_chain *chain, size_t count, FILE *stream) {
    for (size_t i = 0; i < count; i++) {
        fputs(" " FIELD_LINK, stream);
        write_fields(link_fields, &chain->links[i], NULL, stream);
    }
    if (count == chain->count && chain->is_circle)
        fputs(" " CIRCLE, stream);
}

static void write_record(const char *key, const struct field *fields, const void *record, const struct stacks *stacks,
                         FILE *stream) {
    fprintf(stream, "# %s:", key);
    write_fields(fields, record, stacks, stream);
    putc('\n', stream);
}

/* "# cause_buckets: 1 25:12 26:3"; only buckets with calls */
static void write_cause_buckets(const struct aggstats_profile *profile, size_t number, FILE *stream) {
    const struct aggstats_cause *cause = &profile->causes[number - 1];
    bool is_begun = false;
    for (unsigned bucket = 0; cause->buckets && bucket < profile_bucket_count(profile); bucket++) {
        if (cause->buckets[bucket] == 0)
            continue;
        if (!is_begun)
            fprintf(stream, "# cause_buckets: %zu", number);
        is_begun = true;
        fprintf(stream, " %u:%" PRIu64, bucket, cause->buckets[bucket]);
    }
    if (is_begun)
        putc('\n', stream);
}

int text_write_calls(const struct aggstats_profile *profile, FILE *stream) {
    struct stacks stacks = {.texts = calloc(STACKS_MAX, sizeof(*stacks.texts))};
    if (!stacks.texts)
        return -ENOMEM;
    if (profile->slow_cycles > 0)
        fprintf(stream, "# slow: %" PRIu64 "\n", profile->slow_cycles);
    for (size_t i = 0; i < profile->cause_count; i++)
        write_record("cause", cause_fields, &profile->causes[i], NULL, stream);
    for (size_t i = 0; i < profile->cause_count; i++)
        write_cause_buckets(profile, i + 1, stream);
    write_stacks(profile->slow_calls, profile->slow_call_count, &stacks, stream);
    write_stacks(profile->in_flight, profile->in_flight_count, &stacks, stream);
    for (size_t i = 0; i < profile->in_flight_count; i++)
        write_record("call", call_fields, &profile->in_flight[i], &stacks, stream);
    for (size_t i = 0; i < profile->slow_call_count; i++)
        write_record("call", call_fields, &profile->slow_calls[i], &stacks, stream);
    for (size_t i = 0; i < profile->caller_count; i++)
        write_record("slow_caller", caller_fields, &profile->callers[i], NULL, stream);
    free(stacks.texts);
    return 0;
}

/* ---- Reading fields ---- */

/* Skips the word if the text at the cursor begins with it. */
static bool next_is(char **cursor, const char *word) {
    const size_t length = strlen(word);
    text_skip_blanks(cursor);
    if (strncmp(*cursor, word, length) != 0 || ((*cursor)[length] && !text_is_blank((*cursor)[length])))
        return false;
    *cursor += length;
    return true;
}

static int parse_text(struct parser *parser, const struct field *field, const char *word, char *ret_text) {
    const size_t length = strlen(word);
    if (length == 0 || length >= field->size_bytes)
        return parser_fail(parser, "expected a %s of 1 to %d characters", field->key, field->size_bytes - 1);
    if (field->kind == FIELD_CAUSE_ID && !aggstats_cause_id_valid(word))
        return parser_fail_expected(parser, "the identifier of a cause", word);
    memcpy(ret_text, word, length + 1);
    return 0;
}

static int parse_string(struct parser *parser, const struct field *field, char *word, char **ret_string) {
    const char *string = word;
    if (field->kind == FIELD_STACK) {
        uint64_t number = 0;
        int err = parser_number(parser, word, "the number of a stack", &number);
        if (err < 0)
            return err;
        if (number == 0 || number > parser->stack_count)
            return parser_fail(parser, "expected one of the %zu stacks so far, found number %" PRIu64,
                               parser->stack_count, number);
        string = parser->stacks[number - 1];
    }
    if (!string[0])
        return parser_fail_expected(parser, field->key, string);
    *ret_string = strdup(string);
    return *ret_string ? 0 : -ENOMEM;
}

static int parse_links(struct parser *parser, char **cursor, struct aggstats_chain *ret_chain);

static int parse_chain(struct parser *parser, char **cursor, struct aggstats_chain **ret_chain) {
    struct aggstats_chain chain;
    int err = parse_links(parser, cursor, &chain);
    if (err == 0 && ++parser->chain_count > CHAINS_MAX)
        err = parser_fail(parser, "expected at most %d calls with links", CHAINS_MAX);
    if (err == 0 && !(*ret_chain = chain_copy(&chain)))
        err = -ENOMEM;
    return err;
}

/* What follows a key. */
static int parse_value(struct parser *parser, const struct field *field, void *record, char **cursor) {
    void *member = (char *)record + field->offset;
    if (field->kind == FIELD_CHAIN)
        return parse_chain(parser, cursor, member);
    char *word = text_next_word(cursor);
    text_unescape(word);
    switch (field->kind) {
    case FIELD_NUMBER:
    case FIELD_CYCLES:
    case FIELD_TIME: {
        int err = parser_number(parser, word, "a number", member);
        return err == 0 && field->kind == FIELD_TIME && *(int64_t *)member < 0
                   ? parser_fail(parser, "expected nanoseconds since 1970 as %s", field->key)
                   : err;
    }
    case FIELD_TEXT:
    case FIELD_CAUSE_ID:
    case FIELD_CAUSE:
        return parse_text(parser, field, word, member);
    case FIELD_STRING:
    case FIELD_STACK:
        return parse_string(parser, field, word, member);
    case FIELD_CLASS:
    case FIELD_RELATION:
        *(unsigned *)member = field_enumerator(field, word);
        if (*(unsigned *)member == field_enumerators(field))
            break;
        return 0;
    default:
        if (strcmp(word, "yes") != 0)
            break;
        if (field->kind == FIELD_BIT)
            *(unsigned *)member |= field->size_bytes;
        else
            *(bool *)member = true;
        return 0;
    }
    return parser_fail(parser, "expected another value of %s than \"%.40s\"", field->key, word);
}

/* Fields up to a word that is none of them. */
static int parse_fields(struct parser *parser, const struct field *fields, void *record, char **cursor) {
    uint64_t seen = 0;
    for (;;) {
        const struct field *field = fields;
        while (field->key && (field->kind == FIELD_OP || !next_is(cursor, field->key)))
            field++;
        if (!field->key)
            break;
        const uint64_t bit = UINT64_C(1) << (field - fields);
        int err = seen & bit ? parser_fail(parser, "expected %s once, found it a second time", field->key)
                             : parse_value(parser, field, record, cursor);
        if (err < 0)
            return err;
        seen |= bit;
        if (field->presence == FIELD_IF_FLAG)
            *((bool *)record + field->flag_offset) = true;
    }
    for (const struct field *field = fields; field->key; field++) {
        const bool is_seen = seen & UINT64_C(1) << (field - fields);
        if (field->presence == FIELD_IF_KNOWN || field->kind == FIELD_OP || is_seen == field_is_there(field, record))
            continue;
        return is_seen ? parser_fail(parser, "expected no %s of a call in flight", field->key)
                       : parser_fail_expected(parser, field->key, *cursor);
    }
    return 0;
}

/* A whole line. The first field is the operation. */
static int parse_record(struct parser *parser, const struct field *fields, void *record, char *value) {
    char *cursor = value;
    int err = parser_name(parser, text_next_word(&cursor), (char *)record + fields->offset);
    if (err == 0)
        err = parse_fields(parser, fields, record, &cursor);
    return err < 0 ? err : parser_end_of_line(parser, &cursor);
}

static int parse_links(struct parser *parser, char **cursor, struct aggstats_chain *ret_chain) {
    *ret_chain = (struct aggstats_chain){.count = 0};
    do {
        if (ret_chain->count == AGGSTATS_LINKS_MAX)
            return parser_fail(parser, "expected at most %d links", AGGSTATS_LINKS_MAX);
        int err = parse_fields(parser, link_fields, &ret_chain->links[ret_chain->count++], cursor);
        if (err < 0)
            return err;
    } while (next_is(cursor, FIELD_LINK));
    ret_chain->is_circle = next_is(cursor, CIRCLE);
    return 0;
}

/* ---- Reading lines ---- */

int parser_slow(struct parser *parser, char *value) {
    return parser_only_number(parser, value, "a number of cycles", &parser->profile.slow_cycles);
}

/* "FSYNC calls 12 total 5200000000 longest 780000000 cause_id ext4_commit cause_class disk cause waiting\\040for ..." */
int parser_cause(struct parser *parser, char *value) {
    struct aggstats_cause cause = {.calls = 0};
    if (parser->profile.cause_count == PROFILE_CAUSES_MAX)
        return parser_fail(parser, "expected at most %d causes", PROFILE_CAUSES_MAX);
    int err = parse_record(parser, cause_fields, &cause, value);
    if (err == 0 && profile_find_cause(&parser->profile, cause.op, &cause.why))
        err = parser_fail(parser, "expected every cause of OP_%s once, found one a second time", cause.op);
    return err < 0 ? err : profile_append_cause(&parser->profile, &cause);
}

/* "25:12" of a cause; *sum: of its buckets so far */
static int parse_cause_bucket(struct parser *parser, char *word, struct aggstats_cause *cause, uint64_t *sum) {
    const unsigned bucket_count = profile_bucket_count(&parser->profile);
    uint64_t bucket = 0;
    uint64_t calls = 0;
    char *colon = strchr(word, ':');
    if (!colon)
        return parser_fail_expected(parser, "BUCKET:CALLS", word);
    *colon = '\0';
    int err = parser_number(parser, word, "the number of a bucket", &bucket);
    if (err == 0)
        err = parser_number(parser, colon + 1, "a number of calls", &calls);
    if (err < 0)
        return err;
    if (bucket >= bucket_count || cause->buckets[bucket] > 0)
        return parser_fail(parser, "expected each bucket once, below %u, found %" PRIu64, bucket_count, bucket);
    if (__builtin_add_overflow(*sum, calls, sum) || *sum > cause->calls)
        return parser_fail(parser, "expected buckets that sum up to at most %" PRIu64 " calls of that cause",
                           cause->calls);
    cause->buckets[bucket] = calls;
    return 0;
}

/* "1 25:12 26:3": of the first cause */
int parser_cause_buckets(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    uint64_t number = 0;
    uint64_t sum = 0;
    char *cursor = value;
    int err = parser_number(parser, text_next_word(&cursor), "the number of a cause", &number);
    if (err < 0)
        return err;
    if (number == 0 || number > profile->cause_count || profile->causes[number - 1].buckets)
        return parser_fail(parser, "expected one of the %zu causes so far, once, found number %" PRIu64,
                           profile->cause_count, number);
    struct aggstats_cause *cause = &profile->causes[number - 1];
    err = profile_give_cause_buckets(profile, cause);
    for (char *word = text_next_word(&cursor); word[0] && err == 0; word = text_next_word(&cursor))
        err = parse_cause_bucket(parser, word, cause, &sum);
    return err;
}

bool parser_has_cause_buckets(const struct parser *parser) {
    for (size_t i = 0; i < parser->profile.cause_count; i++)
        if (parser->profile.causes[i].buckets)
            return true;
    return false;
}

/* "ext4_sync_file < do_fsync < do_syscall_64" */
int parser_stack(struct parser *parser, char *value) {
    text_unescape(value);
    if (parser->stack_count == STACKS_MAX)
        return parser_fail(parser, "expected at most %d stacks", STACKS_MAX);
    if (!value[0] || strlen(value) >= AGGSTATS_STACK_SIZE)
        return parser_fail(parser, "expected a stack of 1 to %d characters", AGGSTATS_STACK_SIZE - 1);
    char **grown = parser_grow(parser->stacks, parser->stack_count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    parser->stacks = grown;
    grown[parser->stack_count] = strdup(value);
    return grown[parser->stack_count++] ? 0 : -ENOMEM;
}

void parser_free_stacks(struct parser *parser) {
    for (size_t i = 0; i < parser->stack_count; i++)
        free(parser->stacks[i]);
    free(parser->stacks);
}

/* "READ age 99 pid 4711": in flight; "READ latency 99 end_ns 1764038400123456789 ...": it has ended */
int parser_call(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_call call = {.path = NULL};
    int err = parse_record(parser, call_fields, &call, value);
    if (err == 0 && !call.cause.words[0] && (call.cause.id[0] || call.cause.kind > 0 || call.cause.flags > 0))
        err = parser_fail(parser, "expected the cause in words, too");
    if (err == 0 && call.is_in_flight && profile->in_flight_count == CALLS_IN_FLIGHT_MAX)
        err = parser_fail(parser, "expected at most %d calls in flight", CALLS_IN_FLIGHT_MAX);
    if (err == 0 && !call.is_in_flight && profile->slow_call_count == PROFILE_SLOW_CALLS_MAX)
        err = parser_fail(parser, "expected at most %d slow calls", PROFILE_SLOW_CALLS_MAX);
    if (err == 0)
        err = call.is_in_flight ? calls_append(&profile->in_flight, &profile->in_flight_count, &call)
                                : calls_append(&profile->slow_calls, &profile->slow_call_count, &call);
    call_finish(&call);
    return err;
}

/* "FSYNC calls 4120 program db function commit_row"; without program and function: all others */
int parser_slow_caller(struct parser *parser, char *value) {
    struct aggstats_caller caller = {.calls = 0};
    if (parser->profile.caller_count == PROFILE_CALLERS_MAX)
        return parser_fail(parser, "expected at most %d callers of slow calls", PROFILE_CALLERS_MAX);
    int err = parse_record(parser, caller_fields, &caller, value);
    if (err == 0 && !caller.program[0] != !caller.function[0])
        err = parser_fail(parser, "expected a program and its function, or neither");
    if (err == 0 && profile_find_caller(&parser->profile, &caller))
        err = parser_fail(parser, "expected every caller of OP_%s once, found one a second time", caller.op);
    return err < 0 ? err : profile_append_caller(&parser->profile, &caller);
}

/* ---- Chains in the live file ---- */

void chain_encode(const struct aggstats_chain *chain, char ret_text[CHAIN_TEXT_SIZE]) {
    ret_text[0] = '\0';
    for (size_t count = chain->count; count > 0; count--) {
        CLEANUP_FREE char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        if (!stream)
            return;
        write_chain(chain, count, stream);
        if (fclose(stream) == 0 && length < CHAIN_TEXT_SIZE) {
            memcpy(ret_text, text, length + 1);
            return;
        }
    }
}

bool chain_decode(const char text[CHAIN_TEXT_SIZE], struct aggstats_chain *ret_chain) {
    char copy[CHAIN_TEXT_SIZE];
    char *cursor = copy;
    struct aggstats_parse_error error;
    struct parser parser = {.error = &error};
    *ret_chain = (struct aggstats_chain){.count = 0};
    memcpy(copy, text, sizeof(copy));
    return memchr(copy, '\0', sizeof(copy)) &&
           (!next_is(&cursor, FIELD_LINK) || parse_links(&parser, &cursor, ret_chain) == 0) &&
           parser_end_of_line(&parser, &cursor) == 0;
}

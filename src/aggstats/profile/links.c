/* Chains of who waits for whom. A link is " link" and the fields that it has: " process 4711 waits_for flock". Words are
 * written with their blanks escaped. */
#include "aggstats/links.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/why.h"
#include "base.h"
#include "text_parser.h"

#define LINK "link"
#define CIRCLE "circle"

/* ---- Fields ---- */

#define OF(member)                                                                                                     \
    .offset = offsetof(struct aggstats_link, member), .size_bytes = sizeof(((struct aggstats_link *)0)->member)

const struct link_field link_fields[] = {
    {"process", LINK_NUMBER, OF(waiter.process)},
    {"thread", LINK_NUMBER, OF(waiter.thread)},
    {"program", LINK_TEXT, OF(waiter.name)},
    {"all_threads", LINK_FLAG, OF(is_all)},
    {"cause_id", LINK_TEXT, OF(cause.id)},
    {"cause_class", LINK_CLASS, OF(cause.kind)},
    {"cause", LINK_TEXT, OF(cause.words)},
    {"waits_for", LINK_CLASS, OF(thing)},
    {"object", LINK_TEXT, OF(object)},
    {"source", LINK_TEXT, OF(source)},
    {"cgroup", LINK_TEXT, OF(group)},
    {"requests", LINK_NUMBER, OF(in_flight), offsetof(struct aggstats_link, has_in_flight)},
    {"relation", LINK_RELATION, OF(relation)},
    {"holder_process", LINK_NUMBER, OF(holder.process)},
    {"holder_thread", LINK_NUMBER, OF(holder.thread)},
    {"holder_program", LINK_TEXT, OF(holder.name)},
    {"others", LINK_NUMBER, OF(others)},
    {NULL},
};

static const char *const relations[] = {
    [AGGSTATS_NOBODY_KNOWN] = "unknown",
    [AGGSTATS_HELD] = "held",
    [AGGSTATS_TAKEN] = "taken",
    [AGGSTATS_ASKED_BEFORE] = "asked_before",
    [AGGSTATS_BY_DESCRIPTION] = "held_by_description",
    [AGGSTATS_BY_UNSEEN] = "held_by_unseen",
};

static void *member_of(struct aggstats_link *link, const struct link_field *field) {
    return (char *)link + field->offset;
}

static const void *value_of(const struct aggstats_link *link, const struct link_field *field) {
    return (const char *)link + field->offset;
}

uint64_t link_number(const struct aggstats_link *link, const struct link_field *field) {
    return *(const uint64_t *)value_of(link, field);
}

const char *link_word(const struct aggstats_link *link, const struct link_field *field) {
    const void *value = value_of(link, field);
    if (field->kind == LINK_CLASS)
        return aggstats_cause_class_name(*(const enum aggstats_cause_class *)value);
    return field->kind == LINK_RELATION ? relations[*(const enum aggstats_relation *)value] : value;
}

bool link_has(const struct aggstats_link *link, const struct link_field *field) {
    const void *value = value_of(link, field);
    switch (field->kind) {
    case LINK_FLAG:
        return *(const bool *)value;
    case LINK_NUMBER:
        return field->known_offset > 0 ? *(const bool *)((const char *)link + field->known_offset)
                                       : link_number(link, field) > 0;
    case LINK_TEXT:
        return *(const char *)value;
    case LINK_CLASS:
        return *(const enum aggstats_cause_class *)value != AGGSTATS_CAUSE_OTHER;
    case LINK_RELATION:
        return *(const enum aggstats_relation *)value != AGGSTATS_NOBODY_KNOWN;
    }
    return false;
}

static bool set_number(struct aggstats_link *link, const struct link_field *field, const char *word) {
    char *end = NULL;
    errno = 0;
    const uint64_t number = strtoull(word, &end, 10);
    if (!text_is_digit(word[0]) || *end || errno)
        return false;
    *(uint64_t *)member_of(link, field) = number;
    if (field->known_offset > 0)
        *(bool *)((char *)link + field->known_offset) = true;
    return true;
}

static bool set_relation(struct aggstats_link *link, const struct link_field *field, const char *word) {
    const size_t relation = word_index(relations, ARRAY_SIZE(relations), word);
    if (relation < ARRAY_SIZE(relations))
        *(enum aggstats_relation *)member_of(link, field) = (enum aggstats_relation)relation;
    return relation < ARRAY_SIZE(relations);
}

bool link_set(struct aggstats_link *link, const struct link_field *field, const char *word) {
    void *member = member_of(link, field);
    const size_t length = strlen(word);
    switch (field->kind) {
    case LINK_FLAG:
        return *(bool *)member = strcmp(word, "yes") == 0;
    case LINK_NUMBER:
        return set_number(link, field, word);
    case LINK_TEXT:
        if (length == 0 || length >= field->size_bytes)
            return false;
        memcpy(member, word, length + 1);
        return true;
    case LINK_CLASS:
        *(enum aggstats_cause_class *)member = aggstats_cause_class_of_name(word);
        return *(enum aggstats_cause_class *)member < AGGSTATS_CAUSE_CLASSES;
    case LINK_RELATION:
        return set_relation(link, field, word);
    }
    return false;
}

struct aggstats_chain *chain_copy(const struct aggstats_chain *chain) {
    struct aggstats_chain *copy = chain ? malloc(sizeof(*copy)) : NULL;
    if (copy)
        *copy = *chain;
    return copy;
}

/* ---- Lines ---- */

static void write_links(const struct aggstats_chain *chain, size_t count, FILE *stream) {
    for (size_t i = 0; i < count; i++) {
        const struct aggstats_link *link = &chain->links[i];
        fputs(" " LINK, stream);
        for (const struct link_field *field = link_fields; field->key; field++) {
            if (!link_has(link, field))
                continue;
            fprintf(stream, " %s ", field->key);
            if (field->kind == LINK_NUMBER)
                fprintf(stream, "%" PRIu64, link_number(link, field));
            else
                text_write_word(field->kind == LINK_FLAG ? "yes" : link_word(link, field), stream);
        }
    }
    if (count == chain->count && chain->is_circle)
        fputs(" " CIRCLE, stream);
}

void text_write_chain(const struct aggstats_chain *chain, FILE *stream) {
    if (chain)
        write_links(chain, chain->count, stream);
}

/* Skips that word, if it is the next one. */
static bool next_is(char **cursor, const char *word) {
    const size_t length = strlen(word);
    text_skip_blanks(cursor);
    if (strncmp(*cursor, word, length) != 0 || ((*cursor)[length] && !text_is_blank((*cursor)[length])))
        return false;
    *cursor += length;
    return true;
}

static const struct link_field *next_field(char **cursor) {
    for (const struct link_field *field = link_fields; field->key; field++)
        if (next_is(cursor, field->key))
            return field;
    return NULL;
}

static int parse_link(struct parser *parser, char **cursor, struct aggstats_link *link) {
    for (const struct link_field *field = next_field(cursor); field; field = next_field(cursor)) {
        char *word = text_next_word(cursor);
        text_unescape(word);
        if (!link_set(link, field, word))
            return parser_fail(parser, "expected another value of %s than \"%.40s\"", field->key, word);
    }
    return link->cause.id[0] && !aggstats_cause_id_valid(link->cause.id)
               ? parser_fail_expected(parser, "the identifier of a cause", link->cause.id)
               : 0;
}

int parser_chain(struct parser *parser, char **cursor, struct aggstats_chain *ret_chain) {
    *ret_chain = (struct aggstats_chain){.count = 0};
    while (next_is(cursor, LINK)) {
        if (ret_chain->count == AGGSTATS_LINKS_MAX)
            return parser_fail(parser, "expected at most %d links", AGGSTATS_LINKS_MAX);
        int err = parse_link(parser, cursor, &ret_chain->links[ret_chain->count++]);
        if (err < 0)
            return err;
    }
    ret_chain->is_circle = ret_chain->count > 0 && next_is(cursor, CIRCLE);
    return 0;
}

int parser_own_chain(struct parser *parser, char **cursor, struct aggstats_chain **ret_chain) {
    struct aggstats_chain chain;
    int err = parser_chain(parser, cursor, &chain);
    if (err < 0 || chain.count == 0)
        return err;
    if (++parser->chain_count > CHAINS_MAX)
        return parser_fail(parser, "expected at most %d calls with links", CHAINS_MAX);
    *ret_chain = chain_copy(&chain);
    return *ret_chain ? 0 : -ENOMEM;
}

/* ---- In the live file ---- */

void chain_encode(const struct aggstats_chain *chain, char ret_text[CHAIN_TEXT_SIZE]) {
    ret_text[0] = '\0';
    for (size_t count = chain->count; count > 0; count--) {
        CLEANUP_FREE char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        if (!stream)
            return;
        write_links(chain, count, stream);
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
    memcpy(copy, text, sizeof(copy));
    return memchr(copy, '\0', sizeof(copy)) && parser_chain(&parser, &cursor, ret_chain) == 0 &&
           parser_end_of_line(&parser, &cursor) == 0;
}

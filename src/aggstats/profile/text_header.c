/* Reading the header of a profile: facts, and labels. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "facts.h"
#include "profile_owned.h"
#include "text_parser.h"

#define LABELS_MAX 65536

static int add_label(struct parser *parser, const char *key, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    if (profile->label_count == LABELS_MAX)
        return parser_fail(parser, "expected at most %d labels", LABELS_MAX);
    struct aggstats_label *grown = parser_grow(profile->labels, profile->label_count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->labels = grown;
    text_unescape(value);
    struct aggstats_label label = {.key = strdup(key), .value = strdup(value)};
    profile->labels[profile->label_count++] = label; /* counted even if incomplete: the caller frees it */
    return label.key && label.value ? 0 : -ENOMEM;
}

static int parse_fact(struct parser *parser, const struct fact *fact, char *value) {
    const uint64_t bit = UINT64_C(1) << (fact - facts);
    if (!fact->repeats && parser->facts_seen & bit)
        return parser_fail(parser, "expected only one \"%s\" line, found a second one", fact->key);
    parser->facts_seen |= bit;
    return fact_parse(fact, parser, value);
}

static int parse_field(struct parser *parser, const char *key, char *value) {
    const struct fact *fact = fact_of(key);
    if (fact)
        return parse_fact(parser, fact, value);
    const struct aggstats_label label = {.key = (char *)(uintptr_t)key, .value = value};
    if (aggstats_grouping_of_name(key) != AGGSTATS_UNGROUPED)
        return parser_fail(parser, "expected \"# %s:\" behind the operations only; it names a group", key);
    if (!text_label_valid(&label))
        return parser_fail_expected(parser, "\"# key: value\"", parser->line);
    if (strcmp(key, "layer") == 0 && aggstats_profile_label(&parser->profile, key))
        return parser_fail(parser, "expected only one \"%s\" line, found a second one", key);
    return add_label(parser, key, value);
}

static const char version_key[] = "# osprof ";

/* A label may have this name too, but then there is a colon. */
bool parser_is_version(const char *line) {
    return strncmp(line, version_key, strlen(version_key)) == 0 && !strchr(line, ':');
}

int parser_version(struct parser *parser) {
    uint64_t version = 0;
    int err = parser_only_number(parser, parser->line + strlen(version_key), "a version", &version);
    if (err == 0 && version > TEXT_VERSION)
        err = parser_fail(parser, "expected osprof version %d or older, found %" PRIu64, TEXT_VERSION, version);
    return err;
}

int parser_header_line(struct parser *parser) {
    char *line = parser->line;
    if (parser->line_number == parser->first_line && parser_is_version(line))
        return parser_version(parser);
    char *colon = strchr(line, ':');
    if (strncmp(line, "# ", 2) != 0 || !colon)
        return parser_fail_expected(parser, "\"# key: value\"", line);
    *colon = '\0';
    char *value = colon + 1;
    return parse_field(parser, line + 2, value + (*value == ' '));
}

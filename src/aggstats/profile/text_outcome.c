/* Looks, failures, bytes and longest calls, as lines of the header: readers that do not know them take them for labels. They
 * come before the operations, so the parser keeps them until it has these. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile_owned.h"
#include "text_parser.h"

/* The lines of one op. */
struct outcome {
    char name[AGGSTATS_NAME_SIZE];
    size_t line; /* of the latest one */
    bool has_failed;
    bool has_bytes;
    bool has_longest;
    bool has_left;
    bool has_looks;
    uint64_t asked_bytes;
    uint64_t moved_bytes;
    uint64_t failures[AGGSTATS_FAILURES];
    uint64_t longest_cycles;
    uint64_t longest_object;
    char *longest_path; /* NULL: none; until the op gets it */
    uint64_t left_calls;
    uint64_t busy_looks;
};

/* That of an op, added if it is new. Errors: -ENOMEM, -EBADMSG */
static int find_outcome(struct parser *parser, const char *name, struct outcome **ret_outcome) {
    struct outcome outcome = {.line = parser->line_number};
    int err = parser_name(parser, name, outcome.name);
    if (err < 0)
        return err;
    for (size_t i = 0; i < parser->outcome_count; i++) {
        if (strcmp(parser->outcomes[i].name, name) != 0)
            continue;
        *ret_outcome = &parser->outcomes[i];
        (*ret_outcome)->line = parser->line_number;
        return 0;
    }
    if (parser->outcome_count == OPS_MAX)
        return parser_fail(parser, "expected at most %d operations", OPS_MAX);
    struct outcome *grown = parser_grow(parser->outcomes, parser->outcome_count, sizeof(outcome));
    if (!grown)
        return -ENOMEM;
    parser->outcomes = grown;
    parser->outcomes[parser->outcome_count] = outcome;
    *ret_outcome = &parser->outcomes[parser->outcome_count++];
    return 0;
}

static int fail_twice(struct parser *parser, const char *key, const char *name) {
    return parser_fail(parser, "expected one \"%s\" line of OP_%s, found a second one", key, name);
}

/* "ENOENT 12" */
static int parse_failure(struct parser *parser, char **cursor, const char *name, uint64_t *failures, bool *seen) {
    int failure = aggstats_failure_of_name(name);
    if (failure < 0)
        return parser_fail_expected(parser, "the name of an error, such as ENOENT, or other", name);
    if (seen[failure])
        return parser_fail(parser, "expected every error once, found %s a second time", name);
    seen[failure] = true;
    return parser_number(parser, text_next_word(cursor), "a number of calls", &failures[failure]);
}

int parser_failed(struct parser *parser, char *value) {
    bool seen[AGGSTATS_FAILURES] = {false};
    struct outcome *outcome;
    char *cursor = value;
    int err = find_outcome(parser, text_next_word(&cursor), &outcome);
    if (err == 0 && outcome->has_failed)
        err = fail_twice(parser, "failed", outcome->name);
    if (err < 0)
        return err;
    outcome->has_failed = true;
    char *word = text_next_word(&cursor);
    do {
        err = parse_failure(parser, &cursor, word, outcome->failures, seen);
        word = text_next_word(&cursor);
    } while (err == 0 && word[0]);
    return err;
}

int parser_bytes(struct parser *parser, char *value) {
    struct outcome *outcome;
    char *cursor = value;
    int err = find_outcome(parser, text_next_word(&cursor), &outcome);
    if (err == 0 && outcome->has_bytes)
        err = fail_twice(parser, "bytes", outcome->name);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "asked", &outcome->asked_bytes);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "moved", &outcome->moved_bytes);
    if (err < 0)
        return err;
    outcome->has_bytes = true;
    return parser_end_of_line(parser, &cursor);
}

/* "READ 30737418 object 12 path /srv/a file" */
int parser_longest(struct parser *parser, char *value) {
    struct outcome *outcome;
    char *cursor = value;
    int err = find_outcome(parser, text_next_word(&cursor), &outcome);
    if (err == 0 && outcome->has_longest)
        err = fail_twice(parser, "longest", outcome->name);
    if (err == 0)
        err =
            parser_number(parser, text_next_word(&cursor), "the latency of a call in cycles", &outcome->longest_cycles);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "object", &outcome->longest_object);
    if (err < 0)
        return err;
    outcome->has_longest = true;
    return parser_path(parser, &cursor, &outcome->longest_path);
}

/* "READ 3" */
int parser_left(struct parser *parser, char *value) {
    struct outcome *outcome;
    char *cursor = value;
    int err = find_outcome(parser, text_next_word(&cursor), &outcome);
    if (err == 0 && outcome->has_left)
        err = fail_twice(parser, "left", outcome->name);
    if (err == 0)
        err = parser_number(parser, text_next_word(&cursor), "a number of calls", &outcome->left_calls);
    if (err < 0)
        return err;
    outcome->has_left = true;
    return parser_end_of_line(parser, &cursor);
}

static int parse_op_looks(struct parser *parser, const char *name, char **cursor) {
    struct outcome *outcome;
    int err = find_outcome(parser, name, &outcome);
    if (err == 0 && outcome->has_looks)
        err = fail_twice(parser, "busy_ops", name);
    if (err < 0)
        return err;
    outcome->has_looks = true;
    return parser_number(parser, text_next_word(cursor), "a number of looks", &outcome->busy_looks);
}

/* "READ 310 OPEN 12", or "none" */
int parser_busy_ops(struct parser *parser, char *value) {
    char *cursor = value;
    parser->profile.busy.by_op = true;
    if (strcmp(value, "none") == 0)
        return 0;
    int err = 0;
    const char *name = text_next_word(&cursor);
    do {
        err = parse_op_looks(parser, name, &cursor);
        name = text_next_word(&cursor);
    } while (err == 0 && name[0]);
    return err;
}

void parser_free_outcomes(struct parser *parser) {
    for (size_t i = 0; i < parser->outcome_count; i++)
        free(parser->outcomes[i].longest_path);
    free(parser->outcomes);
}

/* Gives an op the values of its lines. */
static int settle(struct parser *parser, struct outcome *outcome) {
    struct aggstats_op_profile *op = profile_find_op(&parser->profile, outcome->name);
    parser->line_number = outcome->line;
    if (!op)
        return parser_fail(parser, "expected OP_%s behind what is told of its calls", outcome->name);
    op->asked_bytes = outcome->asked_bytes;
    op->moved_bytes = outcome->moved_bytes;
    memcpy(op->failures, outcome->failures, sizeof(op->failures));
    if (!profile_failures_possible(&parser->profile, op))
        return parser_fail(parser, "expected not more failed calls of OP_%s than calls that have ended", op->name);
    op->longest_cycles = outcome->longest_cycles;
    op->longest_object = outcome->longest_object;
    op->longest_path = steal_pointer(&outcome->longest_path);
    if (!profile_longest_possible(&parser->profile, op))
        return parser_fail(parser, "expected the longest call of OP_%s in its last bucket that has calls", op->name);
    op->busy_looks = outcome->busy_looks;
    if (op->busy_looks > parser->profile.busy.busy)
        return parser_fail(parser, "expected not more busy looks of OP_%s than of all operations", op->name);
    op->left_calls = outcome->left_calls;
    if (!profile_left_possible(&parser->profile, op))
        return parser_fail(parser, "expected not more calls of OP_%s that were left than have not ended", op->name);
    return 0;
}

int parser_settle_outcomes(struct parser *parser) {
    const size_t line_number = parser->line_number;
    for (size_t i = 0; i < parser->outcome_count; i++) {
        int err = settle(parser, &parser->outcomes[i]);
        if (err < 0)
            return err;
    }
    parser->line_number = line_number;
    return 0;
}

/* Looks, failures, bytes and longest calls, as lines of the header: readers that do not know them take them for labels. They
 * come before the operations, so the parser keeps them until it has these. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile_owned.h"
#include "text_parser.h"

/* ---- Writing ---- */

void text_write_busy_ops(const struct aggstats_profile *profile, FILE *stream) {
    bool has_any = false;
    if (!profile->busy.by_op)
        return;
    fputs("# busy_ops:", stream);
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (op->busy_looks > 0)
            fprintf(stream, " %s %" PRIu64, op->name, op->busy_looks);
        has_any |= op->busy_looks > 0;
    }
    fputs(has_any ? "\n" : " none\n", stream);
}

void text_write_failed(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (aggstats_failed_calls(op) == 0)
            continue;
        fprintf(stream, "# failed: %s", op->name);
        for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
            if (op->failures[failure] > 0)
                fprintf(stream, " %s %" PRIu64, aggstats_failure_name(failure), op->failures[failure]);
        putc('\n', stream);
    }
}

void text_write_bytes(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (op->asked_bytes > 0 || op->moved_bytes > 0)
            fprintf(stream, "# bytes: %s asked %" PRIu64 " moved %" PRIu64 "\n", op->name, op->asked_bytes,
                    op->moved_bytes);
    }
}

void text_write_longest(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (op->longest_cycles == 0)
            continue;
        fprintf(stream, "# longest: %s %" PRIu64 " object %" PRIu64, op->name, op->longest_cycles, op->longest_object);
        text_write_path(op->longest_path, stream);
    }
}

void text_write_left(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++)
        if (profile->ops[i].left_calls > 0)
            fprintf(stream, "# left: %s %" PRIu64 "\n", profile->ops[i].name, profile->ops[i].left_calls);
}

/* ---- Reading ---- */

enum line { FAILED, BYTES, LONGEST, LEFT, LOOKS };

static const char *const keys[] = {
    [FAILED] = "failed", [BYTES] = "bytes", [LONGEST] = "longest", [LEFT] = "left", [LOOKS] = "busy_ops"};

/* The lines of one op. */
struct outcome {
    size_t line;                   /* the latest one */
    unsigned seen;                 /* 1 << enum line */
    struct aggstats_op_profile op; /* has its name and what the lines say; the op in the profile takes the path over */
};

/* That of the op which is the next word, added if it is new. Errors: -ENOMEM, -EBADMSG */
static int begin(struct parser *parser, char **cursor, enum line line, struct aggstats_op_profile **ret_op) {
    struct outcome added = {.line = parser->line_number};
    size_t i = 0;
    int err = parser_name(parser, text_next_word(cursor), added.op.name);
    if (err < 0)
        return err;
    while (i < parser->outcome_count && strcmp(parser->outcomes[i].op.name, added.op.name) != 0)
        i++;
    if (i == parser->outcome_count) {
        if (i == OPS_MAX)
            return parser_fail(parser, "expected at most %d operations", OPS_MAX);
        struct outcome *grown = parser_grow(parser->outcomes, i, sizeof(added));
        if (!grown)
            return -ENOMEM;
        parser->outcomes = grown;
        parser->outcomes[parser->outcome_count++] = added;
    }
    struct outcome *outcome = &parser->outcomes[i];
    if (outcome->seen & 1U << line)
        return parser_fail(parser, "expected one \"%s\" line of OP_%s, found a second one", keys[line],
                           outcome->op.name);
    outcome->seen |= 1U << line;
    outcome->line = parser->line_number;
    *ret_op = &outcome->op;
    return 0;
}

/* "READ ENOENT 12 EACCES 3" */
int parser_failed(struct parser *parser, char *value) {
    bool seen[AGGSTATS_FAILURES] = {false};
    struct aggstats_op_profile *op;
    char *cursor = value;
    int err = begin(parser, &cursor, FAILED, &op);
    if (err < 0)
        return err;
    char *word = text_next_word(&cursor);
    do {
        const int failure = aggstats_failure_of_name(word);
        if (failure < 0)
            return parser_fail_expected(parser, "the name of an error, such as ENOENT, or other", word);
        if (seen[failure])
            return parser_fail(parser, "expected every error once, found %s a second time", word);
        seen[failure] = true;
        err = parser_number(parser, text_next_word(&cursor), "a number of calls", &op->failures[failure]);
        word = text_next_word(&cursor);
    } while (err == 0 && word[0]);
    return err;
}

/* "READ asked 4096 moved 100" */
int parser_bytes(struct parser *parser, char *value) {
    struct aggstats_op_profile *op;
    char *cursor = value;
    int err = begin(parser, &cursor, BYTES, &op);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "asked", &op->asked_bytes);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "moved", &op->moved_bytes);
    return err < 0 ? err : parser_end_of_line(parser, &cursor);
}

/* "READ 30737418 object 12 path /srv/a file" */
int parser_longest(struct parser *parser, char *value) {
    struct aggstats_op_profile *op;
    char *cursor = value;
    int err = begin(parser, &cursor, LONGEST, &op);
    if (err == 0)
        err = parser_number(parser, text_next_word(&cursor), "the latency of a call in cycles", &op->longest_cycles);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "object", &op->longest_object);
    return err < 0 ? err : parser_path(parser, &cursor, &op->longest_path);
}

/* "READ 3" */
int parser_left(struct parser *parser, char *value) {
    struct aggstats_op_profile *op;
    char *cursor = value;
    int err = begin(parser, &cursor, LEFT, &op);
    return err < 0 ? err : parser_only_number(parser, cursor, "a number of calls", &op->left_calls);
}

/* "READ 310 OPEN 12", or "none" */
int parser_busy_ops(struct parser *parser, char *value) {
    struct aggstats_op_profile *op;
    char *cursor = value;
    int err = 0;
    parser->profile.busy.by_op = true;
    if (strcmp(value, "none") == 0)
        return 0;
    do {
        err = begin(parser, &cursor, LOOKS, &op);
        if (err == 0) /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): then begin() has found the operation */
            err = parser_number(parser, text_next_word(&cursor), "a number of looks", &op->busy_looks);
        text_skip_blanks(&cursor);
    } while (err == 0 && *cursor);
    return err;
}

void parser_free_outcomes(struct parser *parser) {
    for (size_t i = 0; i < parser->outcome_count; i++)
        free(parser->outcomes[i].op.longest_path);
    free(parser->outcomes);
}

/* Gives an op the values of its lines. */
static int settle(struct parser *parser, struct outcome *outcome) {
    struct aggstats_op_profile *told = &outcome->op;
    struct aggstats_op_profile *op = profile_find_op(&parser->profile, told->name);
    parser->line_number = outcome->line;
    if (!op)
        return parser_fail(parser, "expected OP_%s behind what is told of its calls", told->name);
    op->asked_bytes = told->asked_bytes;
    op->moved_bytes = told->moved_bytes;
    memcpy(op->failures, told->failures, sizeof(op->failures));
    if (!profile_failures_possible(&parser->profile, op))
        return parser_fail(parser, "expected not more failed calls of OP_%s than calls that have ended", op->name);
    op->longest_cycles = told->longest_cycles;
    op->longest_object = told->longest_object;
    op->longest_path = steal_pointer(&told->longest_path);
    if (!profile_longest_possible(&parser->profile, op))
        return parser_fail(parser, "expected the longest call of OP_%s in its last bucket that has calls", op->name);
    op->busy_looks = told->busy_looks;
    if (op->busy_looks > parser->profile.busy.busy)
        return parser_fail(parser, "expected not more busy looks of OP_%s than of all operations", op->name);
    op->left_calls = told->left_calls;
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

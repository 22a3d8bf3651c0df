/* Reading profiles (osprof(5)). Strict: what the grammar in text_format.h does not allow is an error that names the
 * line and what was expected there, because a profile misread is worse than one refused. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "aggstats/counted.h"
#include "base.h"
#include "facts.h"
#include "profile_owned.h"
#include "text_parser.h"

#define LABELS_MAX 65536
#define GROUPS_MAX 32768     /* of all groupings */
#define GROUP_OPS_MAX 262144 /* in all groups */

/* ---- The header ---- */

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

static int parse_field(struct parser *parser, const char *key, char *value) {
    const struct fact *fact = fact_of(key);
    if (fact) {
        const uint64_t bit = UINT64_C(1) << (fact - facts);
        if (!fact->repeats && parser->facts_seen & bit)
            return parser_fail(parser, "expected only one \"%s\" line, found a second one", fact->key);
        parser->facts_seen |= bit;
        return fact_parse(fact, parser, &parser->profile, value);
    }
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
static bool is_version(const char *line) {
    return strncmp(line, version_key, strlen(version_key)) == 0 && !strchr(line, ':');
}

static int parse_version(struct parser *parser) {
    uint64_t version = 0;
    int err = parser_only_number(parser, parser->line + strlen(version_key), "a version", &version);
    if (err == 0 && version > TEXT_VERSION)
        err = parser_fail(parser, "expected osprof version %d or older, found %" PRIu64, TEXT_VERSION, version);
    return err;
}

static int parse_header_line(struct parser *parser) {
    char *line = parser->line;
    if (parser->line_number == parser->first_line && is_version(line))
        return parse_version(parser);
    char *colon = strchr(line, ':');
    if (strncmp(line, "# ", 2) != 0 || !colon)
        return parser_fail_expected(parser, "\"# key: value\"", line);
    *colon = '\0';
    char *value = colon + 1;
    return parse_field(parser, line + 2, value + (*value == ' '));
}

/* ---- Operations ---- */

static const char op_prefix[] = "OP_";
static const char joint_prefix[] = "JOINT_";

static bool begins_with(const char *line, const char *prefix) {
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

/* What " 0 0 120" holds, into row; *sum is raised by it, and may not become more than most. what: it is of */
static int parse_counts(struct parser *parser, char *cursor, uint64_t row[AGGSTATS_BUCKETS_MAX], uint64_t *sum,
                        uint64_t most, const char *what) {
    const unsigned bucket_count = 64 * parser->profile.resolution;
    char *word = text_next_word(&cursor);
    memset(row, 0, sizeof(uint64_t[AGGSTATS_BUCKETS_MAX]));
    unsigned bucket = 0;
    do {
        uint64_t count = 0;
        int err = parser_number(parser, word, "bucket counts separated by blanks, or -", &count);
        if (err < 0)
            return err;
        if (bucket == bucket_count)
            return parser_fail(parser, "expected at most %u buckets", bucket_count);
        if (__builtin_add_overflow(*sum, count, sum) || *sum > most)
            return parser_fail(parser, "expected buckets that sum up to at most %" PRIu64 " calls of OP_%s", most,
                               what);
        row[bucket++] = count;
        word = text_next_word(&cursor);
    } while (word[0]);
    return 0;
}

/* The rows of one op while they are being read. */
struct rows {
    struct aggstats_op_profile *op;
    uint64_t finished_calls;
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    uint32_t count;
    struct cells samples;
};

/* The next line: " 0 0 120", or "-" for none. */
static int parse_row(struct parser *parser, struct rows *rows) {
    int more = parser_next_line(parser);
    if (more < 0)
        return more;
    if (more == 0)
        return parser_fail(parser, "expected a row of bucket counts after OP_%s, found the end of the file",
                           rows->op->name);
    char *cursor = parser->line;
    text_skip_blanks(&cursor);
    if (*cursor == '-' && (cursor[1] == '\0' || text_is_blank(cursor[1]))) {
        memset(rows->row, 0, sizeof(rows->row));
        cursor++;
        return parser_end_of_line(parser, &cursor);
    }
    int err = parse_counts(parser, cursor, rows->row, &rows->finished_calls, rows->op->calls, rows->op->name);
    for (unsigned bucket = 0; bucket < 64 * parser->profile.resolution && err == 0; bucket++)
        rows->op->buckets[bucket] += rows->row[bucket];
    return err;
}

/* 1: the next line is a row. */
static int row_follows(struct parser *parser) {
    int more = parser_next_line(parser);
    if (more <= 0)
        return more;
    parser->line_again = true;
    return parser->line[0] != '#' && !begins_with(parser->line, op_prefix) && !begins_with(parser->line, joint_prefix);
}

/* If the file has borders, there are at most as many rows. */
static int parse_intervals(struct parser *parser, struct rows *rows) {
    const size_t most = parser->has_borders ? parser->profile.interval_count : INTERVALS_MAX;
    int more;
    do {
        int err = parse_row(parser, rows);
        if (err < 0)
            return err;
        if (rows->count == most)
            return parser_fail(parser, "expected at most %zu intervals", most);
        if (cells_reserve(&rows->samples, ARRAY_SIZE(rows->row)) < 0)
            return -ENOMEM;
        cells_append_row(&rows->samples, rows->count++, rows->row, AGGSTATS_BUCKETS_MAX);
        more = row_follows(parser);
    } while (more > 0);
    if (parser->rows_most < rows->count)
        parser->rows_most = rows->count;
    return more;
}

/* Appends to the whole, or to a group, an op that has its name, with empty buckets. */
static int add_op(struct parser *parser, struct aggstats_profile *profile, const char *text) {
    char name[AGGSTATS_NAME_SIZE];
    int err = parser_name(parser, text, name);
    if (err < 0)
        return err;
    if (aggstats_profile_op(profile, name))
        return parser_fail(parser, "expected every operation once, found OP_%s a second time", name);
    if (profile->op_count == OPS_MAX)
        return parser_fail(parser, "expected at most %d operations", OPS_MAX);
    return counted_op_of(profile, name) ? 0 : -ENOMEM;
}

/* "OP_LOOKUP 13640 3069650000" and its row. */
static int parse_op(struct parser *parser, struct aggstats_profile *profile) {
    char *cursor = parser->line;
    int err = add_op(parser, profile, text_next_word(&cursor) + strlen(op_prefix));
    if (err < 0)
        return err;
    struct aggstats_op_profile *op = &profile->ops[profile->op_count - 1];
    err = parser_number(parser, text_next_word(&cursor), "the number of calls", &op->calls);
    if (err == 0)
        err = parser_number(parser, text_next_word(&cursor), "the total latency in cycles", &op->total_cycles);
    if (err == 0)
        err = parser_end_of_line(parser, &cursor);
    if (err < 0)
        return err;
    struct rows rows = {.op = op};
    if (profile->interval_cycles == 0)
        return parse_row(parser, &rows);
    err = parse_intervals(parser, &rows);
    op->samples = rows.samples.cells;
    op->sample_count = rows.samples.count;
    return err;
}

/* ---- Joint profiles ---- */

/* Cuts "READ_PAST_EOF" in two. */
static int parse_joint_name(struct parser *parser, char *name, struct aggstats_joint_profile *joint) {
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++) {
        const char *ending = aggstats_value_name(value);
        size_t length = strlen(name);
        size_t ending_length = strlen(ending);
        if (length <= ending_length + 1 || name[length - ending_length - 1] != '_' ||
            strcmp(name + length - ending_length, ending) != 0)
            continue;
        joint->value = (enum aggstats_value)value;
        name[length - ending_length - 1] = '\0';
        return parser_name(parser, name, joint->op);
    }
    return parser_fail(parser, "expected JOINT_<NAME>_<VALUE>, found \"JOINT_%.40s\"", name);
}

/* "4096: 0 0 12" */
static int parse_joint_row(struct parser *parser, const struct aggstats_joint_profile *joint, struct cells *cells,
                           uint64_t *sum) {
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    uint64_t number;
    char *counts = strchr(parser->line, ':');
    if (!counts)
        return parser_fail_expected(parser, "\"value: counts\"", parser->line);
    *counts++ = '\0';
    int err = parser_only_number(parser, parser->line, "a value", &number);
    if (err < 0)
        return err;
    unsigned row_number = aggstats_value_row(joint->value, number);
    if (aggstats_value_first(joint->value, row_number) != number ||
        (cells->count > 0 && cells->cells[cells->count - 1].row >= row_number))
        return parser_fail(parser, "expected values in ascending order, the first of each row");
    const struct aggstats_op_profile *op = aggstats_profile_op(&parser->profile, joint->op);
    err = parse_counts(parser, counts, row, sum, op->calls, op->name);
    if (err == 0)
        err = cells_reserve(cells, ARRAY_SIZE(row));
    if (err == 0)
        cells_append_row(cells, row_number, row, ARRAY_SIZE(row));
    return err;
}

static int parse_joint_rows(struct parser *parser, const struct aggstats_joint_profile *joint, struct cells *cells) {
    uint64_t sum = 0;
    int more;
    while ((more = row_follows(parser)) > 0) {
        parser->line_again = false;
        int err = parse_joint_row(parser, joint, cells, &sum);
        if (err < 0)
            return err;
    }
    return more;
}

/* "JOINT_READ_SIZE" and its rows. */
static int parse_joint(struct parser *parser) {
    struct aggstats_joint_profile joint = {.cells = NULL};
    struct cells cells = {.cells = NULL};
    char *cursor = parser->line + strlen(joint_prefix);
    int err = parse_joint_name(parser, text_next_word(&cursor), &joint);
    if (err == 0)
        err = parser_end_of_line(parser, &cursor);
    if (err == 0 && !aggstats_profile_op(&parser->profile, joint.op))
        err = parser_fail(parser, "expected OP_%s before its joint profiles", joint.op);
    if (err == 0 && profile_find_joint(&parser->profile, joint.op, joint.value))
        err = parser_fail(parser, "expected every joint profile once, found one a second time");
    if (err == 0)
        err = parse_joint_rows(parser, &joint, &cells);
    struct aggstats_joint_profile *added = err == 0 ? profile_add_joint(&parser->profile, joint.op) : NULL;
    if (!added) {
        free(cells.cells);
        return err < 0 ? err : -ENOMEM;
    }
    added->value = joint.value;
    added->cells = cells.cells;
    added->cell_count = cells.count;
    return 0;
}

/* ---- Groups ---- */

static bool is_who(const char *text, enum aggstats_who who) {
    return strcmp(text, aggstats_who_name(who)) == 0;
}

/* "4711 grep", "1000", "kernel", "other"; where groups have no numbers "grep"; of a file or directory "1200 /src/a.c"
 */
static int parse_who(struct parser *parser, char *value, struct aggstats_group *group) {
    if (is_who(value, AGGSTATS_WHO_KERNEL) || is_who(value, AGGSTATS_WHO_OTHER)) {
        group->who = is_who(value, AGGSTATS_WHO_KERNEL) ? AGGSTATS_WHO_KERNEL : AGGSTATS_WHO_OTHER;
        return 0;
    }
    char *cursor = value;
    int err = 0;
    if (aggstats_grouping_has_objects(group->grouping))
        err = parser_number(parser, text_next_word(&cursor), "cycles, kernel or other", &group->missed_cycles_max);
    else if (aggstats_grouping_has_ids(group->grouping))
        err = parser_number(parser, text_next_word(&cursor), "a number, kernel or other", &group->id);
    if (err < 0)
        return err;
    text_unescape(cursor);
    if (strlen(cursor) >= sizeof(group->name))
        return parser_fail(parser, "expected a name of at most %zu bytes", sizeof(group->name) - 1);
    memcpy(group->name, cursor, strlen(cursor) + 1);
    return 0;
}

/* The kernel and the others are one each in a grouping. */
static int check_group(struct parser *parser, const struct aggstats_group *group) {
    const struct aggstats_profile *profile = &parser->profile;
    if (profile->group_count == GROUPS_MAX)
        return parser_fail(parser, "expected at most %d groups", GROUPS_MAX);
    if (profile->op_count > AGGSTATS_OPS_MAX)
        return parser_fail(parser, "expected at most %d operations where there are groups", AGGSTATS_OPS_MAX);
    for (size_t i = 0; i < profile->group_count && group->who != AGGSTATS_WHO_ID; i++)
        if (profile->groups[i].grouping == group->grouping && profile->groups[i].who == group->who)
            return parser_fail(parser, "expected \"%s\" once, found it a second time", aggstats_who_name(group->who));
    return 0;
}

static int add_group(struct parser *parser, const struct aggstats_group *group) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_group *grown = parser_grow(profile->groups, profile->group_count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->groups = grown;
    profile->groupings |= 1U << group->grouping;
    profile->groups[profile->group_count] = *group;
    profile->groups[profile->group_count++].profile =
        (struct aggstats_profile){.resolution = profile->resolution,
                                  .clock = profile->clock,
                                  .has_cache = profile->has_cache && aggstats_grouping_has_objects(group->grouping)};
    if (!parser->grouped_calls)
        parser->grouped_calls = calloc(profile->op_count, sizeof(*parser->grouped_calls) * AGGSTATS_GROUPINGS);
    return parser->grouped_calls ? 0 : -ENOMEM;
}

/* "# process: 4711 grep", "# uid: kernel"; "# cache_read: 4096" of the latest group */
static int parse_group(struct parser *parser) {
    char *line = parser->line;
    char *colon = strncmp(line, "# ", 2) == 0 ? strchr(line, ':') : NULL;
    if (!colon)
        return parser_fail_expected(parser, "OP_<NAME> or the end of the file", line);
    *colon = '\0';
    char *value = colon + 1 + (colon[1] == ' ');
    const struct fact *fact = fact_of(line + 2);
    const size_t count = parser->profile.group_count;
    struct aggstats_profile *latest = count > 0 ? &parser->profile.groups[count - 1].profile : NULL;
    if (fact && fact->of_groups && latest && latest->op_count == 0)
        return fact_parse(fact, parser, latest, value);
    struct aggstats_group group = {.who = AGGSTATS_WHO_ID, .grouping = aggstats_grouping_of_name(line + 2)};
    if (group.grouping == AGGSTATS_UNGROUPED)
        return parser_fail_expected(parser, "OP_<NAME> or the end of the file", line);
    int err = parse_who(parser, value, &group);
    if (err == 0)
        err = check_group(parser, &group);
    return err < 0 ? err : add_group(parser, &group);
}

/* An op of the latest group: those of one grouping have no more calls together than the whole. */
static int parse_group_op(struct parser *parser) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_group *group = &profile->groups[profile->group_count - 1];
    struct aggstats_profile *of_group = &group->profile;
    if (parser->group_op_count++ == GROUP_OPS_MAX)
        return parser_fail(parser, "expected at most %d operations in all groups", GROUP_OPS_MAX);
    int err = parse_op(parser, of_group);
    if (err < 0)
        return err;
    const struct aggstats_op_profile *op = &of_group->ops[of_group->op_count - 1];
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < profile_bucket_count(profile); bucket++)
        finished += op->buckets[bucket];
    if (op->calls == 0 || op->calls != finished)
        return parser_fail(parser, "expected all calls of OP_%s of a group in its buckets", op->name);
    const struct aggstats_op_profile *whole = aggstats_profile_op(profile, op->name);
    if (!whole)
        return parser_fail(parser, "expected OP_%s before its groups", op->name);
    size_t place = group->grouping * profile->op_count + (size_t)(whole - profile->ops);
    uint64_t *grouped_calls = &parser->grouped_calls[place];
    if (__builtin_add_overflow(*grouped_calls, op->calls, grouped_calls) || *grouped_calls > whole->calls)
        return parser_fail(parser, "expected groups that sum up to at most %" PRIu64 " calls of OP_%s", whole->calls,
                           op->name);
    return 0;
}

/* ---- The whole ---- */

/* Without borders every interval has the length of the line "interval". */
static int complete_borders(struct parser *parser) {
    struct aggstats_profile *profile = &parser->profile;
    if (parser->has_borders && profile->interval_cycles == 0)
        return parser_fail(parser, "expected a line \"interval\" where there is one of \"borders\"");
    if (parser->has_borders || parser->rows_most == 0)
        return 0;
    profile->borders = calloc(parser->rows_most, sizeof(*profile->borders));
    if (!profile->borders)
        return -ENOMEM;
    for (; profile->interval_count < parser->rows_most; profile->interval_count++) {
        if (__builtin_mul_overflow(profile->interval_count + 1, profile->interval_cycles,
                                   &profile->borders[profile->interval_count]))
            return parser_fail(parser, "expected intervals that end before cycle 2^64");
    }
    return 0;
}

/* First the header, then operations, joint profiles, groups. */
static int parse_line(struct parser *parser) {
    const struct aggstats_profile *profile = &parser->profile;
    bool is_op = begins_with(parser->line, op_prefix);
    if (parser->line_number > parser->first_line && is_version(parser->line)) { /* the profile behind this one */
        if (parser->is_alone)
            return parser_fail(parser, "expected a single profile, found a recording of several");
        parser->has_next = true;
        return parse_version(parser);
    }
    if (parser->line[0] == '#')
        return profile->op_count == 0 ? parse_header_line(parser) : parse_group(parser);
    if (profile->group_count > 0)
        return is_op ? parse_group_op(parser)
                     : parser_fail_expected(parser, "OP_<NAME> or another group", parser->line);
    if (begins_with(parser->line, joint_prefix))
        return parse_joint(parser);
    if (!is_op || profile->joint_count > 0)
        return parser_fail_expected(parser, "OP_<NAME> or the end of the file", parser->line);
    return parse_op(parser, &parser->profile);
}

/* What begins with a NUL byte may be a device, whose line never ends. */
static int check_first_byte(struct parser *parser) {
    errno = 0;
    int first = getc(parser->stream);
    if (first == EOF && ferror(parser->stream))
        return negative_errno();
    parser->line_number = first == '\0';
    if (first == '\0')
        return parser_fail(parser, "expected text, found a NUL byte");
    ungetc(first, parser->stream);
    return 0;
}

static int parse_text(struct parser *parser) {
    int more = parser->line_number == 0 ? check_first_byte(parser) : 0;
    if (more < 0)
        return more;
    while (!parser->has_next && (more = parser_next_line(parser)) > 0) {
        int err = parse_line(parser);
        if (err < 0)
            return err;
    }
    if (more == 0 && parser->line_number == 0)
        return parser_fail(parser, "expected \"# osprof %d\" or OP_<NAME>, found nothing", TEXT_VERSION);
    if (more < 0)
        return more;
    int err = complete_borders(parser);
    return err < 0 ? err : parser_settle_outcomes(parser);
}

static int parse(struct parser *parser, struct aggstats_profile *ret_profile) {
    int err = parse_text(parser);
    free(parser->line);
    free(parser->grouped_calls);
    parser_free_outcomes(parser);
    parser_free_stacks(parser);
    if (err < 0) {
        aggstats_profile_finish(&parser->profile);
        return err;
    }
    aggstats_profile_sort(&parser->profile);
    counted_sort_groups(&parser->profile);
    *ret_profile = parser->profile;
    return 0;
}

static struct parser parser_of(FILE *stream, struct aggstats_parse_error *error) {
    return (struct parser){.stream = stream, .first_line = 1, .profile = {.resolution = 1}, .error = error};
}

int aggstats_profile_parse(FILE *stream, struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error) {
    struct aggstats_parse_error unused;
    struct parser parser = parser_of(stream, ret_error ? ret_error : &unused);
    parser.is_alone = true;
    return parse(&parser, ret_profile);
}

int aggstats_profile_parse_next(FILE *stream, struct aggstats_text_position *position,
                                struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error) {
    struct aggstats_parse_error unused;
    struct parser parser = parser_of(stream, ret_error ? ret_error : &unused);
    if (position->line_count > 0 && !position->is_at_profile)
        return 0;
    parser.line_number = position->line_count;
    parser.first_line = position->line_count > 0 ? position->line_count : 1; /* which has been read already */
    int err = parse(&parser, ret_profile);
    *position = (struct aggstats_text_position){.line_count = parser.line_number, .is_at_profile = parser.has_next};
    return err < 0 ? err : 1;
}

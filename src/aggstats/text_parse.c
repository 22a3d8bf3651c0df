/* Reading profiles (osprof(5)). Strict: what the grammar in text.h does not allow is an error that names the line and
 * what was expected there, because a profile misread is worse than one refused.
 *
 * Every function that meets an error ends with `return fail(...)`, which fills the caller's error and gives -EBADMSG.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile.h"
#include "samples.h"
#include "text.h"

#define NS_PER_SECOND 1000000000
#define INTERVALS_MAX 1048576
#define OPS_MAX 4096 /* bounds what a small hostile text can make us allocate */
#define GROUPS_MAX 65536

struct parser {
    FILE *stream;
    char *line; /* the current line without its end */
    size_t line_capacity;
    size_t line_number;
    struct aggstats_profile profile;
    unsigned keys_seen; /* bit i: keys[i] */
    bool has_borders;
    uint32_t rows_most;      /* of any op so far */
    bool line_again;         /* the current line is to be read once more */
    uint64_t *grouped_calls; /* of each op, in all groups so far */
    struct aggstats_parse_error *error;
};

/* ---- Errors ---- */

__attribute__((format(printf, 2, 3))) static int fail(struct parser *parser, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    parser->error->line = parser->line_number;
    vsnprintf(parser->error->message, sizeof(parser->error->message), format, arguments);
    va_end(arguments);
    for (char *c = parser->error->message; *c; c++) /* parts of the text end up here, and it on terminals */
        if (text_is_control((unsigned char)*c))
            *c = '?';
    return -EBADMSG;
}

static int fail_expected(struct parser *parser, const char *expected, const char *found) {
    return found[0] ? fail(parser, "expected %s, found \"%.40s\"", expected, found)
                    : fail(parser, "expected %s, found the end of the line", expected);
}

/* ---- Lines and words ---- */

/* 1: parser->line is the next line; 0: end of the text. */
static int next_line(struct parser *parser) {
    if (parser->line_again) {
        parser->line_again = false;
        return 1;
    }
    errno = 0;
    ssize_t length = getline(&parser->line, &parser->line_capacity, parser->stream);
    if (length < 0)
        return feof(parser->stream) && !ferror(parser->stream) ? 0 : negative_errno();
    parser->line_number++;
    if (memchr(parser->line, '\0', (size_t)length))
        return fail(parser, "expected text, found a NUL byte");
    if (parser->line[length - 1] == '\n')
        parser->line[--length] = '\0';
    if (length > 0 && parser->line[length - 1] == '\r')
        parser->line[--length] = '\0';
    return 1;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void skip_blanks(char **cursor) {
    while (is_blank(**cursor))
        (*cursor)++;
}

/* Skips blanks and cuts off the next word; "" at the end of the line. */
static char *next_word(char **cursor) {
    skip_blanks(cursor);
    char *word = *cursor;
    while (**cursor && !is_blank(**cursor))
        (*cursor)++;
    if (**cursor)
        *(*cursor)++ = '\0';
    return word;
}

static int parse_number(struct parser *parser, const char *word, const char *expected, uint64_t *ret_number) {
    uint64_t number = 0;
    if (!word[0])
        return fail_expected(parser, expected, word);
    for (const char *digit = word; *digit; digit++) {
        if (!is_digit(*digit))
            return fail_expected(parser, expected, word);
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number))
            return fail(parser, "expected %s below 2^64, found \"%.40s\"", expected, word);
    }
    *ret_number = number;
    return 0;
}

static int parse_end_of_line(struct parser *parser, char **cursor) {
    skip_blanks(cursor);
    return **cursor ? fail_expected(parser, "the end of the line", *cursor) : 0;
}

/* A line that holds one number. */
static int parse_only_number(struct parser *parser, char *text, const char *expected, uint64_t *ret_number) {
    int err = parse_number(parser, next_word(&text), expected, ret_number);
    return err < 0 ? err : parse_end_of_line(parser, &text);
}

/* A word that must stand there. */
static int parse_keyword(struct parser *parser, char **cursor, const char *keyword) {
    const char *word = next_word(cursor);
    return strcmp(word, keyword) == 0 ? 0 : fail_expected(parser, keyword, word);
}

/* ---- Header: values that the format defines ---- */

static uint32_t clock_kind_of(const char *name) {
    for (uint32_t kind = AGGSTATS_CLOCK_TSC; aggstats_clock_name(kind); kind++)
        if (strcmp(name, aggstats_clock_name(kind)) == 0)
            return kind;
    return 0;
}

/* "tsc 2500000000 Hz"; either half may be missing. */
static int parse_clock(struct parser *parser, char *value) {
    struct aggstats_clock *clock = &parser->profile.clock;
    char *cursor = value;
    char *word = next_word(&cursor);
    if (!is_digit(word[0])) {
        clock->kind = clock_kind_of(word);
        if (clock->kind == 0)
            return fail_expected(parser, "tsc, cntvct or monotonic", word);
        word = next_word(&cursor);
        if (!word[0])
            return 0;
    }
    int err = parse_number(parser, word, "the clock's rate", &clock->frequency_hz);
    if (err == 0 && clock->frequency_hz == 0)
        err = fail_expected(parser, "a clock rate above 0", word);
    if (err == 0)
        err = parse_keyword(parser, &cursor, "Hz");
    return err < 0 ? err : parse_end_of_line(parser, &cursor);
}

static int parse_resolution(struct parser *parser, char *value) {
    uint64_t resolution;
    int err = parse_only_number(parser, value, "a resolution", &resolution);
    if (err < 0)
        return err;
    if (resolution > AGGSTATS_RESOLUTION_MAX || !aggstats_resolution_valid((unsigned)resolution))
        return fail_expected(parser, "resolution 1, 2, 4 or 8", value);
    parser->profile.resolution = (unsigned)resolution;
    return 0;
}

/* Nanoseconds of ".123" (up to nine digits); false if that is not what stands there. */
static bool scan_fraction(const char **cursor, int64_t *ret_ns) {
    int64_t ns = 0;
    int64_t unit_ns = NS_PER_SECOND;
    if (**cursor == '.') {
        (*cursor)++;
        if (!is_digit(**cursor))
            return false;
        for (; is_digit(**cursor); (*cursor)++) {
            unit_ns /= 10;
            if (unit_ns == 0)
                return false;
            ns += (**cursor - '0') * unit_ns;
        }
    }
    *ret_ns = ns;
    return true;
}

/* timegm() turns February 30 into March 2; a date that does not survive the way back was none. */
static bool is_date(const struct tm *tm) {
    struct tm copy = *tm;
    struct tm back;
    time_t seconds = timegm(&copy);
    return gmtime_r(&seconds, &back) && back.tm_year == tm->tm_year && back.tm_mon == tm->tm_mon &&
           back.tm_mday == tm->tm_mday && back.tm_hour == tm->tm_hour && back.tm_min == tm->tm_min &&
           back.tm_sec == tm->tm_sec;
}

/* The profile's start from its parts; false if 64 bits of nanoseconds cannot hold it. */
static bool join_time(struct tm *tm, int64_t ns, int64_t *ret_ns) {
    int64_t seconds = timegm(tm);
    if (seconds < 0 && ns > 0) { /* the earliest second fits only together with its fraction */
        seconds++;
        ns -= NS_PER_SECOND;
    }
    int64_t whole_ns;
    return !__builtin_mul_overflow(seconds, NS_PER_SECOND, &whole_ns) && !__builtin_add_overflow(whole_ns, ns, ret_ns);
}

/* The number that count digits make. */
static int number_of_digits(const char *digits, int count) {
    int number = 0;
    for (int i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

static int parse_start(struct parser *parser, char *value) {
    static const char shape[] = "dddd-dd-ddTdd:dd:dd";
    static const char expected[] = "a time like 2026-11-21T02:30:00.123456789Z";
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'd' ? !is_digit(value[i]) : value[i] != shape[i])
            return fail_expected(parser, expected, value);
    struct tm tm = {
        .tm_year = number_of_digits(value, 4) - 1900,
        .tm_mon = number_of_digits(value + 5, 2) - 1,
        .tm_mday = number_of_digits(value + 8, 2),
        .tm_hour = number_of_digits(value + 11, 2),
        .tm_min = number_of_digits(value + 14, 2),
        .tm_sec = number_of_digits(value + 17, 2),
    };
    const char *cursor = value + strlen(shape);
    int64_t ns;
    if (!scan_fraction(&cursor, &ns) || strcmp(cursor, "Z") != 0 || !is_date(&tm) ||
        !join_time(&tm, ns, &parser->profile.start_ns))
        return fail_expected(parser, expected, value);
    parser->profile.has_start = true;
    return 0;
}

static int parse_elapsed(struct parser *parser, char *value) {
    parser->profile.has_elapsed = true;
    return parse_only_number(parser, value, "a number of cycles", &parser->profile.elapsed_cycles);
}

static int parse_clamped(struct parser *parser, char *value) {
    return parse_only_number(parser, value, "a number of calls", &parser->profile.clamped);
}

static int parse_incomplete(struct parser *parser, char *value) {
    parser->profile.incomplete = strcmp(value, "yes") == 0;
    return parser->profile.incomplete || strcmp(value, "no") == 0 ? 0 : fail_expected(parser, "yes or no", value);
}

/* Room for one more element; moves the array. */
static void *grow(void *array, size_t count, size_t size_bytes) {
    const bool full = (count & (count - 1)) == 0; /* capacities are powers of two */
    return full ? reallocarray(array, count ? 2 * count : 1, size_bytes) : array;
}

static int parse_name(struct parser *parser, const char *word, char ret_name[AGGSTATS_NAME_SIZE]) {
    if (!text_name_valid(word))
        return fail(parser, "expected an operation's name (letters, digits, _-., at most %d), found \"%.40s\"",
                    AGGSTATS_NAME_SIZE - 1, word);
    text_name_copy(ret_name, word);
    return 0;
}

static int parse_keyed_number(struct parser *parser, char **cursor, const char *keyword, uint64_t *ret_number) {
    int err = parse_keyword(parser, cursor, keyword);
    return err < 0 ? err : parse_number(parser, next_word(cursor), "a number", ret_number);
}

/* Turns \ooo back into its character, in place. A backslash before anything else, or \000, stands for itself. */
static void unescape(char *value) {
    char *to = value;
    for (const char *from = value; *from; to++) {
        unsigned code = 0;
        int digits = 0;
        while (*from == '\\' && digits < 3 && from[1 + digits] >= '0' && from[1 + digits] <= '7')
            code = code * 8 + (unsigned)(from[1 + digits++] - '0');
        bool escaped = digits == 3 && code > 0 && code < 256;
        *to = escaped ? (char)code : *from;
        from += escaped ? 4 : 1;
    }
    *to = '\0';
}

/* "path /srv/a file", to the end of the line; or nothing. */
static int parse_path(struct parser *parser, char **cursor, char **ret_path) {
    skip_blanks(cursor);
    if (!**cursor)
        return 0;
    int err = parse_keyword(parser, cursor, "path");
    if (err < 0)
        return err;
    *ret_path = strdup(*cursor);
    if (!*ret_path)
        return -ENOMEM;
    unescape(*ret_path);
    return 0;
}

/* "READ object 12 pid 4711 age 30737418240" */
static int parse_in_flight(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_call_in_flight call = {.path = NULL};
    char *cursor = value;
    int err = parse_name(parser, next_word(&cursor), call.op);
    if (err == 0)
        err = parse_keyed_number(parser, &cursor, "object", &call.object);
    if (err == 0)
        err = parse_keyed_number(parser, &cursor, "pid", &call.pid);
    if (err == 0)
        err = parse_keyed_number(parser, &cursor, "age", &call.age_cycles);
    if (err == 0)
        err = parse_path(parser, &cursor, &call.path);
    if (err < 0)
        return err;
    struct aggstats_call_in_flight *grown = grow(profile->in_flight, profile->in_flight_count, sizeof(call));
    if (!grown) {
        free(call.path);
        return -ENOMEM;
    }
    profile->in_flight = grown;
    profile->in_flight[profile->in_flight_count++] = call;
    return 0;
}

static int parse_interval(struct parser *parser, char *value) {
    uint64_t *interval_cycles = &parser->profile.interval_cycles;
    int err = parse_only_number(parser, value, "a number of cycles", interval_cycles);
    return err == 0 && *interval_cycles == 0 ? fail_expected(parser, "an interval above 0", "0") : err;
}

/* "2500012345 5000001234" */
static int parse_borders(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    char *cursor = value;
    for (const char *word = next_word(&cursor); word[0]; word = next_word(&cursor)) {
        uint64_t border = 0;
        int err = parse_number(parser, word, "a number of cycles", &border);
        if (err < 0)
            return err;
        if (profile->interval_count > 0 && border < profile->borders[profile->interval_count - 1])
            return fail_expected(parser, "borders in ascending order", word);
        if (profile->interval_count == INTERVALS_MAX)
            return fail(parser, "expected at most %d intervals", INTERVALS_MAX);
        uint64_t *grown = grow(profile->borders, profile->interval_count, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        profile->borders = grown;
        profile->borders[profile->interval_count++] = border;
    }
    parser->has_borders = true;
    return 0;
}

static const struct {
    const char *name;
    int (*parse)(struct parser *parser, char *value);
    bool repeatable;
} keys[] = {
    {"clock", parse_clock, false},        {"resolution", parse_resolution, false},
    {"start", parse_start, false},        {"elapsed", parse_elapsed, false},
    {"clamped", parse_clamped, false},    {"incomplete", parse_incomplete, false},
    {"in_flight", parse_in_flight, true}, {"interval", parse_interval, false},
    {"borders", parse_borders, false},
};

/* ---- Header: lines ---- */

static int add_label(struct parser *parser, const char *key, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_label *grown = grow(profile->labels, profile->label_count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->labels = grown;
    unescape(value);
    struct aggstats_label label = {.key = strdup(key), .value = strdup(value)};
    profile->labels[profile->label_count++] = label; /* counted even if half empty: the caller frees it */
    return label.key && label.value ? 0 : -ENOMEM;
}

static enum aggstats_grouping grouping_of_key(const char *key) {
    for (int grouping = AGGSTATS_BY_PROCESS; grouping <= AGGSTATS_BY_UID; grouping++)
        if (strcmp(key, aggstats_grouping_name((enum aggstats_grouping)grouping)) == 0)
            return (enum aggstats_grouping)grouping;
    return AGGSTATS_UNGROUPED;
}

static int parse_field(struct parser *parser, const char *key, char *value) {
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (strcmp(key, keys[i].name) != 0)
            continue;
        if (!keys[i].repeatable && (parser->keys_seen & 1U << i))
            return fail(parser, "expected only one \"%s\" line, found a second one", key);
        parser->keys_seen |= 1U << i;
        return keys[i].parse(parser, value);
    }
    const struct aggstats_label label = {.key = (char *)(uintptr_t)key, .value = value};
    if (grouping_of_key(key) != AGGSTATS_UNGROUPED)
        return fail(parser, "expected OP_<NAME> or the end of the file, found \"%s\"", key);
    if (!text_label_valid(&label))
        return fail_expected(parser, "\"# key: value\"", parser->line);
    return add_label(parser, key, value);
}

static int parse_version(struct parser *parser, char *text) {
    uint64_t version = 0;
    int err = parse_only_number(parser, text, "a version", &version);
    if (err == 0 && version > TEXT_VERSION)
        err = fail(parser, "expected osprof version %d or older, found %" PRIu64, TEXT_VERSION, version);
    return err;
}

static int parse_header_line(struct parser *parser) {
    static const char version[] = "# osprof ";
    char *line = parser->line;
    if (parser->line_number == 1 && strncmp(line, version, strlen(version)) == 0)
        return parse_version(parser, line + strlen(version));
    char *colon = strchr(line, ':');
    if (strncmp(line, "# ", 2) != 0 || !colon)
        return fail_expected(parser, "\"# key: value\"", line);
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
    char *word = next_word(&cursor);
    memset(row, 0, sizeof(uint64_t[AGGSTATS_BUCKETS_MAX]));
    unsigned bucket = 0;
    do {
        uint64_t count = 0;
        int err = parse_number(parser, word, "bucket counts separated by blanks, or -", &count);
        if (err < 0)
            return err;
        if (bucket == bucket_count)
            return fail(parser, "expected at most %u buckets", bucket_count);
        if (__builtin_add_overflow(*sum, count, sum) || *sum > most)
            return fail(parser, "expected buckets that sum up to at most %" PRIu64 " calls of OP_%s", most, what);
        row[bucket++] = count;
        word = next_word(&cursor);
    } while (word[0]);
    return 0;
}

/* The rows of one op as they come. */
struct rows {
    struct aggstats_op_profile *op;
    uint64_t finished_calls;
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    uint32_t count;
    struct samples samples;
};

/* " 0 0 120", or "-" for none. */
static int parse_row(struct parser *parser, struct rows *rows) {
    char *cursor = parser->line;
    skip_blanks(&cursor);
    if (*cursor == '-' && (cursor[1] == '\0' || is_blank(cursor[1]))) {
        memset(rows->row, 0, sizeof(rows->row));
        cursor++;
        return parse_end_of_line(parser, &cursor);
    }
    int err = parse_counts(parser, cursor, rows->row, &rows->finished_calls, rows->op->calls, rows->op->name);
    for (unsigned bucket = 0; bucket < 64 * parser->profile.resolution && err == 0; bucket++)
        rows->op->buckets[bucket] += rows->row[bucket];
    return err;
}

static int next_row(struct parser *parser, struct rows *rows) {
    int more = next_line(parser);
    if (more < 0)
        return more;
    if (more == 0)
        return fail(parser, "expected a row of bucket counts after OP_%s, found the end of the file", rows->op->name);
    return parse_row(parser, rows);
}

/* How many intervals there may be: as many as have borders, if they are told. */
static uint32_t intervals_max(const struct parser *parser) {
    return parser->has_borders ? (uint32_t)parser->profile.interval_count : INTERVALS_MAX;
}

static int keep_row(struct parser *parser, struct rows *rows) {
    if (rows->count == intervals_max(parser))
        return fail(parser, "expected at most %u intervals", (unsigned)intervals_max(parser));
    if (samples_reserve(&rows->samples, ARRAY_SIZE(rows->row)) < 0)
        return -ENOMEM;
    samples_append_row(&rows->samples, rows->count++, rows->row, AGGSTATS_BUCKETS_MAX);
    return 0;
}

/* 1: the next line is a row. */
static int row_follows(struct parser *parser) {
    int more = next_line(parser);
    if (more <= 0)
        return more;
    parser->line_again = true;
    return parser->line[0] != '#' && !begins_with(parser->line, op_prefix) && !begins_with(parser->line, joint_prefix);
}

static int parse_intervals(struct parser *parser, struct rows *rows) {
    int more;
    do {
        int err = next_row(parser, rows);
        if (err == 0)
            err = keep_row(parser, rows);
        if (err < 0)
            return err;
        more = row_follows(parser);
    } while (more > 0);
    if (parser->rows_most < rows->count)
        parser->rows_most = rows->count;
    return more;
}

static int parse_rows(struct parser *parser, struct aggstats_profile *profile) {
    struct rows rows = {.op = &profile->ops[profile->op_count - 1]};
    if (profile->interval_cycles == 0)
        return next_row(parser, &rows);
    int err = parse_intervals(parser, &rows);
    rows.op->samples = rows.samples.cells;
    rows.op->sample_count = rows.samples.count;
    return err;
}

/* Appends to the whole, or to a group, an op that has its name, with empty buckets. */
static int add_op(struct parser *parser, struct aggstats_profile *profile, const char *name) {
    struct aggstats_op_profile op = {0};
    int err = parse_name(parser, name, op.name);
    if (err < 0)
        return err;
    if (aggstats_profile_op(profile, op.name))
        return fail(parser, "expected every operation once, found OP_%s a second time", op.name);
    if (profile->op_count == OPS_MAX)
        return fail(parser, "expected at most %d operations", OPS_MAX);
    struct aggstats_op_profile *grown = grow(profile->ops, profile->op_count, sizeof(op));
    if (!grown)
        return -ENOMEM;
    profile->ops = grown;
    op.buckets = calloc(64 * (size_t)profile->resolution, sizeof(*op.buckets));
    if (!op.buckets)
        return -ENOMEM;
    profile->ops[profile->op_count++] = op;
    return 0;
}

/* "OP_LOOKUP 13640 3069650000" and its row. */
static int parse_op(struct parser *parser, struct aggstats_profile *profile) {
    char *cursor = parser->line;
    int err = add_op(parser, profile, next_word(&cursor) + strlen(op_prefix));
    if (err < 0)
        return err;
    struct aggstats_op_profile *op = &profile->ops[profile->op_count - 1];
    err = parse_number(parser, next_word(&cursor), "the number of calls", &op->calls);
    if (err == 0)
        err = parse_number(parser, next_word(&cursor), "the total latency in cycles", &op->total_cycles);
    if (err == 0)
        err = parse_end_of_line(parser, &cursor);
    return err < 0 ? err : parse_rows(parser, profile);
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
        return parse_name(parser, name, joint->op);
    }
    return fail(parser, "expected JOINT_<NAME>_<VALUE>, found \"JOINT_%.40s\"", name);
}

static int check_joint(struct parser *parser, const struct aggstats_joint_profile *joint) {
    const struct aggstats_profile *profile = &parser->profile;
    if (!aggstats_profile_op(profile, joint->op))
        return fail(parser, "expected OP_%s before its joint profiles", joint->op);
    for (size_t i = 0; i < profile->joint_count; i++)
        if (profile->joints[i].value == joint->value && strcmp(profile->joints[i].op, joint->op) == 0)
            return fail(parser, "expected every joint profile once, found one a second time");
    return 0;
}

/* "4096: 0 0 12" */
static int parse_joint_row(struct parser *parser, const struct aggstats_joint_profile *joint, struct samples *cells,
                           uint64_t *sum) {
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    uint64_t number;
    char *counts = strchr(parser->line, ':');
    if (!counts)
        return fail_expected(parser, "\"value: counts\"", parser->line);
    *counts++ = '\0';
    int err = parse_only_number(parser, parser->line, "a value", &number);
    if (err < 0)
        return err;
    unsigned row_number = aggstats_value_row(joint->value, number);
    if (aggstats_value_first(joint->value, row_number) != number ||
        (cells->count > 0 && cells->cells[cells->count - 1].row >= row_number))
        return fail(parser, "expected values in ascending order, the first of each row");
    const struct aggstats_op_profile *op = aggstats_profile_op(&parser->profile, joint->op);
    err = parse_counts(parser, counts, row, sum, op->calls, op->name);
    if (err == 0)
        err = samples_reserve(cells, ARRAY_SIZE(row));
    if (err == 0)
        samples_append_row(cells, row_number, row, ARRAY_SIZE(row));
    return err;
}

static int parse_joint_rows(struct parser *parser, const struct aggstats_joint_profile *joint, struct samples *cells) {
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
    struct samples cells = {.cells = NULL};
    char *cursor = parser->line + strlen(joint_prefix);
    int err = parse_joint_name(parser, next_word(&cursor), &joint);
    if (err == 0)
        err = parse_end_of_line(parser, &cursor);
    if (err == 0)
        err = check_joint(parser, &joint);
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
    return strcmp(text, text_who_name(who)) == 0;
}

/* "4711 grep", "1000", "kernel", "other" */
static int parse_who(struct parser *parser, char *value, struct aggstats_group *group) {
    if (is_who(value, AGGSTATS_WHO_KERNEL) || is_who(value, AGGSTATS_WHO_OTHER)) {
        group->who = is_who(value, AGGSTATS_WHO_KERNEL) ? AGGSTATS_WHO_KERNEL : AGGSTATS_WHO_OTHER;
        return 0;
    }
    char *cursor = value;
    int err = parse_number(parser, next_word(&cursor), "a number, kernel or other", &group->id);
    if (err < 0)
        return err;
    unescape(cursor);
    if (strlen(cursor) >= sizeof(group->name))
        return fail(parser, "expected a name of at most %zu bytes", sizeof(group->name) - 1);
    memcpy(group->name, cursor, strlen(cursor) + 1);
    return 0;
}

/* All groups are of one kind; the kernel and the others are one each. */
static int check_group(struct parser *parser, enum aggstats_grouping grouping, const struct aggstats_group *group) {
    const struct aggstats_profile *profile = &parser->profile;
    if (profile->group_count > 0 && profile->grouping != grouping)
        return fail(parser, "expected groups of one kind");
    if (profile->group_count == GROUPS_MAX)
        return fail(parser, "expected at most %d groups", GROUPS_MAX);
    for (size_t i = 0; i < profile->group_count && group->who != AGGSTATS_WHO_ID; i++)
        if (profile->groups[i].who == group->who)
            return fail(parser, "expected \"%s\" once, found it a second time", text_who_name(group->who));
    return 0;
}

static int add_group(struct parser *parser, enum aggstats_grouping grouping, const struct aggstats_group *group) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_group *grown = grow(profile->groups, profile->group_count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->groups = grown;
    profile->grouping = grouping;
    profile->groups[profile->group_count] = *group;
    profile->groups[profile->group_count++].profile =
        (struct aggstats_profile){.resolution = profile->resolution, .clock = profile->clock};
    if (!parser->grouped_calls)
        parser->grouped_calls = calloc(profile->op_count, sizeof(*parser->grouped_calls));
    return parser->grouped_calls ? 0 : -ENOMEM;
}

/* "# process: 4711 grep", "# uid: kernel" */
static int parse_group(struct parser *parser) {
    char *line = parser->line;
    char *colon = strchr(line, ':');
    struct aggstats_group group = {.who = AGGSTATS_WHO_ID};
    enum aggstats_grouping grouping = AGGSTATS_UNGROUPED;
    if (strncmp(line, "# ", 2) == 0 && colon) {
        *colon = '\0';
        grouping = grouping_of_key(line + 2);
    }
    if (grouping == AGGSTATS_UNGROUPED)
        return fail_expected(parser, "OP_<NAME> or the end of the file", line);
    int err = parse_who(parser, colon + 1 + (colon[1] == ' '), &group);
    if (err == 0)
        err = check_group(parser, grouping, &group);
    return err < 0 ? err : add_group(parser, grouping, &group);
}

/* An op of the latest group: together they have no more calls than the whole. */
static int parse_group_op(struct parser *parser) {
    struct aggstats_profile *profile = &parser->profile;
    struct aggstats_profile *of_group = &profile->groups[profile->group_count - 1].profile;
    int err = parse_op(parser, of_group);
    if (err < 0)
        return err;
    const struct aggstats_op_profile *op = &of_group->ops[of_group->op_count - 1];
    const struct aggstats_op_profile *whole = aggstats_profile_op(profile, op->name);
    if (!whole)
        return fail(parser, "expected OP_%s before its groups", op->name);
    uint64_t *grouped_calls = &parser->grouped_calls[whole - profile->ops];
    if (__builtin_add_overflow(*grouped_calls, op->calls, grouped_calls) || *grouped_calls > whole->calls)
        return fail(parser, "expected groups that sum up to at most %" PRIu64 " calls of OP_%s", whole->calls,
                    op->name);
    return 0;
}

/* ---- The whole ---- */

/* Without borders intervals are as long as was wanted. */
static int complete_borders(struct parser *parser) {
    struct aggstats_profile *profile = &parser->profile;
    if (parser->has_borders && profile->interval_cycles == 0)
        return fail(parser, "expected a line \"interval\" where there is one of \"borders\"");
    if (parser->has_borders || parser->rows_most == 0)
        return 0;
    profile->borders = calloc(parser->rows_most, sizeof(*profile->borders));
    if (!profile->borders)
        return -ENOMEM;
    for (; profile->interval_count < parser->rows_most; profile->interval_count++) {
        if (__builtin_mul_overflow(profile->interval_count + 1, profile->interval_cycles,
                                   &profile->borders[profile->interval_count]))
            return fail(parser, "expected intervals that end before cycle 2^64");
    }
    return 0;
}

/* First the header, then operations, joint profiles, groups. */
static int parse_line(struct parser *parser) {
    const struct aggstats_profile *profile = &parser->profile;
    bool is_op = begins_with(parser->line, op_prefix);
    if (parser->line[0] == '#')
        return profile->op_count == 0 ? parse_header_line(parser) : parse_group(parser);
    if (profile->group_count > 0)
        return is_op ? parse_group_op(parser) : fail_expected(parser, "OP_<NAME> or another group", parser->line);
    if (begins_with(parser->line, joint_prefix))
        return parse_joint(parser);
    if (!is_op || profile->joint_count > 0)
        return fail_expected(parser, "OP_<NAME> or the end of the file", parser->line);
    return parse_op(parser, &parser->profile);
}

static int parse_text(struct parser *parser) {
    int more;
    while ((more = next_line(parser)) > 0) {
        int err = parse_line(parser);
        if (err < 0)
            return err;
    }
    if (more == 0 && parser->line_number == 0)
        return fail(parser, "expected \"# osprof %d\" or OP_<NAME>, found nothing", TEXT_VERSION);
    return more < 0 ? more : complete_borders(parser);
}

int aggstats_profile_parse(FILE *stream, struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error) {
    struct aggstats_parse_error unused;
    struct parser parser = {.stream = stream, .profile = {.resolution = 1}, .error = ret_error ? ret_error : &unused};
    int err = parse_text(&parser);
    free(parser.line);
    free(parser.grouped_calls);
    if (err < 0) {
        aggstats_profile_finish(&parser.profile);
        return err;
    }
    aggstats_profile_sort(&parser.profile);
    profile_sort_groups(&parser.profile);
    *ret_profile = parser.profile;
    return 0;
}

/* Facts that take more than a number, both ways. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile_owned.h"
#include "text_parser.h"

/* "tsc 2500000000 Hz"; either half may be missing. */
int parser_clock(struct parser *parser, char *value) {
    struct aggstats_clock *clock = &parser->profile.clock;
    char *cursor = value;
    char *word = text_next_word(&cursor);
    if (!text_is_digit(word[0])) {
        clock->kind = AGGSTATS_CLOCK_TSC;
        while (aggstats_clock_name(clock->kind) && strcmp(word, aggstats_clock_name(clock->kind)) != 0)
            clock->kind++;
        if (!aggstats_clock_name(clock->kind))
            return parser_fail_expected(parser, "tsc, cntvct or monotonic", word);
        word = text_next_word(&cursor);
        if (!word[0])
            return 0;
    }
    int err = parser_number(parser, word, "the clock's rate", &clock->frequency_hz);
    if (err == 0 && clock->frequency_hz == 0)
        err = parser_fail_expected(parser, "a clock rate above 0", word);
    if (err == 0)
        err = parser_keyword(parser, &cursor, "Hz");
    return err < 0 ? err : parser_end_of_line(parser, &cursor);
}

void text_write_clock(const struct aggstats_profile *profile, FILE *stream) {
    const struct aggstats_clock *clock = &profile->clock;
    const char *name = aggstats_clock_name(clock->kind);
    if (!name && clock->frequency_hz == 0)
        return;
    fputs("# clock:", stream);
    if (name)
        fprintf(stream, " %s", name);
    if (clock->frequency_hz > 0)
        fprintf(stream, " %" PRIu64 " Hz", clock->frequency_hz);
    putc('\n', stream);
}

int parser_resolution(struct parser *parser, char *value) {
    uint64_t resolution;
    int err = parser_only_number(parser, value, "a resolution", &resolution);
    if (err < 0)
        return err;
    if (resolution > AGGSTATS_RESOLUTION_MAX || !aggstats_resolution_valid((unsigned)resolution))
        return parser_fail_expected(parser, "resolution 1, 2, 4 or 8", value);
    if (parser_has_cause_buckets(parser))
        return parser_fail(parser, "expected the resolution before buckets of causes");
    parser->profile.resolution = (unsigned)resolution;
    return 0;
}

/* Nanoseconds of ".123" (up to nine digits). Returns false if the text is something else. */
static bool scan_fraction(const char **cursor, int64_t *ret_ns) {
    int64_t ns = 0;
    int64_t unit_ns = NS_PER_S;
    if (**cursor == '.') {
        (*cursor)++;
        if (!text_is_digit(**cursor))
            return false;
        for (; text_is_digit(**cursor); (*cursor)++) {
            unit_ns /= 10;
            if (unit_ns == 0)
                return false;
            ns += (**cursor - '0') * unit_ns;
        }
    }
    *ret_ns = ns;
    return true;
}

/* The nanoseconds of a date. Returns false if it is no date, or 64 bits cannot hold it. timegm() turns February 30 into
 * March 2: a date that differs after the way back is invalid. */
static bool join_time(const struct tm *tm, int64_t ns, int64_t *ret_ns) {
    struct tm copy = *tm;
    struct tm back;
    int64_t whole_ns;
    time_t seconds = timegm(&copy);
    if (!gmtime_r(&seconds, &back) || back.tm_year != tm->tm_year || back.tm_mon != tm->tm_mon ||
        back.tm_mday != tm->tm_mday || back.tm_hour != tm->tm_hour || back.tm_min != tm->tm_min ||
        back.tm_sec != tm->tm_sec)
        return false;
    if (seconds < 0 && ns > 0) { /* the earliest second fits only together with its fraction */
        seconds++;
        ns -= NS_PER_S;
    }
    return !__builtin_mul_overflow((int64_t)seconds, NS_PER_S, &whole_ns) &&
           !__builtin_add_overflow(whole_ns, ns, ret_ns);
}

/* The number made of count digits. */
static int number_of_digits(const char *digits, int count) {
    int number = 0;
    for (int i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

int parser_start(struct parser *parser, char *value) {
    static const char shape[] = "dddd-dd-ddTdd:dd:dd";
    static const char expected[] = "a time like 2026-11-21T02:30:00.123456789Z";
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'd' ? !text_is_digit(value[i]) : value[i] != shape[i])
            return parser_fail_expected(parser, expected, value);
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
    if (!scan_fraction(&cursor, &ns) || strcmp(cursor, "Z") != 0 || !join_time(&tm, ns, &parser->profile.start_ns))
        return parser_fail_expected(parser, expected, value);
    parser->profile.has_start = true;
    return 0;
}

void text_write_start(const struct aggstats_profile *profile, FILE *stream) {
    char start[UTC_TEXT_SIZE];
    if (!profile->has_start)
        return;
    format_utc(profile->start_ns, start);
    fprintf(stream, "# start: %s\n", start);
}

/* "host label\\040rack": of labels in lines before */
int parser_lists(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    char *cursor = value;
    for (char *word = text_next_word(&cursor); word[0]; word = text_next_word(&cursor)) {
        size_t i = 0;
        text_unescape(word);
        while (i < profile->label_count && strcmp(profile->labels[i].key, word) != 0)
            i++;
        if (i == profile->label_count)
            return parser_fail_expected(parser, "the key of a label in a line before", word);
        profile->labels[i].is_list = true;
    }
    return 0;
}

void text_write_lists(const struct aggstats_profile *profile, FILE *stream) {
    bool has_any = false;
    for (size_t i = 0; i < profile->label_count; i++) {
        if (!profile->labels[i].is_list)
            continue;
        fputs(has_any ? " " : "# lists: ", stream);
        text_write_word(profile->labels[i].key, stream);
        has_any = true;
    }
    fputs(has_any ? "\n" : "", stream);
}

int parser_interval(struct parser *parser, char *value) {
    uint64_t *interval_cycles = &parser->profile.interval_cycles;
    int err = parser_only_number(parser, value, "a number of cycles", interval_cycles);
    return err == 0 && *interval_cycles == 0 ? parser_fail_expected(parser, "an interval above 0", "0") : err;
}

/* "2500012345 5000001234" */
int parser_borders(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    char *cursor = value;
    for (const char *word = text_next_word(&cursor); word[0]; word = text_next_word(&cursor)) {
        uint64_t border = 0;
        int err = parser_number(parser, word, "a number of cycles", &border);
        if (err < 0)
            return err;
        if (profile->interval_count > 0 && border < profile->borders[profile->interval_count - 1])
            return parser_fail_expected(parser, "borders in ascending order", word);
        if (profile->interval_count == INTERVALS_MAX)
            return parser_fail(parser, "expected at most %d intervals", INTERVALS_MAX);
        uint64_t *grown = parser_grow(profile->borders, profile->interval_count, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        profile->borders = grown;
        profile->borders[profile->interval_count++] = border;
    }
    parser->has_borders = true;
    return 0;
}

void text_write_borders(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->interval_cycles == 0)
        return;
    fputs("# borders:", stream);
    for (size_t i = 0; i < profile->interval_count; i++)
        fprintf(stream, " %" PRIu64, profile->borders[i]);
    putc('\n', stream);
}

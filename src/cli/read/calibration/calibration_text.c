/* Calibrations as text. Reading is strict: a damaged file must not give wrong labels. */
#include "calibration_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"

#define MAGIC "# osprof calibration 1"
#define LINE_MAX_BYTES 8192
#define TIMES_MAX 4096U

/* Of a time; a tenth is the least that is written, and the most is eleven days. */
#define NS_MIN 0.1
#define NS_MAX 1e15

void calibration_finish(struct calibration *calibration) {
    for (size_t i = 0; i < calibration->count; i++)
        free(calibration->times[i].place);
    free(calibration->times);
    *calibration = (struct calibration){0};
}

/* ---- Times -------------------------------------------------------------------------------------- */

/* Machine first, then by device; their kinds are in that order too. */
static int compare_times(const struct characteristic *a, const struct characteristic *b) {
    int scopes = (int)characteristic_scope(a->kind) - (int)characteristic_scope(b->kind);
    int places = strcmp(a->place ? a->place : "", b->place ? b->place : "");
    if (scopes != 0)
        return scopes;
    return places != 0 ? places : (int)a->kind - (int)b->kind;
}

int calibration_put(struct calibration *calibration, const struct characteristic *time) {
    CLEANUP_FREE char *place = time->place ? strdup(time->place) : NULL;
    struct characteristic *times = reallocarray(calibration->times, calibration->count + 1, sizeof(*times));
    if (times)
        calibration->times = times;
    if (!times || (time->place && !place))
        return -ENOMEM;
    size_t at = 0;
    while (at < calibration->count && compare_times(&times[at], time) < 0)
        at++;
    if (at < calibration->count && compare_times(&times[at], time) == 0) {
        free(times[at].place);
    } else {
        memmove(&times[at + 1], &times[at], (calibration->count - at) * sizeof(*times));
        calibration->count++;
    }
    times[at] = *time;
    times[at].place = steal_pointer(&place);
    return 0;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

int calibration_format(const struct calibration *calibration, char **ret_text, size_t *ret_size_bytes) {
    char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    fprintf(stream, MAGIC "\n# host: %s\n# clock: %s %" PRIu64 " Hz\n", calibration->host,
            aggstats_clock_name(calibration->clock.kind), calibration->clock.frequency_hz);
    for (size_t i = 0; i < calibration->count; i++) {
        const struct characteristic *time = &calibration->times[i];
        fprintf(stream, "%s %.1f %.1f %.1f %" PRIu64 " %" PRId64 "%s%s\n", characteristic_key(time->kind),
                time->ns.lower, time->ns.median, time->ns.upper, time->sample_count, time->taken_s,
                time->place ? " " : "", time->place ? time->place : "");
    }
    if (fclose(stream) != 0) {
        int error = negative_errno();
        free(text);
        return error;
    }
    *ret_text = text;
    *ret_size_bytes = size_bytes;
    return 0;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

struct parse {
    FILE *stream;
    char *line; /* [LINE_MAX_BYTES], without its newline */
    struct aggstats_parse_error error;
};

static int expected(struct parse *parse, const char *what) {
    char found[48];
    snprintf(found, sizeof(found), "%s", parse->line);
    snprintf(parse->error.message, sizeof(parse->error.message), "expected %s, found '%s'", what, make_line(found));
    return -EBADMSG;
}

/* 1: a line; 0: the end. */
static int read_line(struct parse *parse) {
    parse->line[0] = '\0';
    if (!fgets(parse->line, LINE_MAX_BYTES, parse->stream))
        return ferror(parse->stream) ? negative_errno() : 0;
    parse->error.line++;
    size_t length = strlen(parse->line);
    if (length == 0 || parse->line[length - 1] != '\n')
        return expected(parse, "a whole line of text");
    parse->line[length - 1] = '\0';
    return 1;
}

/* Reads a line that must exist. */
static int need_line(struct parse *parse, const char *what) {
    int got = read_line(parse);
    if (got == 0) {
        parse->error.line++;
        snprintf(parse->error.message, sizeof(parse->error.message), "expected %s, found nothing", what);
        return -EBADMSG;
    }
    return got < 0 ? got : 0;
}

/* The next word of *rest, which must be followed by a blank or the end; NULL: none. */
static char *take_word(char **rest) {
    char *word = strsep(rest, " ");
    return word && word[0] ? word : NULL;
}

static bool take_number(char **rest, double *ret_number) {
    const char *word = take_word(rest);
    char *end = NULL;
    if (!word || !isdigit((unsigned char)word[0]))
        return false;
    *ret_number = strtod(word, &end);
    return *end == '\0' && isfinite(*ret_number);
}

static bool take_count(char **rest, uint64_t *ret_count) {
    const char *word = take_word(rest);
    char *end = NULL;
    if (!word || !isdigit((unsigned char)word[0]))
        return false;
    errno = 0;
    *ret_count = strtoull(word, &end, 10);
    return *end == '\0' && errno == 0 && *ret_count <= INT64_MAX;
}

static bool take_clock(char *rest, struct aggstats_clock *ret_clock) {
    const char *name = take_word(&rest);
    uint64_t frequency_hz;
    if (!name || !take_count(&rest, &frequency_hz) || frequency_hz == 0 || !rest || strcmp(rest, "Hz") != 0)
        return false;
    for (uint32_t kind = AGGSTATS_CLOCK_TSC; kind <= AGGSTATS_CLOCK_MONOTONIC; kind++) {
        if (strcmp(aggstats_clock_name(kind), name) != 0)
            continue;
        *ret_clock = (struct aggstats_clock){.kind = kind, .frequency_hz = frequency_hz};
        return true;
    }
    return false;
}

/* The value of a header's line "# key: value"; NULL: it has another key. */
static char *value_of(char *line, const char *key) {
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && line[length] ? line + length : NULL;
}

static int parse_host(struct parse *parse, struct calibration *calibration) {
    static const char form[] = "# host: NAME";
    int error = need_line(parse, form);
    const char *host = error ? NULL : value_of(parse->line, "# host: ");
    if (error)
        return error;
    if (!host || strlen(host) >= sizeof(calibration->host))
        return expected(parse, form);
    snprintf(calibration->host, sizeof(calibration->host), "%s", host);
    return 0;
}

static int parse_clock(struct parse *parse, struct calibration *calibration) {
    static const char form[] = "# clock: KIND RATE Hz";
    int error = need_line(parse, form);
    if (error)
        return error;
    CLEANUP_FREE char *line = strdup(parse->line); /* words are cut off it */
    char *value = line ? value_of(line, "# clock: ") : NULL;
    if (!line)
        return -ENOMEM;
    return value && take_clock(value, &calibration->clock) ? 0 : expected(parse, form);
}

static bool take_time(char *rest, struct characteristic *ret_time) {
    const char *key = take_word(&rest);
    int kind = key ? characteristic_of_key(key) : -1;
    struct characteristic time = {.kind = (enum characteristic_kind)kind};
    uint64_t taken_s = 0;
    if (kind < 0 || !take_number(&rest, &time.ns.lower) || !take_number(&rest, &time.ns.median) ||
        !take_number(&rest, &time.ns.upper) || !take_count(&rest, &time.sample_count) || !take_count(&rest, &taken_s))
        return false;
    time.taken_s = (int64_t)taken_s;
    time.place = rest;
    bool has_place = rest && rest[0];
    if (has_place != (characteristic_scope(time.kind) != SCOPE_MACHINE) || (rest && !has_place))
        return false;
    *ret_time = time;
    return time.ns.median >= NS_MIN && time.ns.lower <= time.ns.median && time.ns.median <= time.ns.upper &&
           time.ns.upper <= NS_MAX;
}

static int parse_time(struct parse *parse, struct calibration *calibration) {
    CLEANUP_FREE char *line = strdup(parse->line);
    struct characteristic time;
    if (!line)
        return -ENOMEM;
    if (!take_time(line, &time))
        return expected(parse, "KIND LOWER MEDIAN UPPER SAMPLES TIME [PLACE]");
    size_t before = calibration->count;
    int error = calibration_put(calibration, &time);
    if (error)
        return error;
    if (calibration->count == before)
        return expected(parse, "each time once");
    return calibration->count > TIMES_MAX ? expected(parse, "the end") : 0;
}

int calibration_parse(FILE *stream, struct calibration *ret_calibration, struct aggstats_parse_error *ret_error) {
    CLEANUP_FREE char *line = malloc(LINE_MAX_BYTES);
    struct parse parse = {.stream = stream, .line = line};
    struct calibration calibration = {0};
    if (!line)
        return -ENOMEM;
    int error = need_line(&parse, MAGIC);
    if (!error && strcmp(parse.line, MAGIC) != 0)
        error = expected(&parse, MAGIC);
    if (!error)
        error = parse_host(&parse, &calibration);
    if (!error)
        error = parse_clock(&parse, &calibration);
    while (!error) {
        int got = read_line(&parse);
        if (got == 0)
            break;
        error = got < 0 ? got : parse_time(&parse, &calibration);
    }
    if (error) {
        calibration_finish(&calibration);
        *ret_error = parse.error;
        return error;
    }
    *ret_calibration = calibration;
    return 0;
}

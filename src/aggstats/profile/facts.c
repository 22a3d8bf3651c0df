/* The table of facts, and those that are a number or two. */
#include "facts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "text_parser.h"

__extension__ typedef unsigned __int128 uint128;

static int add_number(uint64_t *sum, uint64_t number) {
    return __builtin_add_overflow(*sum, number, sum) ? -EOVERFLOW : 0;
}

static int subtract_number(uint64_t *from, uint64_t number) {
    return __builtin_sub_overflow(*from, number, from) ? -ERANGE : 0;
}

int cycles_rescale(uint64_t *cycles, uint64_t from_hz, uint64_t to_hz) {
    uint128 scaled = ((uint128)*cycles * to_hz + from_hz / 2) / from_hz;
    if (scaled > UINT64_MAX)
        return -EOVERFLOW;
    *cycles = (uint64_t)scaled;
    return 0;
}

/* ---- Resolution; longer facts are read in facts_parse.c, and written in facts_write.c ---- */

static void write_resolution(const struct aggstats_profile *profile, FILE *stream) {
    fprintf(stream, "# resolution: %u\n", profile->resolution);
}

/* The difference begins where the other ends (too early if the recorder was paused, which is not noted). */
static int advance_start(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    difference->has_start = other->has_start && other->has_elapsed && other->clock.frequency_hz > 0;
    if (!difference->has_start)
        return 0;
    long double elapsed_ns = 1e9L * other->elapsed_cycles / other->clock.frequency_hz;
    if (elapsed_ns > (long double)(INT64_MAX / 2) ||
        __builtin_add_overflow(other->start_ns, (int64_t)elapsed_ns, &difference->start_ns))
        difference->has_start = false;
    return 0;
}

/* ---- Elapsed time ---- */

static int parse_elapsed(struct parser *parser, char *value) {
    parser->profile.has_elapsed = true;
    return parser_only_number(parser, value, "a number of cycles", &parser->profile.elapsed_cycles);
}

static void write_elapsed(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->has_elapsed)
        fprintf(stream, "# elapsed: %" PRIu64 "\n", profile->elapsed_cycles);
}

static int add_elapsed(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    sum->has_elapsed = sum->has_elapsed && other->has_elapsed;
    return sum->has_elapsed ? add_number(&sum->elapsed_cycles, other->elapsed_cycles) : 0;
}

static int subtract_elapsed(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    difference->has_elapsed = difference->has_elapsed && other->has_elapsed;
    return difference->has_elapsed ? subtract_number(&difference->elapsed_cycles, other->elapsed_cycles) : 0;
}

static int rescale_elapsed(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    return cycles_rescale(&profile->elapsed_cycles, from_hz, to_hz);
}

/* ---- Stolen time, and time in which the process did not run ---- */

static int parse_stolen(struct parser *parser, char *value) {
    parser->profile.has_stolen = true;
    return parser_only_number(parser, value, "a number of nanoseconds", &parser->profile.stolen_ns);
}

static void write_stolen(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->has_stolen)
        fprintf(stream, "# stolen: %" PRIu64 "\n", profile->stolen_ns);
}

static int add_stolen(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    sum->has_stolen = sum->has_stolen && other->has_stolen;
    return sum->has_stolen ? add_number(&sum->stolen_ns, other->stolen_ns) : 0;
}

static int subtract_stolen(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    difference->has_stolen = difference->has_stolen && other->has_stolen && difference->stolen_ns >= other->stolen_ns;
    difference->stolen_ns = difference->has_stolen ? difference->stolen_ns - other->stolen_ns : 0;
    return 0;
}

static int parse_stopped(struct parser *parser, char *value) {
    return parser_only_number(parser, value, "a number of nanoseconds", &parser->profile.stopped_ns);
}

static void write_stopped(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->stopped_ns > 0)
        fprintf(stream, "# stopped: %" PRIu64 "\n", profile->stopped_ns);
}

static int add_stopped(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    return add_number(&sum->stopped_ns, other->stopped_ns);
}

static int subtract_stopped(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    uint64_t *stopped_ns = &difference->stopped_ns;
    *stopped_ns -= *stopped_ns < other->stopped_ns ? *stopped_ns : other->stopped_ns;
    return 0;
}

/* ---- Intervals: sums and differences have none ---- */

static void write_interval(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->interval_cycles > 0)
        fprintf(stream, "# interval: %" PRIu64 "\n", profile->interval_cycles);
}

static int rescale_interval(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    return cycles_rescale(&profile->interval_cycles, from_hz, to_hz);
}

static int rescale_borders(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    int err = 0;
    for (size_t i = 0; i < profile->interval_count && err == 0; i++)
        err = cycles_rescale(&profile->borders[i], from_hz, to_hz);
    return err;
}

/* ---- How good the counts are ---- */

static int parse_clamped(struct parser *parser, char *value) {
    return parser_only_number(parser, value, "a number of calls", &parser->profile.clamped);
}

static void write_clamped(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->clamped > 0)
        fprintf(stream, "# clamped: %" PRIu64 "\n", profile->clamped);
}

static int add_clamped(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    return add_number(&sum->clamped, other->clamped);
}

static int subtract_clamped(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    return subtract_number(&difference->clamped, other->clamped);
}

static int parse_incomplete(struct parser *parser, char *value) {
    parser->profile.incomplete = strcmp(value, "yes") == 0;
    return parser->profile.incomplete || strcmp(value, "no") == 0 ? 0
                                                                  : parser_fail_expected(parser, "yes or no", value);
}

static void write_incomplete(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->incomplete)
        fputs("# incomplete: yes\n", stream);
}

static int add_incomplete(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    sum->incomplete = sum->incomplete || other->incomplete;
    return 0;
}

/* ---- How much of the time calls were in flight ---- */

/* "980 looks 1234 most 4" */
static int parse_busy(struct parser *parser, char *value) {
    struct aggstats_busy *busy = &parser->profile.busy;
    char *cursor = value;
    int err = parser_number(parser, text_next_word(&cursor), "a number of looks", &busy->busy);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "looks", &busy->looks);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "most", &busy->most);
    if (err == 0)
        err = parser_end_of_line(parser, &cursor);
    if (err == 0 && (busy->looks == 0 || busy->busy > busy->looks))
        err = parser_fail(parser, "expected no more busy looks than looks, and some");
    return err;
}

static void write_busy(const struct aggstats_profile *profile, FILE *stream) {
    const struct aggstats_busy *busy = &profile->busy;
    if (busy->looks > 0)
        fprintf(stream, "# busy: %" PRIu64 " looks %" PRIu64 " most %" PRIu64 "\n", busy->busy, busy->looks,
                busy->most);
}

/* If only one profile has them, the sum has none. */
static int add_busy(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    struct aggstats_busy *a = &sum->busy;
    const struct aggstats_busy *b = &other->busy;
    if (a->looks == 0 || b->looks == 0) {
        *a = (struct aggstats_busy){0};
        return 0;
    }
    a->most = a->most > b->most ? a->most : b->most;
    a->busy += b->busy;
    return add_number(&a->looks, b->looks);
}

/* Looks are not read together with the rest: if the difference makes no sense, it is dropped. */
static int subtract_busy(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    struct aggstats_busy *a = &difference->busy;
    const struct aggstats_busy *b = &other->busy;
    if (subtract_number(&a->looks, b->looks) < 0 || subtract_number(&a->busy, b->busy) < 0 || a->busy > a->looks)
        *a = (struct aggstats_busy){0};
    return 0;
}

/* ---- Calls in flight: sums have none, and in differences they stay ---- */

static int rescale_in_flight(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    int err = 0;
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++)
        err = cycles_rescale(&profile->in_flight[i].age_cycles, from_hz, to_hz);
    return err;
}

/* ---- The table ---- */

const struct fact facts[] = {
    {.key = "clock", .parse = parser_clock, .write = text_write_clock},
    {.key = "resolution", .parse = parser_resolution, .write = write_resolution},
    {.key = "start", .parse = parser_start, .write = text_write_start, .subtract = advance_start},
    {.key = "elapsed",
     .parse = parse_elapsed,
     .write = write_elapsed,
     .add = add_elapsed,
     .subtract = subtract_elapsed,
     .rescale = rescale_elapsed},
    {.key = "stolen", .parse = parse_stolen, .write = write_stolen, .add = add_stolen, .subtract = subtract_stolen},
    {.key = "stopped",
     .parse = parse_stopped,
     .write = write_stopped,
     .add = add_stopped,
     .subtract = subtract_stopped},
    {.key = "interval", .parse = parser_interval, .write = write_interval, .rescale = rescale_interval},
    {.key = "borders", .parse = parser_borders, .write = text_write_borders, .rescale = rescale_borders},
    {.key = "clamped",
     .parse = parse_clamped,
     .write = write_clamped,
     .add = add_clamped,
     .subtract = subtract_clamped},
    {.key = "incomplete", .parse = parse_incomplete, .write = write_incomplete, .add = add_incomplete},
    {.key = "busy", .parse = parse_busy, .write = write_busy, .add = add_busy, .subtract = subtract_busy},
    {.key = "failed", .repeats = true, .parse = parser_failed, .write = text_write_failed},
    {.key = "bytes", .repeats = true, .parse = parser_bytes, .write = text_write_bytes},
    {.key = "longest", .repeats = true, .parse = parser_longest, .write = text_write_longest},
    {.key = "left", .repeats = true, .parse = parser_left, .write = text_write_left},
    {.key = "in_flight",
     .repeats = true,
     .parse = parser_in_flight,
     .write = text_write_in_flight,
     .rescale = rescale_in_flight},
    {.key = "slow", .parse = parser_slow},
    {.key = "cause", .repeats = true, .parse = parser_cause},
    {.key = "cause_buckets", .repeats = true, .parse = parser_cause_buckets},
    {.key = "stack", .repeats = true, .parse = parser_stack},
    {.key = "slow_call", .repeats = true, .parse = parser_slow_call},
    {.key = "waiting", .repeats = true, .parse = parser_waiting},
    {.key = NULL},
};

const struct fact *fact_of(const char *key) {
    for (const struct fact *fact = facts; fact->key; fact++)
        if (strcmp(fact->key, key) == 0)
            return fact;
    return NULL;
}

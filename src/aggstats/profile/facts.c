/* The table of facts, the functions of those that are numbers, and which labels may stand beside facts. */
#include "facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/fields.h"
#include "base.h"
#include "profile_owned.h"
#include "profile_slow.h"
#include "text_format.h"
#include "text_parser.h"

__extension__ typedef unsigned __int128 uint128;

int cycles_rescale(uint64_t *cycles, uint64_t from_hz, uint64_t to_hz) {
    uint128 scaled = ((uint128)*cycles * to_hz + from_hz / 2) / from_hz;
    if (scaled > UINT64_MAX)
        return -EOVERFLOW;
    *cycles = (uint64_t)scaled;
    return 0;
}

/* ---- Facts that are numbers ---- */

static uint64_t *numbers_of(const struct fact *fact, struct aggstats_profile *profile) {
    return (uint64_t *)(void *)((char *)profile + fact->number.offset);
}

static const uint64_t *numbers_in(const struct fact *fact, const struct aggstats_profile *profile) {
    return (const uint64_t *)(const void *)((const char *)profile + fact->number.offset);
}

static size_t count_of(const struct fact *fact) {
    size_t count = 0;
    while (fact->number.words && fact->number.words[count])
        count++;
    return fact->number.words ? count : 1;
}

static bool has_any(const struct fact *fact, const struct aggstats_profile *profile) {
    for (size_t i = 0; i < count_of(fact); i++)
        if (numbers_in(fact, profile)[i] > 0)
            return true;
    return false;
}

static bool is_known(const struct fact *fact, const struct aggstats_profile *profile) {
    return fact->number.known_offset == 0 || *((const bool *)profile + fact->number.known_offset);
}

static void set_known(const struct fact *fact, struct aggstats_profile *profile, bool known) {
    if (fact->number.known_offset > 0)
        *((bool *)profile + fact->number.known_offset) = known;
}

/* Facts that are always known have no line if they are 0. */
static bool is_told(const struct fact *fact, const struct aggstats_profile *profile) {
    return is_known(fact, profile) && (fact->number.known_offset > 0 || has_any(fact, profile));
}

static const char *const expected_numbers[] = {[AGGSTATS_FACT_CYCLES] = "a number of cycles",
                                               [AGGSTATS_FACT_NANOSECONDS] = "a number of nanoseconds",
                                               [AGGSTATS_FACT_BYTES] = "a number of bytes",
                                               [AGGSTATS_FACT_CALLS] = "a number of calls",
                                               [AGGSTATS_FACT_COUNT] = "a number"};

/* "read 4096 written 0": in any order, and those that are 0 may be missing. */
static int parse_words(const struct fact *fact, struct parser *parser, uint64_t *numbers, char *value) {
    const size_t count = count_of(fact);
    uint64_t seen = 0;
    char *cursor = value;
    char *word = text_next_word(&cursor);
    int err = 0;
    do {
        const size_t i = word_index(fact->number.words, count, word);
        if (i == count)
            return parser_fail_expected(parser, "a word that has a number in this line", word);
        if (seen & UINT64_C(1) << i)
            return parser_fail(parser, "expected every word once, found %s a second time", word);
        seen |= UINT64_C(1) << i;
        err = parser_number(parser, text_next_word(&cursor), expected_numbers[fact->number.unit], &numbers[i]);
        word = text_next_word(&cursor);
    } while (err == 0 && word[0]);
    return err;
}

/* ---- A row ---- */

static bool is_number(const struct fact *fact) {
    return fact->number.unit != AGGSTATS_FACT_OTHER;
}

int fact_parse(const struct fact *fact, struct parser *parser, struct aggstats_profile *profile, char *value) {
    if (!is_number(fact))
        return fact->parse(parser, value);
    set_known(fact, profile, true);
    return fact->number.words
               ? parse_words(fact, parser, numbers_of(fact, profile), value)
               : parser_only_number(parser, value, expected_numbers[fact->number.unit], numbers_of(fact, profile));
}

void fact_write(const struct fact *fact, const struct aggstats_profile *profile, FILE *stream) {
    if (fact->write)
        fact->write(profile, stream);
    if (!is_number(fact) || !is_told(fact, profile))
        return;
    const uint64_t *numbers = numbers_in(fact, profile);
    fprintf(stream, "# %s:", fact->key);
    for (size_t i = 0; i < count_of(fact); i++)
        if (!fact->number.words)
            fprintf(stream, " %" PRIu64, numbers[i]);
        else if (fact->number.known_offset > 0 || numbers[i] > 0)
            fprintf(stream, " %s %" PRIu64, fact->number.words[i], numbers[i]);
    putc('\n', stream);
}

int fact_add(const struct fact *fact, struct aggstats_profile *sum, const struct aggstats_profile *other) {
    if (fact->add)
        return fact->add(sum, other);
    if (!is_number(fact))
        return 0;
    const bool known = is_known(fact, sum) && is_known(fact, other);
    int err = 0;
    set_known(fact, sum, known);
    for (size_t i = 0; i < count_of(fact) && known && err == 0; i++)
        err = number_add(&numbers_of(fact, sum)[i], numbers_in(fact, other)[i]);
    return err;
}

int fact_subtract(const struct fact *fact, struct aggstats_profile *difference, const struct aggstats_profile *other) {
    if (!is_number(fact))
        return fact->subtract ? fact->subtract(difference, other) : 0;
    if (fact->number.less == FACT_IS_THE_LATER_ONES)
        return 0;
    bool known = is_known(fact, difference) && is_known(fact, other);
    for (size_t i = 0; i < count_of(fact); i++) {
        uint64_t *number = &numbers_of(fact, difference)[i];
        const bool is_less = known && number_subtract(number, numbers_in(fact, other)[i]) < 0;
        if (is_less && fact->number.less == FACT_LESS_IS_WRONG)
            return -ERANGE;
        if (is_less && fact->number.less == FACT_LESS_IS_UNKNOWN)
            known = false;
        if (is_less || !known)
            *number = 0;
    }
    set_known(fact, difference, known);
    return 0;
}

int fact_rescale(const struct fact *fact, struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    if (fact->number.unit == AGGSTATS_FACT_CYCLES)
        return cycles_rescale(numbers_of(fact, profile), from_hz, to_hz);
    return fact->rescale ? fact->rescale(profile, from_hz, to_hz) : 0;
}

void facts_write_of_group(const struct aggstats_profile *group, FILE *stream) {
    for (const struct fact *fact = facts; fact->key; fact++)
        if (fact->of_groups && has_any(fact, group))
            fact_write(fact, group, stream);
}

void facts_read_live(struct aggstats_profile *profile, uint64_t known, const uint64_t numbers[FACT_PLACES_MAX]) {
    for (const struct fact *fact = facts; fact->key; fact++) {
        if (fact->number.place == FACT_NOT_LIVE)
            continue;
        *numbers_of(fact, profile) = numbers[fact->number.place];
        set_known(fact, profile, known & UINT64_C(1) << fact->number.place);
    }
}

bool aggstats_profile_next_fact(const struct aggstats_profile *profile, unsigned *position,
                                struct aggstats_fact *ret_fact) {
    for (const struct fact *fact = &facts[*position]; fact->key; fact++) {
        if (!fact->number.json || !(fact->number.json_always || is_told(fact, profile)))
            continue;
        *position = (unsigned)(fact - facts) + 1;
        *ret_fact = (struct aggstats_fact){fact->number.json, fact->number.unit, numbers_in(fact, profile),
                                           fact->number.words, fact->number.known_offset > 0};
        return true;
    }
    return false;
}

int aggstats_profile_describe(struct aggstats_profile *part, const struct aggstats_profile *whole) {
    for (const struct fact *fact = facts; fact->key; fact++) {
        if (!fact->of_whole || !is_number(fact))
            continue;
        memcpy(numbers_of(fact, part), numbers_in(fact, whole), count_of(fact) * sizeof(uint64_t));
        set_known(fact, part, is_known(fact, whole));
    }
    return profile_copy_unseen(whole, part);
}

/* ---- Resolution; for longer facts see text_facts.c ---- */

static void write_resolution(const struct aggstats_profile *profile, FILE *stream) {
    fprintf(stream, "# resolution: %u\n", profile->resolution);
}

/* The difference begins when the other ends (too early if the recorder was paused, which is not recorded). */
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

/* ---- Intervals: sums and differences have none ---- */

static void write_interval(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->interval_cycles > 0)
        fprintf(stream, "# interval: %" PRIu64 "\n", profile->interval_cycles);
}

static int rescale_intervals(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    int err = cycles_rescale(&profile->interval_cycles, from_hz, to_hz);
    for (size_t i = 0; i < profile->interval_count && err == 0; i++)
        err = cycles_rescale(&profile->borders[i], from_hz, to_hz);
    return err;
}

/* ---- Completeness ---- */

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

/* ---- Share of time with calls in flight ---- */

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

static void forget_op_looks(struct aggstats_profile *profile) {
    profile->busy.by_op = false;
    for (size_t i = 0; i < profile->op_count; i++)
        profile->ops[i].busy_looks = 0;
}

/* Of ops they have been added already (profile_sum.c). If only one profile has them, the sum has none. */
static int add_busy(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    struct aggstats_busy *a = &sum->busy;
    const struct aggstats_busy *b = &other->busy;
    if (a->looks == 0 || b->looks == 0) {
        *a = (struct aggstats_busy){0};
        forget_op_looks(sum);
        return 0;
    }
    if (!a->by_op || !b->by_op)
        forget_op_looks(sum);
    a->most = a->most > b->most ? a->most : b->most;
    a->busy += b->busy;
    return number_add(&a->looks, b->looks);
}

/* Looks are not read together with the rest: a difference that is not possible is dropped. Those of an op that would be
 * below 0 are a large number by now. */
static int subtract_busy(struct aggstats_profile *difference, const struct aggstats_profile *other) {
    struct aggstats_busy *a = &difference->busy;
    const struct aggstats_busy *b = &other->busy;
    if (number_subtract(&a->looks, b->looks) < 0 || number_subtract(&a->busy, b->busy) < 0 || a->busy > a->looks)
        *a = (struct aggstats_busy){0};
    bool is_possible = a->by_op && b->by_op;
    for (size_t i = 0; i < difference->op_count; i++)
        is_possible = is_possible && difference->ops[i].busy_looks <= a->busy;
    if (!is_possible)
        forget_op_looks(difference);
    return 0;
}

/* ---- Sums of profiles ---- */

/* merged: how many profiles are in the sum, which is 0 in a profile that is no sum. */
static int add_merged(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    if (sum->merged == 0 && other->merged == 0)
        return 0;
    sum->merged += sum->merged == 0;
    return number_add(&sum->merged, other->merged > 0 ? other->merged : 1);
}

static int add_threads_max(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    if (sum->threads_max < other->threads_max)
        sum->threads_max = other->threads_max;
    return 0;
}

/* ---- How the command ended ---- */

static bool has_failed(const struct aggstats_profile *profile) {
    return profile->has_exit && (profile->exit.status > 0 || profile->exit.signal > 0);
}

/* The first that failed; that none did is known if all are known. */
static int add_exit(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    if (!has_failed(sum) && has_failed(other))
        sum->exit = other->exit;
    sum->has_exit = (sum->has_exit && other->has_exit) || has_failed(sum) || has_failed(other);
    return 0;
}

/* ---- What counting has cost ---- */

static uint64_t mean_ns(uint64_t ns, uint64_t calls, uint64_t other_ns, uint64_t other_calls) {
    const uint128 both = (uint128)calls + other_calls;
    return both == 0 ? ns : (uint64_t)(((uint128)ns * calls + (uint128)other_ns * other_calls + both / 2) / both);
}

/* The time is that of one call: of both profiles the mean, by their calls. */
static int add_cost(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    const uint64_t calls = sum->cost_calls;
    sum->has_cost = sum->has_cost && other->has_cost;
    if (!sum->has_cost)
        return 0;
    sum->cost_ns.each = mean_ns(sum->cost_ns.each, calls, other->cost_ns.each, other->cost_calls);
    sum->cost_ns.counted = mean_ns(sum->cost_ns.counted, calls, other->cost_ns.counted, other->cost_calls);
    return number_add(&sum->cost_calls, other->cost_calls);
}

static int add_nothing(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    (void)sum;
    (void)other;
    return 0;
}

/* ---- The longest calls ---- */

static void drop_longest(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->op_count; i++) {
        free(profile->ops[i].longest_path);
        profile->ops[i].longest_path = NULL;
    }
}

/* ---- Calls: those in flight are absent in sums, unchanged in differences ---- */

static void drop_calls(struct aggstats_profile *profile) {
    calls_free(&profile->slow_calls, &profile->slow_call_count);
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        call_finish(&profile->in_flight[i]);
        profile->in_flight[i].program[0] = '\0';
    }
}

static int rescale_calls(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    int err = 0;
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++)
        err = cycles_rescale(&profile->in_flight[i].latency_cycles, from_hz, to_hz);
    for (size_t i = 0; i < profile->slow_call_count && err == 0; i++)
        err = cycles_rescale(&profile->slow_calls[i].latency_cycles, from_hz, to_hz);
    return err;
}

/* ---- The table ---- */

#define IN(member) .offset = offsetof(struct aggstats_profile, member)
#define KNOWN(member) .known_offset = offsetof(struct aggstats_profile, member)
#define ALWAYS .known_offset = 0

/* A fact of numbers that describes the whole recording. list: its words, NULL: it is one number; sum: a function, NULL:
 * the numbers are added */
#define WHOLE(name, member, known, list, kind, if_less, sum, view)                                                     \
    {                                                                                                                  \
        .key = name, .of_whole = true, .add = sum, .number = {                                                         \
            IN(member),                                                                                                \
            known,                                                                                                     \
            .words = list,                                                                                             \
            .unit = AGGSTATS_FACT_##kind,                                                                              \
            .less = FACT_##if_less,                                                                                    \
            .json = view                                                                                               \
        }                                                                                                              \
    }

static const char *const directions[] = {"read", "written", NULL};
static const char *const disk_directions[] = {"read", "written", "own", NULL};
static const char *const disk_times[] = {"busy", "watched", NULL};
static const char *const page_faults[] = {"minor", "major", NULL};
static const char *const exit_words[] = {"status", "signal", NULL};
static const char *const cost_times[] = {"each", "counted", NULL};

static const char *const untold_words[AGGSTATS_UNTOLD_KINDS + 1] = {
    [AGGSTATS_UNTOLD_OF_MACHINE] = "of_machine", [AGGSTATS_UNTOLD_OF_PROCESSES] = "of_processes",
    [AGGSTATS_UNTOLD_OF_CGROUP] = "of_cgroup",   [AGGSTATS_UNTOLD_FAILED] = "failed",
    [AGGSTATS_UNTOLD_UNTIMED] = "untimed",       [AGGSTATS_UNTOLD_BEGUN] = "begun",
    [AGGSTATS_UNTOLD_PROCESSES] = "processes",   [AGGSTATS_UNTOLD_CAUSES] = "causes",
};

const struct fact facts[] = {
    {.key = "clock", .parse = parser_clock, .write = text_write_clock},
    {.key = "resolution", .parse = parser_resolution, .write = write_resolution},
    {.key = "lists", .parse = parser_lists, .write = text_write_lists},
    {.key = "start", .parse = parser_start, .write = text_write_start, .subtract = advance_start},
    {.key = "elapsed",
     .number = {IN(elapsed_cycles), KNOWN(has_elapsed), .unit = AGGSTATS_FACT_CYCLES, .json = "elapsed"}},
    {.key = "stolen",
     .number = {IN(stolen_ns), KNOWN(has_stolen), .unit = AGGSTATS_FACT_NANOSECONDS, .less = FACT_LESS_IS_UNKNOWN,
                .place = FACT_STOLEN, .json = "stolen"}},
    {.key = "stopped",
     .number = {IN(stopped_ns), .unit = AGGSTATS_FACT_NANOSECONDS, .less = FACT_LESS_IS_ZERO, .place = FACT_STOPPED,
                .json = "stopped"}},
    {.key = "storage_read",
     .number = {IN(storage_read_bytes), KNOWN(has_storage_read), .unit = AGGSTATS_FACT_BYTES,
                .less = FACT_LESS_IS_UNKNOWN, .place = FACT_STORAGE_READ, .json = "storage_read"}},
    {.key = "cache_read",
     .of_groups = true,
     .number = {IN(cache.read_bytes), KNOWN(has_cache), .unit = AGGSTATS_FACT_BYTES, .less = FACT_LESS_IS_UNKNOWN,
                .place = FACT_CACHE_READ, .json = "cache_read"}},
    {.key = "cache_missed",
     .of_groups = true,
     .number = {IN(cache.missed_bytes), KNOWN(has_cache), .unit = AGGSTATS_FACT_BYTES, .less = FACT_LESS_IS_UNKNOWN,
                .place = FACT_CACHE_MISSED, .json = "cache_missed"}},
    {.key = "cache_unjudged",
     .of_groups = true,
     .number = {IN(cache.unjudged_bytes), KNOWN(has_cache), .unit = AGGSTATS_FACT_BYTES, .less = FACT_LESS_IS_UNKNOWN,
                .place = FACT_CACHE_UNJUDGED, .json = "cache_unjudged"}},
    {.key = "user_time",
     .number = {IN(user_ns), KNOWN(has_cpu), .unit = AGGSTATS_FACT_NANOSECONDS, .json = "user_time"}},
    {.key = "system_time",
     .number = {IN(system_ns), KNOWN(has_cpu), .unit = AGGSTATS_FACT_NANOSECONDS, .json = "system_time"}},
    {.key = "queue_time",
     .number = {IN(queue_ns), KNOWN(has_queue), .unit = AGGSTATS_FACT_NANOSECONDS, .json = "queue_time"}},
    {.key = "program_time",
     .number = {IN(program_ns), KNOWN(has_program), .unit = AGGSTATS_FACT_NANOSECONDS, .json = "program_time"}},
    {.key = "locking_time",
     .number = {IN(locking_ns), KNOWN(has_program), .unit = AGGSTATS_FACT_NANOSECONDS, .json = "locking_time"}},
    WHOLE("page_faults", page_faults, KNOWN(has_page_faults), page_faults, COUNT, LESS_IS_UNKNOWN, NULL, "page_faults"),
    WHOLE("bytes_seen", bytes_seen, KNOWN(has_witness), directions, BYTES, LESS_IS_UNKNOWN, NULL, "seen"),
    WHOLE("bytes_kernel", bytes_kernel, KNOWN(has_witness), directions, BYTES, LESS_IS_UNKNOWN, NULL, "kernel"),
    WHOLE("bytes_elsewhere", bytes_elsewhere, KNOWN(has_elsewhere), directions, BYTES, LESS_IS_UNKNOWN, NULL,
          "elsewhere"),
    WHOLE("not_seen", not_seen, ALWAYS, unseen_words, COUNT, LESS_IS_ZERO, NULL, "not_seen"),
    {.key = "unseen_program",
     .repeats = true,
     .parse = parser_unseen,
     .write = text_write_unseen,
     .add = profile_add_all_unseen},
    WHOLE("threads_max", threads_max, ALWAYS, NULL, COUNT, IS_THE_LATER_ONES, add_threads_max, "threads_max"),
    WHOLE("not_told", not_told, ALWAYS, untold_words, COUNT, LESS_IS_ZERO, NULL, "not_told"),
    WHOLE("cost_time", cost_ns, KNOWN(has_cost), cost_times, NANOSECONDS, IS_THE_LATER_ONES, add_nothing,
          "cost"), /* with the next */
    WHOLE("cost_calls", cost_calls, KNOWN(has_cost), NULL, CALLS, IS_THE_LATER_ONES, add_cost, "cost_calls"),
    WHOLE("disk_bytes", disk_bytes, KNOWN(has_disk), disk_directions, BYTES, LESS_IS_UNKNOWN, NULL, "disk"),
    WHOLE("disk_time", disk_ns, ALWAYS, disk_times, NANOSECONDS, LESS_IS_ZERO, NULL, "disk"),
    WHOLE("disk_other_bytes", disk_other_bytes, ALWAYS, NULL, BYTES, LESS_IS_ZERO, NULL, "disk_other"),
    WHOLE("waiting_requests", waiting_requests, KNOWN(has_waiting_requests), NULL, COUNT, IS_THE_LATER_ONES, NULL,
          "waiting_requests"),
    WHOLE("exit", exit, KNOWN(has_exit), exit_words, COUNT, IS_THE_LATER_ONES, add_exit, "exit"),
    WHOLE("runs", runs, KNOWN(has_runs), NULL, COUNT, IS_THE_LATER_ONES, NULL, "runs"),
    WHOLE("merged", merged, ALWAYS, NULL, COUNT, IS_THE_LATER_ONES, add_merged, "merged"),
    {.key = "chosen_groups",
     .number = {IN(chosen_groups), .unit = AGGSTATS_FACT_COUNT, .less = FACT_IS_THE_LATER_ONES,
                .json = "chosen_groups"}},
    {.key = "missed",
     .number = {IN(missed_cycles_max), .unit = AGGSTATS_FACT_CYCLES, .less = FACT_LESS_IS_ZERO, .json = "missed"}},
    {.key = "interval", .parse = parser_interval, .write = write_interval, .rescale = rescale_intervals},
    {.key = "borders", .parse = parser_borders, .write = text_write_borders}, /* rescaled with the one before */
    {.key = "clamped", .number = {IN(clamped), .unit = AGGSTATS_FACT_CALLS, .json = "clamped", .json_always = true}},
    {.key = "ungrouped",
     .number = {IN(ungrouped_calls), .unit = AGGSTATS_FACT_CALLS, .less = FACT_LESS_IS_ZERO, .json = "ungrouped"}},
    {.key = "incomplete", .parse = parse_incomplete, .write = write_incomplete, .add = add_incomplete},
    {.key = "busy", .parse = parse_busy, .write = write_busy, .add = add_busy, .subtract = subtract_busy},
    {.key = "busy_ops", .parse = parser_busy_ops, .write = text_write_busy_ops},
    {.key = "failed", .repeats = true, .parse = parser_failed, .write = text_write_failed},
    {.key = "bytes", .repeats = true, .parse = parser_bytes, .write = text_write_bytes},
    {.key = "longest",
     .repeats = true,
     .parse = parser_longest,
     .write = text_write_longest,
     .drop_paths = drop_longest},
    {.key = "left", .repeats = true, .parse = parser_left, .write = text_write_left},
    {.key = "slow", .parse = parser_slow},
    {.key = "cause", .repeats = true, .parse = parser_cause},
    {.key = "cause_buckets", .repeats = true, .parse = parser_cause_buckets},
    {.key = "stack", .repeats = true, .parse = parser_stack},
    {.key = "call", .repeats = true, .parse = parser_call, .rescale = rescale_calls, .drop_paths = drop_calls},
    {.key = "slow_caller", .repeats = true, .parse = parser_slow_caller, .drop_paths = profile_free_callers},
    {.key = NULL},
};

_Static_assert(sizeof(facts) / sizeof(facts[0]) <= 64, "the parser has a bit for each");

const struct fact *fact_of(const char *key) {
    for (const struct fact *fact = facts; fact->key; fact++)
        if (strcmp(fact->key, key) == 0)
            return fact;
    return NULL;
}

/* ---- Labels beside the facts ---- */

bool text_key_reserved(const char *key) {
    return fact_of(key) || aggstats_grouping_of_name(key) != AGGSTATS_UNGROUPED;
}

bool text_label_valid(const struct aggstats_label *label) {
    const char *key = label->key;
    size_t length = strlen(key);
    if (length == 0 || key[0] == ' ' || key[length - 1] == ' ' || text_key_reserved(key))
        return false;
    return !strchr(key, ':') && text_is_plain(key);
}

/* ---- Paths ---- */

static void drop_groups(struct aggstats_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        if (aggstats_grouping_has_paths(profile->groups[i].grouping))
            aggstats_profile_finish(&profile->groups[i].profile);
        else
            profile->groups[kept++] = profile->groups[i];
    }
    profile->group_count = kept;
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (aggstats_grouping_has_paths((enum aggstats_grouping)grouping))
            profile->groupings &= ~(1U << grouping);
}

void aggstats_profile_drop_paths(struct aggstats_profile *profile) {
    for (const struct fact *fact = facts; fact->key; fact++)
        if (fact->drop_paths)
            fact->drop_paths(profile);
    drop_groups(profile);
}

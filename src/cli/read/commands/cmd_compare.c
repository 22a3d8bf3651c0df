/* osprof compare: what differs between two profiles, or two sets of them; or what belongs together in one. */
#include <string.h>

#include "base.h"
#include "command.h"
#include "compare.h"
#include "compare_sets.h"
#include "comparison.h"
#include "correlate.h"
#include "input.h"
#include "json_writer.h"
#include "kept.h"
#include "name_set.h"
#include "option_table.h"
#include "output.h"
#include "report.h"
#include "screen.h"

#define CORRELATION_VERSION 1 /* of the JSON */

struct options {
    struct compare_options compare;
    bool within;
    bool all;
    bool verbose;
    bool json;
    bool quiet;
    bool no_labels;
    bool brief;
    bool markdown;
    double at_least_percent;
    unsigned fail_on;   /* VERDICT_ON_* */
    const char *method; /* its name */
    const char *layer;
    const char *report; /* the file of a page; NULL: none */
    char **names;
};

/* ---- A page ------------------------------------------------------------------------------------- */

/* Adds a profile of B to what the page is about, if there is one. Errors: reported to the user */
static int take_b(void *context, const char *name, const struct input *input) {
    struct subject *subject = context;
    return subject ? subject_add(subject, name, input) : 0;
}

/* report: without its subject. Errors: reported to the user */
static int write_report(const struct options *options, const struct report *without_subject, struct subject *subject) {
    struct input_layer layer = {.name = options->layer, .is_told = true};
    struct report report = *without_subject;
    if (!options->report)
        return 0;
    report.subject = subject;
    int error = subject_settle(subject, report.name, &layer);
    return error ? error : report_deliver(&report, options->report, NULL);
}

/* ---- Two profiles ------------------------------------------------------------------------------- */

/* Prints the comparison, and writes the page. a, b: as they were read */
static enum status compare_loaded(const struct options *options, const struct aggstats_profile *a,
                                  const struct aggstats_profile *b, struct subject *subject) {
    const struct screen screen = screen_of_stdout();
    struct compare_result result = {0};
    struct calibration a_times = {.is_off = options->no_labels};
    struct calibration b_times = {.is_off = options->no_labels};
    struct report_again again;
    const struct comparison comparison = {
        .result = &result,
        .a_name = options->names[0],
        .b_name = options->names[1],
        .all = options->all,
        .verbose = options->verbose || options->method,
        .a_times = &a_times,
        .b_times = &b_times,
    };
    const struct report report = {.name = comparison.b_name, .again = &again, .comparison = &comparison};
    const bool is_page = !options->json && !options->quiet;
    int error = compare_profiles(a, b, &options->compare, &result);
    if (error) {
        comparison_complain(comparison.a_name, comparison.b_name, a, error);
        return STATUS_TROUBLE;
    }
    enum status status = result.different_count > 0 ? STATUS_NOT_SO : STATUS_OK;
    if (!options->no_labels && (is_page || options->report))
        calibration_for_pair(a, b, &a_times, &b_times);
    if (options->json)
        comparison_print_json(&comparison);
    if (is_page)
        comparison_print(&comparison, &screen);
    report_format_again(options->names, 1, options->names + 1, 1, "", &again);
    if (write_report(options, &report, subject) != 0)
        status = STATUS_TROUBLE;
    calibration_finish(&a_times);
    calibration_finish(&b_times);
    compare_finish(&result);
    return status;
}

static enum status compare_two(const struct options *options) {
    struct subject subject = {.count = 0};
    struct input a;
    struct input b;
    struct input_layer layer = {.name = options->layer};
    enum status status = STATUS_TROUBLE;
    if (input_load(options->names[0], &layer, &a) != 0)
        return STATUS_TROUBLE;
    if (input_load_recording(options->names[1], &b) == 0) {
        if (take_b(options->report ? &subject : NULL, options->names[1], &b) == 0 &&
            input_choose(options->names[1], &layer, &b) == 0)
            status = compare_loaded(options, &a.profile, &b.profile, &subject);
        input_finish(&b);
    }
    subject_finish(&subject);
    input_finish(&a);
    return status;
}

/* ---- One profile -------------------------------------------------------------------------------- */

/* A block for each number of calls, a line for each part. */
static void print_correlations(const struct correlations *correlations, const struct aggstats_profile *profile,
                               const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of(screen, profile->clock.frequency_hz);
    if (correlations->count == 0)
        sheet_line(&sheet, 0,
                   "No operations, and no peaks of different ones, with equal numbers of calls that are no chance.");
    for (size_t i = 0; i < correlations->count; i++) {
        const struct correlation *found = &correlations->found[i];
        if (i > 0)
            sheet_gap(&sheet);
        sheet_line(&sheet, 0, "%s calls each (chance would make %.2g such pairs)", units_count(found->calls).text,
                   found->chance);
        for (size_t at = 0; at < found->part_count; at++) {
            const struct correlate_part *part = &found->parts[at];
            sheet_put(&sheet, FORM_LINE, INK_STRONG, 2, "%s", part->op->name);
            if (part->first_peak == 0 && part->last_peak + 1 == part->peak_count)
                sheet_span(&sheet, INK_PLAIN, ", all calls");
            else if (part->first_peak == part->last_peak)
                sheet_span(&sheet, INK_PLAIN, ", peak %u of %u", part->first_peak + 1, part->peak_count);
            else
                sheet_span(&sheet, INK_PLAIN, ", peaks %u to %u of %u", part->first_peak + 1, part->last_peak + 1,
                           part->peak_count);
            sheet_span(&sheet, INK_PLAIN, ": %s .. %s",
                       units_cycles(&sheet.units, aggstats_bucket_lower(part->calls.first, profile->resolution)).text,
                       units_cycles(&sheet.units, aggstats_bucket_upper(part->calls.last, profile->resolution)).text);
        }
    }
    sheet_print(&sheet);
}

/* After docs/correlation.schema.json. */
static void write_part(struct json_writer *writer, const struct correlate_part *part,
                       const struct aggstats_profile *profile) {
    const double lower_cycles =
        part->calls.first > 0 ? aggstats_bucket_lower(part->calls.first, profile->resolution) : 0;
    const double upper_cycles = aggstats_bucket_upper(part->calls.last, profile->resolution);
    json_begin(writer, NULL, '{');
    json_text(writer, "op", part->op->name);
    json_count(writer, "first_peak", part->first_peak + 1);
    json_count(writer, "last_peak", part->last_peak + 1);
    json_count(writer, "peaks", part->peak_count);
    json_real(writer, "lower_cycles", lower_cycles);
    json_real(writer, "upper_cycles", upper_cycles);
    if (profile->clock.frequency_hz > 0) {
        json_real(writer, "lower_seconds", lower_cycles / (double)profile->clock.frequency_hz);
        json_real(writer, "upper_seconds", upper_cycles / (double)profile->clock.frequency_hz);
    }
    json_end(writer, '}');
}

static void print_correlations_json(const struct correlations *correlations, const struct aggstats_profile *profile,
                                    const char *name) {
    struct json_writer writer = {.stream = stdout};
    json_begin(&writer, NULL, '{');
    json_count(&writer, "version", CORRELATION_VERSION);
    json_text(&writer, "name", name);
    json_begin(&writer, "correlations", '[');
    for (size_t i = 0; i < correlations->count; i++) {
        const struct correlation *found = &correlations->found[i];
        json_begin(&writer, NULL, '{');
        json_count(&writer, "calls", found->calls);
        json_real(&writer, "chance", found->chance);
        json_begin(&writer, "parts", '[');
        for (size_t at = 0; at < found->part_count; at++)
            write_part(&writer, &found->parts[at], profile);
        json_end(&writer, ']');
        json_end(&writer, '}');
    }
    json_end(&writer, ']');
    json_end(&writer, '}');
}

static enum status correlate(const struct options *options) {
    const struct screen screen = screen_of_stdout();
    struct input input;
    struct correlations correlations = {0};
    struct input_layer layer = {.name = options->layer};
    if (input_load(options->names[0], &layer, &input) != 0)
        return STATUS_TROUBLE;
    int error = correlate_profile(&input.profile, &correlations);
    enum status status = correlations.count > 0 ? STATUS_NOT_SO : STATUS_OK; /* as if they differ */
    if (error) {
        complain("cannot look for correlations in %s: %s", options->names[0], strerror(-error));
        status = STATUS_TROUBLE;
    } else if (options->json) {
        print_correlations_json(&correlations, &input.profile, options->names[0]);
    } else if (!options->quiet) {
        print_correlations(&correlations, &input.profile, &screen);
    }
    correlate_finish(&correlations);
    input_finish(&input);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

#define ROW_PERCENT(option_name, member, text)                                                                         \
    { .name = option_name, .metavar = "P", .max = 100, .help = text, INTO(NUMBER, struct options, compare.member) }

static const char *parse_fail_on(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    struct options *options = data;
    return fail_on_parse(*text, &options->fail_on, why);
}

static const struct option_row rows[] = {
    {.name = "method",
     .metavar = "M",
     WORDS("FARMOVER", "EARTHMOVER", "TOTOPS", "TOTLAT", "CHISQUARE", "GROUPOPS", "GROUPLAT"),
     .help = "how to rate the difference: {}; default: FARMOVER",
     INTO(WORD, struct options, method)},
    {.name = "threshold",
     .metavar = "X",
     .max = 100,
     .help = "different are operations with a score above X, {}; default: by method",
     INTO(NUMBER, struct options, compare.threshold)},
    ROW_LAYER(struct options, layer),
    {.name = "report",
     .metavar = "FILE",
     .help = "also write a page of HTML about it, as 'osprof report A... -- B...' does",
     INTO(FILE, struct options, report)},
    {.name = "all", .help = "also show operations that do not differ", INTO(FLAG, struct options, all)},
    {.name = "verbose",
     .letter = 'v',
     .help = "also show by which method, score and phase operations differ, as --method does",
     INTO(FLAG, struct options, verbose)},
    {.name = "json", .help = "the whole comparison as JSON", INTO(FLAG, struct options, json)},
    {.name = "quiet", .letter = 'q', .help = "print nothing: the exit status tells", INTO(FLAG, struct options, quiet)},
    ROW_NO_LABELS(struct options, no_labels),
    {.name = "within",
     .help = "compare the operations of A with each other: which have equally many calls",
     INTO(FLAG, struct options, within)},
    {.kind = OPTION_HEADING, .help = "Of sets of runs:"},
    {.name = "at-least",
     .metavar = "P",
     .min = 0.1,
     .max = 1000,
     .help = "changes within P percent are none, {}; default: 10",
     INTO(NUMBER, struct options, at_least_percent)},
    ROW_FAIL_ON(parse_fail_on,
                "what makes the exit status 1, several with commas between: change, any that is significant; "
                "slower; calls, more of them; total, more time in all calls; elapsed, a longer run; "
                "default: change"),
    {.name = "brief", .help = "one line for each operation", INTO(FLAG, struct options, brief)},
    {.name = "markdown", .help = "as a table in Markdown", INTO(FLAG, struct options, markdown)},
    {.kind = OPTION_HEADING,
     .help = "Of two profiles, what is not worth comparing, and what else makes an operation different:"},
    ROW_PERCENT("similar", similar_percent, "calls and total latency changed by less than P percent; default: 5"),
    ROW_PERCENT("min-share", share_percent, "less than P percent of its profile's latency, in both; default: 1"),
    {.name = "min-calls",
     .metavar = "N",
     .max = 0x1p53,
     .help = "fewer than N calls in both, and less than 10 percent of the latency; default: 10",
     INTO(NUMBER, struct options, compare.calls)},
    ROW_PERCENT("apart", apart_calls_percent,
                "numbers of calls differ by more than P percent of the larger; default: 75"),
    ROW_PERCENT("apart-latency", apart_latency_percent,
                "total latencies differ by more than P percent of the larger; default: 90"),
    ROW_PERCENT("min-peak", peak_percent,
                "a peak appears, vanishes or moves that holds P percent of calls or latency; default: 75"),
    {.name = "score-only", .help = "nothing else does", INTO(FLAG, struct options, compare.score_only)},
    ROW_PROFILE_ARGUMENTS(
        "[A B]\n       osprof compare [OPTION]... A... -- B...\n       osprof compare [OPTION]... DIR\n  "
        "     osprof compare --within [OPTION]... [A]"),
    {.kind = OPTION_END},
};

/* Options that are only valid for two profiles. */
static const char of_two_profiles[] =
    "method threshold all verbose no-labels similar min-share min-calls apart apart-latency "
    "min-peak score-only";

static const char of_sets[] = "at-least fail-on brief markdown";

/* Returns false, and complains, if page and comparison would both go to standard output. */
static bool check_report(const struct command *command, const struct options *options) {
    const bool is_free = !options->report || !output_is_stdout(options->report) || options->quiet;
    if (!is_free)
        usage_error(command, "--report - needs --quiet: the comparison goes to standard output, too");
    return is_free;
}

static enum status check_options(const struct command *command, const struct options *options,
                                 const struct arguments *arguments) {
    const char *of_two = options_given(arguments, of_two_profiles);
    if (options->within && options->report)
        return usage_error(command, "--report does not go with --within, which looks at one profile");
    if (!check_report(command, options))
        return STATUS_TROUBLE;
    const char *only_of_sets = options_given(arguments, of_sets);
    if (only_of_sets)
        return usage_error(command, "--%s goes with sets of runs, as in A1 A2 -- B1 B2", only_of_sets);
    if (options->json && options_given(arguments, "quiet ascii color no-labels width"))
        return usage_error(command, "--quiet, --ascii, --color, --no-labels and --width do not go with --json");
    if (options->within && of_two)
        return usage_error(command, "--%s does not go with --within, which looks at one profile", of_two);
    if (options->within && arguments->rest_count != 1)
        return usage_error(command, "--within takes one profile, not %d", arguments->rest_count);
    if (!options->within && arguments->rest_count == 1 && kept_is_name(arguments->rest[0]))
        return usage_error(command, "%s is compared with what? Name a second profile, as in osprof compare @2 @1",
                           arguments->rest[0]);
    if (!options->within && arguments->rest_count == 1 && access(arguments->rest[0], F_OK) < 0) {
        complain("cannot open %s: %s; two profiles are expected, two sets of them with -- between, or a directory that "
                 "'osprof run --vs' has kept runs in",
                 arguments->rest[0], strerror(errno));
        return STATUS_TROUBLE;
    }
    if (!options->within && arguments->rest_count != 2)
        return usage_error(command, "two profiles are compared, not %d", arguments->rest_count);
    if (!options->within && strcmp(arguments->rest[0], "-") == 0 && strcmp(arguments->rest[1], "-") == 0)
        return usage_error(command, "only one of the profiles can be standard input");
    return STATUS_OK;
}

static enum status check_set_options(const struct command *command, const struct options *options,
                                     const struct arguments *arguments) {
    const char *of_two = options_given(arguments, of_two_profiles);
    if (options->within || of_two)
        return usage_error(command, "--%s does not go with sets of runs", of_two ? of_two : "within");
    if (!check_report(command, options))
        return STATUS_TROUBLE;
    if (options->json + options->markdown + options->brief + options->quiet > 1)
        return usage_error(command, "--json, --markdown, --brief and --quiet exclude each other");
    return STATUS_OK;
}

/* directory: with runs; else a are arguments for A, followed by b_count for B */
static enum status compare_two_sets(const struct command *command, const struct options *options,
                                    const struct arguments *a, int b_count, const char *directory) {
    const struct screen screen = screen_of_stdout();
    struct subject subject = {.count = 0};
    const struct compare_sets sets = {
        .directory = directory,
        .layer = options->layer,
        .options = {.at_least = options->at_least_percent / 100, .alpha = VERDICT_ALPHA},
        .a = a->rest,
        .a_count = (size_t)a->rest_count,
        .b = a->rest + a->rest_count,
        .b_count = (size_t)b_count,
        .load = input_load_recording,
        .take = take_b,
        .context = options->report ? &subject : NULL,
    };
    struct compared_sets compared;
    struct report_again again;
    enum status status = check_set_options(command, options, a);
    if (status != STATUS_OK)
        return status;
    status = STATUS_TROUBLE;
    if (compare_sets(&sets, &compared) == 0) {
        const struct report report = {
            .name = compared.b_name, .again = directory ? NULL : &again, .verdict = &compared.page};
        if (options->json)
            verdict_page_print_json(&compared.page);
        else if (options->markdown)
            verdict_page_print_markdown(&compared.page, &screen);
        else if (options->brief)
            verdict_page_print_brief(&compared.page, &screen);
        else if (!options->quiet)
            verdict_page_print(&compared.page, &screen);
        report_format_again(sets.a, sets.a_count, sets.b, sets.b_count, "", &again);
        status = write_report(options, &report, &subject) != 0       ? STATUS_TROUBLE
                 : verdict_is_so(&compared.result, options->fail_on) ? STATUS_NOT_SO
                                                                     : STATUS_OK;
        compared_sets_finish(&compared);
    }
    subject_finish(&subject);
    return status;
}

static enum status run_compare(const struct command *command, int argc, char **argv) {
    static char before[] = "@2";
    static char last[] = "@1";
    static char *last_runs[] = {before, last, NULL};
    struct options options = {
        .compare = compare_defaults(DISTANCE_METHOD_DEFAULT),
        .at_least_percent = 100 * VERDICT_AT_LEAST,
        .fail_on = VERDICT_ON_CHANGE,
    };
    struct arguments arguments;
    enum status status;
    const int second = name_set_second(argc, argv);
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count == 0 && second == argc) { /* the last runs: the one before is A, and the last one B */
        arguments.rest_count = options.within ? 1 : 2;
        arguments.rest = last_runs + 2 - arguments.rest_count;
    }
    int b_count = argc - second;
    if (!options.within && arguments.rest_count == 1 && name_is_directory(arguments.rest[0]))
        return compare_two_sets(command, &options, &arguments, 0, arguments.rest[0]);
    if (second < argc && arguments.rest_count > b_count) {
        arguments.rest_count -= b_count; /* "--" is removed, and the words before it come first */
        return compare_two_sets(command, &options, &arguments, b_count, NULL);
    }
    status = check_options(command, &options, &arguments);
    if (status != STATUS_OK)
        return status;
    options.names = arguments.rest;
    input_tell_kept(!options.quiet);
    if (options.method)
        options.compare.method = (enum distance_method)distance_method_of_name(options.method);
    if (!options_given(&arguments, "threshold"))
        options.compare.threshold = compare_defaults(options.compare.method).threshold;
    return options.within ? correlate(&options) : compare_two(&options);
}

const struct command command_compare = {
    .name = "compare",
    .summary = "tells which operations differ between profiles, and how much",
    .help =
        "Tells which operations differ between A and B, profiles as for 'osprof show', of any clock rate and "
        "resolution; without them between the last two results of 'osprof run', @2 and @1. With several runs on each "
        "side it tells noise from change.",
    .notes = "@FILE stands for the names in a file, one a line. Exit status: 0 if B is like A, 1 if some operation "
             "differs, or with --within if some belong together, 2 for trouble.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_FORCE,
    .run = run_compare,
};

/* osprof compare: what differs between two profiles, or belongs together in one. */
#include <ctype.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "compare.h"
#include "comparison.h"
#include "correlation.h"
#include "input.h"
#include "screen.h"

struct options {
    struct compare_options compare;
    bool has_threshold;
    bool within;
    bool all;
    bool json;
    bool quiet;
    bool ascii;
    bool no_labels;
    double width;       /* columns; 0: those of the terminal */
    const char *tuning; /* an option that only two profiles have a use for */
    char **names;
};

/* ---- Two profiles ------------------------------------------------------------------------------- */

static enum status complain_not_compared(const struct options *options, const struct aggstats_profile *a, int error) {
    const char *silent = options->names[a->clock.frequency_hz == 0 ? 0 : 1];
    const char *telling = options->names[a->clock.frequency_hz == 0 ? 1 : 0];
    if (error == -EDOM)
        complain(
            "cannot compare %s with %s: only %s tells its clock's rate; add a line \"# clock: tsc HZ Hz\" to %s if you "
            "know it",
            options->names[0], options->names[1], telling, silent);
    else if (error == -EOVERFLOW)
        complain("cannot compare %s with %s: their clock rates are too far apart for these latencies",
                 options->names[0], options->names[1]);
    else
        complain("cannot compare %s with %s: %s", options->names[0], options->names[1], strerror(-error));
    return STATUS_TROUBLE;
}

/* a, b: as they were read */
static void print_page(const struct options *options, const struct comparison *without_times,
                       const struct aggstats_profile *a, const struct aggstats_profile *b) {
    struct screen screen = screen_of_stdout((int)options->width, options->ascii);
    struct comparison comparison = *without_times;
    struct calibration a_times = {0};
    struct calibration b_times = {0};
    if (!options->no_labels)
        calibration_for_pair(a, b, &a_times, &b_times);
    comparison.a_times = &a_times;
    comparison.b_times = &b_times;
    comparison_print(&comparison, &screen);
    calibration_finish(&a_times);
    calibration_finish(&b_times);
}

static void print_result(const struct options *options, const struct compare_result *result,
                         const struct aggstats_profile *a, const struct aggstats_profile *b) {
    const struct comparison comparison = {
        .result = result,
        .a_name = options->names[0],
        .b_name = options->names[1],
        .all = options->all,
    };
    if (options->json)
        comparison_print_json(&comparison);
    else if (!options->quiet)
        print_page(options, &comparison, a, b);
}

static enum status compare_loaded(const struct options *options, const struct aggstats_profile *a,
                                  const struct aggstats_profile *b) {
    struct compare_result result = {0};
    int error = compare_profiles(a, b, &options->compare, &result);
    if (error)
        return complain_not_compared(options, a, error);
    print_result(options, &result, a, b);
    enum status status = result.different_count > 0 ? STATUS_NOT_SO : STATUS_OK;
    compare_finish(&result);
    return status;
}

static enum status compare_two(const struct options *options) {
    struct input a;
    struct input b;
    if (input_load(options->names[0], &a) != 0)
        return STATUS_TROUBLE;
    enum status status = STATUS_TROUBLE;
    if (input_load(options->names[1], &b) == 0) {
        status = compare_loaded(options, &a.profile, &b.profile);
        input_finish(&b);
    }
    input_finish(&a);
    return status;
}

/* ---- One profile -------------------------------------------------------------------------------- */

static void print_found(const struct options *options, const struct correlations *correlations,
                        const struct aggstats_profile *profile) {
    if (options->json) {
        correlation_print_json(correlations, profile, options->names[0]);
    } else if (!options->quiet) {
        struct screen screen = screen_of_stdout((int)options->width, options->ascii);
        correlation_print(correlations, profile, &screen);
    }
}

static enum status correlate(const struct options *options) {
    struct input input;
    struct correlations correlations = {0};
    if (input_load(options->names[0], &input) != 0)
        return STATUS_TROUBLE;
    int error = correlate_profile(&input.profile, &correlations);
    enum status status = correlations.count > 0 ? STATUS_OK : STATUS_NOT_SO;
    if (error) {
        complain("cannot look for correlations in %s: %s", options->names[0], strerror(-error));
        status = STATUS_TROUBLE;
    } else {
        print_found(options, &correlations, &input.profile);
    }
    correlate_finish(&correlations);
    input_finish(&input);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

enum {
    OPTION_METHOD = 256,
    OPTION_THRESHOLD,
    OPTION_SIMILAR,
    OPTION_SHARE,
    OPTION_CALLS,
    OPTION_APART,
    OPTION_APART_LATENCY,
    OPTION_PEAK,
    OPTION_SCORE_ONLY,
    OPTION_WITHIN,
    OPTION_ALL,
    OPTION_JSON,
    OPTION_ASCII,
    OPTION_WIDTH,
    OPTION_NO_LABELS,
};

static const struct option long_options[] = {
    {"method", required_argument, NULL, OPTION_METHOD},
    {"threshold", required_argument, NULL, OPTION_THRESHOLD},
    {"similar", required_argument, NULL, OPTION_SIMILAR},
    {"min-share", required_argument, NULL, OPTION_SHARE},
    {"min-calls", required_argument, NULL, OPTION_CALLS},
    {"apart", required_argument, NULL, OPTION_APART},
    {"apart-latency", required_argument, NULL, OPTION_APART_LATENCY},
    {"min-peak", required_argument, NULL, OPTION_PEAK},
    {"score-only", no_argument, NULL, OPTION_SCORE_ONLY},
    {"within", no_argument, NULL, OPTION_WITHIN},
    {"all", no_argument, NULL, OPTION_ALL},
    {"json", no_argument, NULL, OPTION_JSON},
    {"quiet", no_argument, NULL, 'q'},
    {"ascii", no_argument, NULL, OPTION_ASCII},
    {"width", required_argument, NULL, OPTION_WIDTH},
    {"no-labels", no_argument, NULL, OPTION_NO_LABELS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Options that take a number: from where to where, and where it goes. */
static const struct number_option {
    int option;
    const char *name;
    double least;
    double most;
    size_t offset; /* of a double in struct options */
} number_options[] = {
    {OPTION_THRESHOLD, "threshold", 0, 100, offsetof(struct options, compare.threshold)},
    {OPTION_SIMILAR, "similar", 0, 100, offsetof(struct options, compare.similar_percent)},
    {OPTION_SHARE, "min-share", 0, 100, offsetof(struct options, compare.share_percent)},
    {OPTION_CALLS, "min-calls", 0, 0x1p53, offsetof(struct options, compare.calls)},
    {OPTION_APART, "apart", 0, 100, offsetof(struct options, compare.apart_calls_percent)},
    {OPTION_APART_LATENCY, "apart-latency", 0, 100, offsetof(struct options, compare.apart_latency_percent)},
    {OPTION_PEAK, "min-peak", 0, 100, offsetof(struct options, compare.peak_percent)},
    {OPTION_WIDTH, "width", SCREEN_WIDTH_MIN, SCREEN_WIDTH_MAX, offsetof(struct options, width)},
};

static const struct number_option *find_number_option(int option) {
    for (size_t i = 0; i < ARRAY_SIZE(number_options); i++)
        if (number_options[i].option == option)
            return &number_options[i];
    return NULL;
}

/* A decimal number: strtod() alone would take "inf", "0x1p3" and blanks before it. */
static bool parse_number(const char *text, const struct number_option *row, double *ret_number) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(isdigit((unsigned char)text[0]) || text[0] == '.') || strpbrk(text, "xX") ||
        !(number >= row->least && number <= row->most))
        return false;
    *ret_number = number;
    return true;
}

static enum status take_number(const struct command *command, const struct number_option *row,
                               struct options *options) {
    double *target = (double *)(void *)((char *)options + row->offset);
    if (!parse_number(optarg, row, target))
        return usage_error(command, "--%s must be a number from %.0f to %.0f, not '%s'", row->name, row->least,
                           row->most, optarg);
    options->has_threshold = options->has_threshold || row->option == OPTION_THRESHOLD;
    if (row->option != OPTION_WIDTH)
        options->tuning = row->name;
    return STATUS_OK;
}

static enum status take_method(const struct command *command, struct options *options) {
    int method = distance_method_of_name(optarg);
    if (method < 0)
        return usage_error(command, "'%s' is not a method", optarg);
    options->compare.method = (enum distance_method)method;
    options->tuning = "method";
    return STATUS_OK;
}

/* One option that getopt_long has found. */
static enum status take_option(const struct command *command, int option, char **argv, struct options *options) {
    const struct number_option *row = find_number_option(option);
    if (row)
        return take_number(command, row, options);
    switch (option) {
    case OPTION_METHOD:
        return take_method(command, options);
    case OPTION_SCORE_ONLY:
        options->compare.score_only = true;
        options->tuning = "score-only";
        return STATUS_OK;
    case OPTION_ALL:
        options->all = true;
        options->tuning = "all";
        return STATUS_OK;
    case OPTION_NO_LABELS:
        options->no_labels = true;
        options->tuning = "no-labels";
        return STATUS_OK;
    case OPTION_WITHIN:
        options->within = true;
        return STATUS_OK;
    case OPTION_JSON:
        options->json = true;
        return STATUS_OK;
    case OPTION_ASCII:
        options->ascii = true;
        return STATUS_OK;
    case 'q':
        options->quiet = true;
        return STATUS_OK;
    default:
        return option_error(command, option, argv, long_options);
    }
}

static enum status check_options(const struct command *command, const struct options *options, int name_count) {
    if (options->json && (options->quiet || options->ascii || options->no_labels || options->width > 0))
        return usage_error(command, "--quiet, --ascii, --no-labels and --width do not go with --json");
    if (options->within && options->tuning)
        return usage_error(command, "--%s does not go with --within, which looks at one profile", options->tuning);
    if (options->within && name_count != 1)
        return usage_error(command, "--within takes one profile, not %d", name_count);
    if (!options->within && name_count != 2)
        return usage_error(command, "two profiles are compared, not %d", name_count);
    if (!options->within && strcmp(options->names[0], "-") == 0 && strcmp(options->names[1], "-") == 0)
        return usage_error(command, "only one of the profiles can be standard input");
    return STATUS_OK;
}

static enum status run_compare(const struct command *command, int argc, char **argv) {
    struct options options = {.compare = compare_defaults(DISTANCE_METHOD_DEFAULT)};
    enum status status = STATUS_OK;
    int option;
    while (status == STATUS_OK && (option = getopt_long(argc, argv, ":hq", long_options, NULL)) != -1) {
        if (option == 'h') {
            command_print_help(command);
            return STATUS_OK;
        }
        status = take_option(command, option, argv, &options);
    }
    options.names = argv + optind;
    if (status == STATUS_OK)
        status = check_options(command, &options, argc - optind);
    if (status != STATUS_OK)
        return status;
    if (!options.has_threshold)
        options.compare.threshold = compare_defaults(options.compare.method).threshold;
    return options.within ? correlate(&options) : compare_two(&options);
}

const struct command command_compare = {
    .name = "compare",
    .summary = "tells which operations differ between two profiles, and how",
    .arguments = "[OPTION]... A B\n"
                 "       osprof compare --within [--json|--quiet] A",
    .help = "Exit status: 0 if B is like A, 1 if some operation differs, 2 for trouble. A and B are profiles\n"
            "as for 'osprof show', of any clock rate and resolution.\n\n"
            "  --method M        FARMOVER (default), EARTHMOVER, TOTOPS, TOTLAT, CHISQUARE, GROUPOPS or GROUPLAT\n"
            "  --threshold X     different are operations with a score above X; default: by method\n"
            "  --all             also show operations that do not differ\n"
            "  --json            the whole comparison as JSON\n"
            "  -q, --quiet       print nothing: the exit status tells\n"
            "  --ascii           only ASCII characters\n"
            "  --width N         columns to use, 40 to 1000\n"
            "  --no-labels       do not say which of the times of 'osprof calibrate' a peak lies near\n"
            "  --within          compare the operations of A with each other: which have equally many calls\n\n"
            "What is not worth comparing, and what else makes an operation different:\n\n"
            "  --similar P       calls and total latency changed by less than P percent (5)\n"
            "  --min-share P     less than P percent of its profile's latency, in both (1)\n"
            "  --min-calls N     fewer than N calls in both, and less than 10 percent of the latency (10)\n"
            "  --apart P         numbers of calls differ by more than P percent of the larger (75)\n"
            "  --apart-latency P total latencies differ by more than P percent of the larger (90)\n"
            "  --min-peak P      a peak appears, vanishes or moves that holds P percent of calls or latency (75)\n"
            "  --score-only      nothing else does\n",
    .run = run_compare,
};

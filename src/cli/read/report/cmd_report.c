/* osprof report: one page to send. */
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "command.h"
#include "compare_sets.h"
#include "input.h"
#include "name_set.h"
#include "option_table.h"
#include "report.h"

#define DEFAULT_OUTPUT "osprof.html"

struct report_options {
    const char *output;
    const char *layer; /* of recordings */
    struct name_set a; /* older profiles; none: there is nothing to compare with */
    struct name_set b;
};

static enum status write_report(const struct report_options *options, const struct report *given) {
    struct report_again again;
    struct report report = *given;
    CLEANUP_FREE char *layer = options->layer ? answer_next_quote(options->layer) : NULL;
    CLEANUP_FREE char *choice = NULL;
    if (layer && asprintf(&choice, "--layer %s", layer) < 0)
        choice = NULL;
    report_format_again(options->a.names, options->a.count, options->b.names, options->b.count, choice ? choice : "",
                        &again);
    report.name = options->b.names[0];
    report.again = &again;
    return report_deliver(&report, options->output, DEFAULT_OUTPUT) == 0 ? STATUS_OK : STATUS_TROUBLE;
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

/* Reads B's profiles. Errors: reported to the user */
static int load_subject(const struct report_options *options, struct input_layer *layer, struct subject *subject) {
    struct file_set files = {0};
    int error = 0;
    for (size_t i = 0; i < options->b.count && !error; i++) {
        const char *name = options->b.names[i];
        struct input input;
        error = input_load_whole(name, &input);
        if (error)
            break;
        if (file_set_add(&files, input.device, input.is_file ? input.inode : 0) == 0)
            complain("%s has been read already: its calls are in the sum once more", name);
        error = subject_add(subject, name, &input);
        input_finish(&input);
    }
    file_set_finish(&files);
    return error ? error : subject_settle(subject, options->b.names[0], layer);
}

static enum status report_on_pair(const struct report_options *options, const struct subject *subject,
                                  const struct aggstats_profile *a) {
    const struct aggstats_profile *b = &subject->input.profile;
    const struct compare_options how = compare_defaults(DISTANCE_METHOD_DEFAULT);
    struct compare_result result = {0};
    struct comparison comparison = {.result = &result, .a_name = options->a.names[0], .b_name = options->b.names[0]};
    int error = compare_profiles(a, b, &how, &result);
    if (error) {
        comparison_complain(comparison.a_name, comparison.b_name, a, error);
        return STATUS_TROUBLE;
    }
    struct calibration a_times;
    struct calibration b_times;
    calibration_for_pair(a, b, &a_times, &b_times);
    comparison.a_times = &a_times;
    comparison.b_times = &b_times;
    const struct report report = {.subject = subject, .comparison = &comparison};
    enum status status = write_report(options, &report);
    calibration_finish(&a_times);
    calibration_finish(&b_times);
    compare_finish(&result);
    return status;
}

static enum status report_on(const struct report_options *options) {
    const bool has_a = options->a.count > 0;
    struct subject subject = {.count = 0};
    struct input_layer layer = {.name = options->layer};
    struct input a;
    const struct report report = {.subject = &subject};
    enum status status = STATUS_TROUBLE;
    if (has_a && input_load(options->a.names[0], &layer, &a) != 0)
        return STATUS_TROUBLE;
    if (load_subject(options, &layer, &subject) == 0)
        status = has_a ? report_on_pair(options, &subject, &a.profile) : write_report(options, &report);
    subject_finish(&subject);
    if (has_a)
        input_finish(&a);
    return status;
}

/* ---- Two sets ----------------------------------------------------------------------------------- */

static int take_run(void *context, const char *name, const struct input *input) {
    return subject_add(context, name, input);
}

static enum status compare_runs(const struct report_options *options) {
    struct subject subject = {.count = 0};
    struct input_layer layer = {.name = options->layer, .is_told = true};
    const struct compare_sets sets = {
        .options = {.at_least = VERDICT_AT_LEAST, .alpha = VERDICT_ALPHA},
        .layer = options->layer,
        .a = options->a.names,
        .a_count = options->a.count,
        .b = options->b.names,
        .b_count = options->b.count,
        .load = input_load_whole,
        .take = take_run,
        .context = &subject,
    };
    struct compared_sets compared;
    enum status status = STATUS_TROUBLE;
    if (compare_sets(&sets, &compared) == 0) {
        const struct report report = {.subject = &subject, .verdict = &compared.page};
        if (subject_settle(&subject, options->b.names[0], &layer) == 0)
            status = write_report(options, &report);
        compared_sets_finish(&compared);
    }
    subject_finish(&subject);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_OUTPUT("FILE.html, written whole or not at all; - is standard output; default: osprof.html",
               struct report_options, output),
    ROW_LAYER(struct report_options, layer),
    ROW_PROFILE_ARGUMENTS("[PROFILE]...\n       osprof report [OPTION]... A... -- B..."),
    {.kind = OPTION_END},
};

/* Errors: reported to the user */
static int take_names(struct arguments *arguments, int b_count, struct report_options *options) {
    static char last[] = "@1";
    static char *lasts[] = {last};
    const size_t count = (size_t)arguments->rest_count;
    const size_t a_count = count - (size_t)b_count;
    int error = name_set_of(arguments->rest, a_count, &options->a);
    if (error)
        return error;
    error = count > 0 ? name_set_of(arguments->rest + a_count, (size_t)b_count, &options->b)
                      : name_set_of(lasts, 1, &options->b);
    if (!error && (options->b.count == 0 || (a_count > 0 && options->a.count == 0))) {
        complain("nothing to report on: a list names no profile");
        error = -ENOENT;
    }
    return error;
}

static enum status run_report(const struct command *command, int argc, char **argv) {
    struct report_options options = {.output = NULL};
    struct arguments arguments;
    const int second = name_set_second(argc, argv);
    const bool ends_with_dashes = second == argc && strcmp(argv[argc - 1], "--") == 0;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    const char *suffix = options.output ? strrchr(options.output, '.') : NULL;
    if (suffix && !strchr(suffix, '/') && strcasecmp(suffix, ".html") != 0 && strcasecmp(suffix, ".htm") != 0)
        return usage_error(command, "a page of HTML is written: name it FILE.html, not '%s'", options.output);
    const int b_count = second < argc ? argc - second : arguments.rest_count;
    if (ends_with_dashes && arguments.rest_count > 0)
        return usage_error(command, "no profile behind --");
    if (take_names(&arguments, b_count, &options) != 0)
        status = STATUS_TROUBLE;
    else
        status =
            options.a.count + options.b.count > 2 && options.a.count > 0 ? compare_runs(&options) : report_on(&options);
    name_set_finish(&options.a);
    name_set_finish(&options.b);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "writes one page of HTML to look at and to send",
    .help = "The page holds all that it needs: no network is asked, and no script is needed to read it. PROFILE is as "
            "for 'osprof show'; without it, it is of the last result of 'osprof run'. Several are added up. With older "
            "ones, A, the page tells too what has changed from them to B, as 'osprof compare' does.",
    .notes = "@FILE stands for the names in a file, one a line.",
    .options = rows,
    .common = COMMON_FORCE,
    .run = run_report,
};

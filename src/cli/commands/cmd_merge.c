/* osprof merge: the sum of many profiles, of many runs or machines. Only one of them is in memory at a time. */
#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "file_set.h"
#include "input.h"
#include "merging.h"
#include "name_list.h"
#include "option_table.h"
#include "output.h"
#include "units.h"

#define PROGRESS_INTERVAL_NS 100000000

struct merge_options {
    const char *output;     /* NULL or "-": standard output */
    const char *files_from; /* a list of more profiles; "-": standard input */
    char **names;
    size_t name_count;
};

/* What one run has done so far. */
struct merge_run {
    const struct merge_options *options;
    struct merging merging;
    struct file_set files; /* merged so far */
    bool progress;         /* standard error is a terminal */
    uint64_t progress_shown_ns;
};

/* ---- Progress ----------------------------------------------------------------------------------- */

/* Leaves the cursor at the line's beginning, so that a message goes over it. */
static void print_progress(const char *text) {
    fprintf(stderr, "%-40s\r", text);
    fflush(stderr);
}

static void show_progress(struct merge_run *run) {
    uint64_t now_ns = run->progress ? aggstats_clock_now(AGGSTATS_CLOCK_MONOTONIC) : 0;
    char count[UNITS_TEXT_SIZE];
    char text[UNITS_TEXT_SIZE + 32];
    if (!run->progress || now_ns - run->progress_shown_ns < PROGRESS_INTERVAL_NS)
        return;
    run->progress_shown_ns = now_ns;
    units_format_count(run->merging.added_count, count);
    snprintf(text, sizeof(text), "osprof: %s profiles merged", count);
    print_progress(text);
}

static void end_progress(const struct merge_run *run) {
    if (run->progress && run->progress_shown_ns > 0)
        print_progress("");
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

static enum status complain_other_layer(const struct merge_run *run, const char *name,
                                        const struct aggstats_profile *profile) {
    complain("cannot merge %s: its layer is %.63s, that of the profiles before it %.63s; merge each layer by itself",
             name, aggstats_profile_label(profile, "layer"), merging_layer(&run->merging));
    return STATUS_TROUBLE;
}

static enum status complain_unmerged(const struct merge_run *run, const char *name,
                                     const struct aggstats_profile *profile, int error) {
    if (error == -EXDEV)
        return complain_other_layer(run, name, profile);
    if (error == -EDOM && profile->clock.frequency_hz == 0)
        complain("cannot merge %s: it does not tell its clock's rate, as those before it do", name);
    else if (error == -EDOM)
        complain("cannot merge %s: it tells its clock's rate, which those before it do not", name);
    else if (error == -EOVERFLOW)
        complain("cannot merge %s: the sum does not fit 64 bits", name);
    else if (error == -E2BIG)
        complain("cannot merge %s: too many different operations", name);
    else
        complain("cannot merge %s: %s", name, strerror(-error));
    return STATUS_TROUBLE;
}

static enum status merge_one(struct merge_run *run, const char *name) {
    struct input input;
    if (input_load(name, &input) != 0)
        return STATUS_TROUBLE;
    if (file_set_add(&run->files, &input) == 0)
        complain("%s has been merged already: its calls are in the sum once more", name);
    int error = merging_add(&run->merging, &input.profile);
    enum status status = error ? complain_unmerged(run, name, &input.profile, error) : STATUS_OK;
    input_finish(&input);
    show_progress(run);
    return status;
}

static enum status merge_listed(struct merge_run *run, struct name_list *list) {
    char name[PATH_MAX];
    enum status status = STATUS_OK;
    int more = 0;
    while (status == STATUS_OK && (more = name_list_next(list, name)) > 0) {
        if (strcmp(name, "-") == 0 && list->stream == stdin) {
            complain("cannot merge -: standard input is the list of profiles already");
            return STATUS_TROUBLE;
        }
        status = merge_one(run, name);
    }
    return more < 0 ? STATUS_TROUBLE : status;
}

static enum status merge_list(struct merge_run *run) {
    struct name_list list;
    if (name_list_open(&list, run->options->files_from) != 0)
        return STATUS_TROUBLE;
    enum status status = merge_listed(run, &list);
    name_list_close(&list);
    return status;
}

static enum status merge_all(struct merge_run *run) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < run->options->name_count && status == STATUS_OK; i++)
        status = merge_one(run, run->options->names[i]);
    if (run->options->files_from && status == STATUS_OK)
        status = merge_list(run);
    if (status == STATUS_OK && run->merging.added_count == 0) {
        complain("nothing to merge: %s names no profile", run->options->files_from);
        status = STATUS_TROUBLE;
    }
    end_progress(run);
    return status;
}

static enum status write_sum(struct merge_run *run) {
    struct aggstats_profile sum = {0};
    int error = merging_result(&run->merging, &sum);
    if (error == -EOVERFLOW)
        complain("cannot merge: the sum does not fit 64 bits");
    else if (error)
        complain("cannot merge: %s", strerror(-error));
    if (error)
        return STATUS_TROUBLE;
    error = output_write_profile(run->options->output, &sum);
    aggstats_profile_finish(&sum);
    if (!error)
        return STATUS_OK;
    complain("cannot write profile %s: %s", run->options->output, strerror(-error));
    return STATUS_TROUBLE;
}

static enum status merge(const struct merge_options *options) {
    struct merge_run run = {.options = options, .progress = isatty(STDERR_FILENO)};
    enum status status = merge_all(&run);
    if (status == STATUS_OK)
        status = write_sum(&run);
    merging_finish(&run.merging);
    file_set_finish(&run.files);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_OUTPUT("write the sum to FILE, whole or not at all", struct merge_options, output),
    {.name = "files-from",
     .metavar = "LIST",
     .help = "also those that LIST names, one a line; - is standard input",
     INTO(FILE, struct merge_options, files_from)},
    ROW_ARGUMENTS(FILE, "[PROFILE]..."),
    {.kind = OPTION_END},
};

static enum status run_merge(const struct command *command, int argc, char **argv) {
    struct merge_options options = {0};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count == 0 && !options.files_from)
        return usage_error(command, "no profile given");
    options.names = arguments.rest;
    options.name_count = (size_t)arguments.rest_count;
    return merge(&options);
}

const struct command command_merge = {
    .name = "merge",
    .summary = "sums the profiles of many runs or machines into one",
    .help = "Adds calls, totals and buckets up, operation by operation, and writes the sum to standard output. "
            "PROFILE is as for 'osprof show'. All must be of one layer. The sum has the coarsest resolution "
            "among them, and the clock rate of the first; what other rates make approximate is told in its "
            "header.",
    .options = rows,
    .run = run_merge,
};

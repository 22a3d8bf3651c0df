/* osprof merge: the sum of many profiles, of many runs or machines. Only one of them is in memory at a time. Each layer
 * has a sum of its own, and several sums make a recording. */
#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "input.h"
#include "layer_sums.h"
#include "name_set.h"
#include "option_table.h"
#include "recording.h"
#include "units.h"

#define PROGRESS_INTERVAL_NS 100000000

struct merge_options {
    const char *layer;      /* NULL: all */
    const char *output;     /* NULL or "-": standard output */
    const char *files_from; /* a list of further profiles; "-": standard input */
    char **names;
    size_t name_count;
};

/* The state of one run. */
struct merge_run {
    const struct merge_options *options;
    struct layer_sums sums;
    uint64_t merged_count; /* profiles and recordings */
    struct file_set files; /* merged so far */
    bool progress;         /* standard error is a terminal */
    uint64_t progress_shown_ns;
};

/* ---- Progress ----------------------------------------------------------------------------------- */

/* Leaves the cursor at the beginning of the line, so that a message overwrites it. */
static void print_progress(const char *text) {
    fprintf(stderr, "%-40s\r", text);
    fflush(stderr);
}

static void show_progress(struct merge_run *run) {
    uint64_t now_ns = run->progress ? aggstats_clock_now(AGGSTATS_CLOCK_MONOTONIC) : 0;
    char text[UNITS_TEXT_SIZE + 32];
    if (!run->progress || now_ns - run->progress_shown_ns < PROGRESS_INTERVAL_NS)
        return;
    run->progress_shown_ns = now_ns;
    snprintf(text, sizeof(text), "osprof: %s profiles merged", units_count(run->merged_count).text);
    print_progress(text);
}

static void end_progress(const struct merge_run *run) {
    if (run->progress && run->progress_shown_ns > 0)
        print_progress("");
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

static enum status merge_layers(struct merge_run *run, const char *name, struct input *input) {
    struct input_layer layer = {.name = run->options->layer};
    enum status status = STATUS_OK;
    if (layer.name && input_choose(name, &layer, input) != 0)
        return STATUS_TROUBLE;
    for (size_t i = 0; i < input_layer_count(input) && status == STATUS_OK; i++)
        status = layer_sums_add(&run->sums, name, input_layer(input, i)) ? STATUS_TROUBLE : STATUS_OK;
    return status;
}

static enum status merge_one(struct merge_run *run, const char *name) {
    struct input input;
    if (input_load_recording(name, &input) != 0)
        return STATUS_TROUBLE;
    if (file_set_add(&run->files, input.device, input.is_file ? input.inode : 0) == 0)
        complain("%s has been merged already: its calls are in the sum once more", name);
    enum status status = merge_layers(run, name, &input);
    input_finish(&input);
    run->merged_count++;
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
    if (status == STATUS_OK && run->merged_count == 0) {
        complain("nothing to merge: %s names no profile", run->options->files_from);
        status = STATUS_TROUBLE;
    }
    end_progress(run);
    return status;
}

/* A profile that could not be read back is not written. */
static enum status sum_and_write(struct merge_run *run) {
    struct recording sum = {.layers = NULL};
    enum status status = STATUS_TROUBLE;
    if (layer_sums_result(&run->sums, &sum) == 0) {
        int error = recording_write(run->options->output, &sum);
        if (error)
            complain("cannot write profile %s: %s", run->options->output, strerror(-error));
        else
            status = STATUS_OK;
    }
    recording_finish(&sum);
    return status;
}

static enum status merge(const struct merge_options *options) {
    struct merge_run run = {.options = options, .progress = isatty(STDERR_FILENO)};
    enum status status = merge_all(&run);
    if (status == STATUS_OK)
        status = sum_and_write(&run);
    layer_sums_finish(&run.sums);
    file_set_finish(&run.files);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_OUTPUT("write the sum to FILE, whole or not at all", struct merge_options, output),
    ROW_LAYER_OF_ALL(struct merge_options, layer),
    {.name = "files-from",
     .metavar = "LIST",
     .help = "also those that LIST names, one a line; - is standard input",
     INTO(FILE, struct merge_options, files_from)},
    ROW_PROFILE_ARGUMENTS("[PROFILE]..."),
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
            "PROFILE is as for 'osprof show'. Layers are summed each by itself: of several, the result is a "
            "recording. A sum has the coarsest resolution among its profiles, and the clock rate of the first; what "
            "other rates make approximate is told in its "
            "header.",
    .options = rows,
    .run = run_merge,
};

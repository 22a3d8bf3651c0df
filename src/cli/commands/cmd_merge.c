/* osprof merge: the sum of many profiles, of many runs or machines. Only one of them is in memory at a time. Each layer
 * has a sum of its own, and several sums make a recording. */
#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "input.h"
#include "merging.h"
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
    struct merging *mergings; /* one for each layer */
    size_t merging_count;
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

static enum status complain_unmerged(const char *name, const struct aggstats_profile *profile, int error) {
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

/* The sum for a profile's layer. A profile without a layer is added to the first sum, and a sum of such profiles gets
 * the first layer named. */
static struct merging *find_merging(const struct merge_run *run, const char *layer) {
    for (size_t i = 0; i < run->merging_count; i++) {
        const char *other = merging_layer(&run->mergings[i]);
        if (!layer || !other || strcmp(layer, other) == 0)
            return &run->mergings[i];
    }
    return NULL;
}

static struct merging *begin_merging(struct merge_run *run) {
    struct merging *grown = reallocarray(run->mergings, run->merging_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    run->mergings = grown;
    grown[run->merging_count] = (struct merging){.sum_count = 0};
    return &grown[run->merging_count++];
}

static enum status merge_layer(struct merge_run *run, const char *name, const struct aggstats_profile *profile) {
    struct merging *merging = find_merging(run, aggstats_profile_label(profile, "layer"));
    if (!merging && run->merging_count == RECORDING_LAYERS_MAX) {
        complain("cannot merge %s: there are more than %d layers", name, RECORDING_LAYERS_MAX);
        return STATUS_TROUBLE;
    }
    if (!merging)
        merging = begin_merging(run);
    int error = merging ? merging_add(merging, profile) : -ENOMEM;
    return error ? complain_unmerged(name, profile, error) : STATUS_OK;
}

static enum status merge_layers(struct merge_run *run, const char *name, struct input *input) {
    struct input_layer layer = {.name = run->options->layer};
    enum status status = STATUS_OK;
    if (layer.name && input_choose(name, &layer, input) != 0)
        return STATUS_TROUBLE;
    for (size_t i = 0; i < input_layer_count(input) && status == STATUS_OK; i++)
        status = merge_layer(run, name, input_layer(input, i));
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

static int add_sum(struct merging *merging, struct recording *sums) {
    struct aggstats_profile sum = {0};
    int error = merging_result(merging, &sum);
    if (error == 0)
        error = recording_add(sums, &sum);
    aggstats_profile_finish(&sum);
    return error;
}

/* A profile that could not be read back is not written. */
static enum status write_sums(const struct merge_run *run, const struct recording *sums) {
    char complaint[RECORDING_COMPLAINT_SIZE];
    if (!recording_check(sums, complaint)) {
        complain("cannot merge these profiles: the sum is no recording: %s", complaint);
        return STATUS_TROUBLE;
    }
    int error = recording_write(run->options->output, sums);
    if (!error)
        return STATUS_OK;
    complain("cannot write profile %s: %s", run->options->output, strerror(-error));
    return STATUS_TROUBLE;
}

static enum status sum_and_write(struct merge_run *run) {
    struct recording sums = {.layers = NULL};
    enum status status = STATUS_TROUBLE;
    int error = 0;
    for (size_t i = 0; i < run->merging_count && error == 0; i++)
        error = add_sum(&run->mergings[i], &sums);
    if (error == 0)
        status = write_sums(run, &sums);
    else if (error == -EOVERFLOW)
        complain("cannot merge: the sum does not fit 64 bits");
    else
        complain("cannot merge: %s", strerror(-error));
    recording_finish(&sums);
    return status;
}

static enum status merge(const struct merge_options *options) {
    struct merge_run run = {.options = options, .progress = isatty(STDERR_FILENO)};
    enum status status = merge_all(&run);
    if (status == STATUS_OK)
        status = sum_and_write(&run);
    for (size_t i = 0; i < run.merging_count; i++)
        merging_finish(&run.mergings[i]);
    free(run.mergings);
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

/* osprof merge: the sum of many profiles, of many runs or machines. Only one of them is in memory at a time. Each layer
 * has a sum of its own, and several sums make a recording. */
#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "input.h"
#include "name_set.h"
#include "option_table.h"
#include "recording.h"
#include "units.h"

#define PROGRESS_INTERVAL_NS 100000000

struct merge_options {
    const char *layer;      /* NULL: all */
    const char *output;     /* NULL or "-": standard output */
    const char *files_from; /* a list of further profiles; "-": standard input */
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

/* Leaves the cursor at the beginning of the line, so that a message overwrites it. */
static void print_progress(const char *text) {
    fprintf(stderr, "%-40s\r", text);
    fflush(stderr);
}

static enum status merge_one(struct merge_run *run, const char *name) {
    struct input_layer layer = {.name = run->options->layer};
    struct input input;
    if (input_load_recording(name, &input) != 0)
        return STATUS_TROUBLE;
    if (file_set_add(&run->files, input.device, input.is_file ? input.inode : 0) == 0)
        complain("%s has been merged already: its calls are in the sum once more", name);
    int error = layer.name ? input_choose(name, &layer, &input) : 0;
    for (size_t i = 0; error == 0 && i < input_layer_count(&input); i++)
        error = layer_sums_add(&run->sums, name, input_layer(&input, i));
    input_finish(&input);
    run->merged_count++;
    const uint64_t now_ns = run->progress ? aggstats_clock_now(AGGSTATS_CLOCK_MONOTONIC) : 0;
    if (run->progress && now_ns - run->progress_shown_ns >= PROGRESS_INTERVAL_NS) {
        char text[UNITS_TEXT_SIZE + 32];
        run->progress_shown_ns = now_ns;
        snprintf(text, sizeof(text), "osprof: %s profiles merged", units_count(run->merged_count).text);
        print_progress(text);
    }
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static enum status merge_list(struct merge_run *run) {
    struct name_list list;
    char name[PATH_MAX];
    enum status status = STATUS_OK;
    int more = name_list_open(&list, run->options->files_from);
    if (more < 0)
        return STATUS_TROUBLE;
    while (status == STATUS_OK && (more = name_list_next(&list, name)) > 0) {
        if (strcmp(name, "-") == 0 && list.stream == stdin) {
            complain("cannot merge -: standard input is the list of profiles already");
            status = STATUS_TROUBLE;
        } else {
            status = merge_one(run, name);
        }
    }
    name_list_close(&list);
    return more < 0 ? STATUS_TROUBLE : status;
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

/* A sum that could not be read back is not written. */
static enum status run_merge(const struct command *command, int argc, char **argv) {
    struct merge_options options = {0};
    struct merge_run run = {.options = &options, .progress = isatty(STDERR_FILENO)};
    struct recording sum = {.layers = NULL};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count == 0 && !options.files_from)
        return usage_error(command, "no profile given");
    for (int i = 0; i < arguments.rest_count && status == STATUS_OK; i++)
        status = merge_one(&run, arguments.rest[i]);
    if (options.files_from && status == STATUS_OK)
        status = merge_list(&run);
    if (status == STATUS_OK && run.merged_count == 0) {
        complain("nothing to merge: %s names no profile", options.files_from);
        status = STATUS_TROUBLE;
    }
    if (run.progress && run.progress_shown_ns > 0)
        print_progress("");
    if (status == STATUS_OK && layer_sums_result(&run.sums, &sum) != 0)
        status = STATUS_TROUBLE;
    const int error = status == STATUS_OK ? recording_write(options.output, &sum) : 0;
    if (error) {
        complain("cannot write profile %s: %s", options.output, strerror(-error));
        status = STATUS_TROUBLE;
    }
    recording_finish(&sum);
    layer_sums_finish(&run.sums);
    file_set_finish(&run.files);
    return status;
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

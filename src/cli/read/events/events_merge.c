/* osprof events merge: recordings of several hosts on one time line, as one events file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_commands.h"
#include "events_merging.h"
#include "output.h"
#include "screen.h"
#include "units.h"

struct merge_options {
    const char *output;
};

/* stream: in memory */
static int add(void *stream, const void *bytes, size_t size_bytes) {
    return fwrite(bytes, 1, size_bytes, stream) == size_bytes ? 0 : -ENOMEM;
}

static void complain_unmerged(const char *name, int err) {
    if (err == -ENODATA)
        complain("cannot merge %s: it has no pairs of its clock and the time of day, or not the clock's rate", name);
    else if (err == -E2BIG)
        complain("cannot merge %s with those before it: more than %u recordings, or %u operations", name,
                 EVENTS_HOSTS_MAX, EVENTS_OPS_MAX);
    else
        complain("cannot merge %s: %s", name, strerror(-err));
}

/* Reads the merged file first: one that cannot be read is not written. */
static enum status write_merged(const struct merge_options *options, const char *bytes, size_t size_bytes) {
    const struct screen screen = screen_of_stdout(0, false);
    const struct units units = {.ascii = screen.ascii};
    char complaint[EVENTS_COMPLAINT_SIZE];
    char text[UNITS_TEXT_SIZE];
    struct events_file *file = NULL;
    int err = events_open(bytes, size_bytes, &file, complaint);
    for (size_t i = 0; err == 0 && !output_is_stdout(options->output) && i < file->host_count; i++) {
        const struct events_host_seen *host = &file->hosts[i];
        printf("%4" PRIu32 "  ", host->head.number);
        screen_print_untrusted(&screen, INK_STRONG, host->name ? host->name : "(not told)");
        units_format_seconds(&units, (double)host->head.error_ns / 1e9, text);
        if (host->head.error_ns == UINT64_MAX)
            puts(": nobody sets its clock, so its calls are not ordered with those of other machines");
        else
            printf(": its times may be off by %s\n", text);
    }
    events_close(file);
    if (err == 0)
        err = output_write_private(options->output, bytes, size_bytes);
    if (err < 0)
        complain("cannot write %s: %s", options->output, replace_error_text(err));
    return err < 0 ? STATUS_TROUBLE : STATUS_OK;
}

static enum status merge_inputs(const struct merge_options *options, const struct events_input *inputs, size_t count) {
    char *bytes = NULL;
    size_t size_bytes = 0;
    size_t place = 0;
    enum status status = STATUS_TROUBLE;
    CLEANUP_FREE const struct events_file **files = calloc(count, sizeof(struct events_file *));
    for (size_t i = 0; files && i < count; i++)
        files[i] = inputs[i].file;
    FILE *stream = open_memstream(&bytes, &size_bytes);
    int err = files && stream ? events_merge(files, count, add, stream, &place) : -ENOMEM;
    if (stream && fclose(stream) != 0 && err == 0)
        err = -ENOMEM;
    if (err < 0)
        complain_unmerged(inputs[place].name, err);
    else
        status = write_merged(options, bytes, size_bytes);
    free(bytes);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_OUTPUT("write the merged events to FILE, whole or not at all; - is standard output", struct merge_options,
               output),
    ROW_ARGUMENTS(FILE, "FILE..."),
    {.kind = OPTION_END},
};

static enum status run_merge(const struct command *command, int argc, char **argv) {
    struct merge_options options = {0};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count < 1)
        return usage_error(command, "at least one FILE is expected");
    if (!options.output)
        return usage_error(command, "-o FILE is expected");
    if (output_is_stdout(options.output) && isatty(STDOUT_FILENO))
        return usage_error(command, "events are not for a terminal; use -o FILE");
    const size_t count = (size_t)arguments.rest_count;
    size_t opened = 0;
    CLEANUP_FREE struct events_input *inputs = calloc(count, sizeof(*inputs));
    while (inputs && opened < count && events_input_open(arguments.rest[opened], &inputs[opened]) == 0)
        opened++;
    status = opened == count ? merge_inputs(&options, inputs, count) : STATUS_TROUBLE;
    while (opened > 0)
        events_input_finish(&inputs[--opened]);
    return status;
}

const struct command command_events_merge = {
    .name = "events merge",
    .summary = "puts recordings of several hosts on one time line",
    .help = "Puts the calls of several events files on one time line, by the clocks of their machines, and writes them "
            "as one events file. It tells for each recording by how much its times may be off: calls of different "
            "machines that are nearer to each other have no known order.",
    .options = rows,
    .run = run_merge,
};

/* osprof report: one page to send. */
#include <string.h>

#include "base.h"
#include "command.h"
#include "daemon_watch.h"
#include "input.h"
#include "option_table.h"
#include "output.h"
#include "report.h"

#define DEFAULT_OUTPUT "osprof.html"

struct report_options {
    const char *output;
    const char *layer; /* of recordings */
    const char *profile;
};

/* As of the profile, or of all layers of a recording. */
static mode_t mode_of(const struct input *input) {
    mode_t mode = output_mode(&input->profile);
    for (size_t i = 0; i < input->layers.count; i++)
        mode &= output_mode(&input->layers.layers[i]);
    return mode;
}

static enum status write_report(const struct report_options *options, const struct report *report, mode_t mode) {
    CLEANUP_FREE char *page = NULL;
    size_t bytes = 0;
    int error = output_format(report_write, report, &page, &bytes);
    if (error) {
        complain("cannot report on %s: %s", options->profile, strerror(-error));
        return STATUS_TROUBLE;
    }
    return output_deliver(options->output, DEFAULT_OUTPUT, mode, page, bytes) ? STATUS_OK : STATUS_TROUBLE;
}

static enum status report_on(const struct report_options *options) {
    struct input input;
    struct input_layer layer = {.name = options->layer};
    char warning[DAEMON_TEXT_SIZE];
    if (input_load_whole(options->profile, &input) != 0)
        return STATUS_TROUBLE;
    struct report report = {.input = &input, .name = options->profile};
    CLEANUP_FREE char *layers = NULL;
    const bool is_of_several = input.layers.count > 0;
    const mode_t mode = mode_of(&input);
    enum status status = STATUS_TROUBLE;
    if (is_of_several && report_layers(&input.layers, &layers) != 0)
        complain("cannot report on %s: no memory", options->profile);
    else if (input_choose(options->profile, &layer, &input) == 0) {
        const struct daemon_state daemon = daemon_state_find(&input);
        report.warning = daemon_state_warn(&daemon, warning) ? warning : NULL;
        report.layer = is_of_several ? aggstats_profile_label(&input.profile, "layer") : NULL;
        in_flight_find_out(&input);
        report.layers = layers;
        status = write_report(options, &report, mode);
    }
    input_finish(&input);
    return status;
}

static const struct option_row rows[] = {
    ROW_OUTPUT("FILE.html, written whole or not at all; - is standard output; default: osprof.html",
               struct report_options, output),
    ROW_LAYER(struct report_options, layer),
    ROW_PROFILE_ARGUMENTS("[PROFILE]"),
    {.kind = OPTION_END},
};

static enum status run_report(const struct command *command, int argc, char **argv) {
    struct report_options options = {0};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count > 1)
        return usage_error(command, "one profile at a time, not %d", arguments.rest_count);
    options.profile = arguments.rest_count > 0 ? arguments.rest[0] : "@1";
    return report_on(&options);
}

const struct command command_report = {
    .name = "report",
    .summary = "writes one page of HTML to look at and to send: what costs the time, in words, tables and pictures",
    .help = "The page holds all that it needs: no network is asked, and no script is needed to read it. PROFILE is as "
            "for 'osprof show'; without it, it is of the last result of 'osprof run'.",
    .options = rows,
    .run = run_report,
};

/* osprof events export: calls for other programs. */
#include "events_export.h"

#include <errno.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "events_commands.h"
#include "events_filter.h"
#include "events_input.h"
#include "option_table.h"
#include "output.h"

struct export_options {
    struct events_filter filter;
    const char *format;
    const char *output;
    const char *name;
};

static const struct {
    const char *name;
    events_export_fn write;
} formats[] = {{"csv", events_export_csv}, {"chrome", events_export_chrome}, {"perfetto", events_export_perfetto}};

static events_export_fn format_of(const char *name) {
    size_t i = 0;
    while (strcmp(formats[i].name, name) != 0)
        i++;
    return formats[i].write;
}

static enum status complain_unmade(const struct export_options *options, int err) {
    if (err == -EINVAL)
        complain("cannot export %s: it does not tell its clock's rate", options->name);
    else
        complain("cannot export %s: %s", options->name, strerror(-err));
    return STATUS_TROUBLE;
}

static enum status complain_unwritten(const struct export_options *options, int err) {
    complain("cannot write %s: %s", options->output, strerror(-err));
    return STATUS_TROUBLE;
}

/* A file is made in memory first, so that it is written as a whole or not at all. */
static enum status export_to_file(const struct export_options *options, struct events_export *out) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    out->stream = open_memstream(&text, &size_bytes);
    if (!out->stream)
        return complain_unmade(options, -ENOMEM);
    int err = format_of(options->format)(out);
    if (fclose(out->stream) != 0 && err == 0)
        err = -ENOMEM;
    if (err < 0)
        return complain_unmade(options, err);
    err = output_write_private(options->output, text, size_bytes);
    return err < 0 ? complain_unwritten(options, err) : STATUS_OK;
}

static enum status export_all(const struct export_options *options, struct events_export *out) {
    if (!output_is_stdout(options->output))
        return export_to_file(options, out);
    out->stream = stdout;
    int err = format_of(options->format)(out);
    return err < 0 ? complain_unmade(options, err) : STATUS_OK;
}

static enum status export_file(const struct command *command, struct export_options *options) {
    struct events_input input;
    if (events_input_open_with_paths(options->name, &input) < 0)
        return STATUS_TROUBLE;
    struct events_export out = {.file = input.file, .wants = events_filter_wants, .context = &options->filter};
    enum status status = events_filter_prepare(&options->filter, command, input.file);
    if (status == STATUS_OK)
        status = export_all(options, &out);
    events_input_finish(&input);
    return status;
}

static const struct option_row rows[] = {
    {.name = "format",
     .metavar = "FORMAT",
     WORDS("csv", "chrome", "perfetto"),
     .help = "{}; default: csv",
     INTO(WORD, struct export_options, format)},
    ROW_OUTPUT("write to FILE, whole or not at all", struct export_options, output),
    EVENTS_FILTER_ROWS(struct export_options, filter),
    ROW_ARGUMENTS(FILE, "FILE"),
    {.kind = OPTION_END},
};

static enum status run_export(const struct command *command, int argc, char **argv) {
    struct export_options options = {.format = "csv"};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    options.name = arguments.rest_count > 0 ? arguments.rest[0] : NULL;
    if (arguments.rest_count != 1)
        status = usage_error(command, "one FILE is expected");
    else if (strcmp(options.format, "perfetto") == 0 && output_is_stdout(options.output) && isatty(STDOUT_FILENO))
        status = usage_error(command, "perfetto's format is not for a terminal; give --output FILE");
    else
        status = export_file(command, &options);
    events_filter_finish(&options.filter);
    return status;
}

const struct command command_events_export = {
    .name = "events export",
    .summary = "writes calls for other programs: CSV, Chrome's or Perfetto's traces",
    .help = "Writes the calls that FILE holds to standard output: as CSV for DuckDB, pandas, ClickHouse and the like; "
            "as JSON for the trace viewer of Chromium (chrome://tracing); or for Perfetto (ui.perfetto.dev).",
    .options = rows,
    .run = run_export,
};

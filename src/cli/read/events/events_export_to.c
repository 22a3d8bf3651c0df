/* osprof events export: calls for other programs. */
#include "events_export.h"

#include <errno.h>
#include <string.h>

#include "base.h"
#include "events_commands.h"
#include "output.h"

struct export_options {
    struct events_filter filter;
    const char *format;
    const char *output;
};

static const struct {
    const char *name;
    events_export_fn write;
} formats[] = {{"csv", events_export_csv}, {"chrome", events_export_chrome}, {"perfetto", events_export_perfetto}};

static enum status complain_unmade(const struct events_input *input, int err) {
    if (err == -EINVAL)
        complain("cannot export %s: it does not tell its clock's rate", input->name);
    else
        complain("cannot export %s: %s", input->name, strerror(-err));
    return STATUS_TROUBLE;
}

static enum status end(const struct export_options *options, const struct events_input *input) {
    const bool has_none = events_filter_is_set(&options->filter) && options->filter.wanted_count == 0;
    return has_none ? events_complain_none(input) : STATUS_OK;
}

/* A file is made in memory first, so that it is written as a whole or not at all. */
static enum status export_calls(const struct command *command, void *given, const struct events_input *input) {
    struct export_options *options = given;
    struct events_export out = {
        .file = input->file, .wants = events_filter_wants, .context = &options->filter, .stream = stdout};
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    size_t format = 0;
    (void)command;
    while (strcmp(formats[format].name, options->format) != 0)
        format++;
    if (output_is_stdout(options->output)) {
        int err = formats[format].write(&out);
        return err < 0 ? complain_unmade(input, err) : end(options, input);
    }
    out.stream = open_memstream(&text, &size_bytes);
    if (!out.stream)
        return complain_unmade(input, -ENOMEM);
    int err = formats[format].write(&out);
    if (fclose(out.stream) != 0 && err == 0)
        err = -ENOMEM;
    if (err < 0)
        return complain_unmade(input, err);
    const enum status status = end(options, input);
    if (status != STATUS_OK)
        return status;
    err = output_write(options->output, 0600, text, size_bytes);
    if (err < 0)
        complain("cannot write %s: %s", options->output, output_error_text(err));
    return err < 0 ? STATUS_TROUBLE : STATUS_OK;
}

static const struct option_row rows[] = {
    {.name = "format",
     .metavar = "FORMAT",
     WORDS("csv", "chrome", "perfetto"),
     .help = "{}; default: csv",
     INTO(WORD, struct export_options, format)},
    ROW_OUTPUT("write to FILE, whole or not at all", struct export_options, output),
    EVENTS_FILTER_ROWS(struct export_options, filter),
    ROW_ARGUMENTS(FILE, "FILE..."),
    {.kind = OPTION_END},
};

static enum status check(const struct command *command, const void *given) {
    const struct export_options *options = given;
    const bool is_perfetto = strcmp(options->format, "perfetto") == 0;
    if (is_perfetto && !require_part(PART_PROTOBUF, "write Perfetto's format"))
        return STATUS_TROUBLE;
    if (is_perfetto && output_is_stdout(options->output) && isatty(STDOUT_FILENO))
        return usage_error(command, "perfetto's format is not for a terminal; give --output FILE");
    return STATUS_OK;
}

static enum status run_export(const struct command *command, int argc, char **argv) {
    struct export_options options = {.format = "csv"};
    const struct events_work work = {
        .options = &options, .filter = &options.filter, .check = check, .run = export_calls};
    return events_work_run(&work, command, argc, argv);
}

const struct command command_events_export = {
    .name = "events export",
    .summary = "writes calls for other programs: CSV, Chrome's or Perfetto's traces",
    .help =
        "Writes the calls that FILE holds to standard output: as CSV for DuckDB, pandas, ClickHouse and the like; "
        "as JSON for the trace viewer of Chromium (chrome://tracing); or for Perfetto (ui.perfetto.dev). Several FILEs "
        "are put on one time line.",
    .notes = "Exit status: 0; 1 no call is as asked for, and no file is written; 2 trouble.",
    .options = rows,
    .common = COMMON_FORCE,
    .run = run_export,
};

/* osprof events record and stop: recording while a mount serves. */
#include <errno.h>

#include "events_commands.h"
#include "mount_command.h"
#include "option_table.h"

static const struct option_row record_rows[] = {
    ROW_MOUNT_ARGUMENTS(FILE, "MOUNT FILE"),
    {.kind = OPTION_END},
};

static const struct option_row stop_rows[] = {
    ROW_MOUNT_ARGUMENTS(DIRECTORIES, "MOUNT"),
    {.kind = OPTION_END},
};

static const char *why_failed(int error) {
    switch (error) {
    case -EEXIST:
        return "it is there already; choose a new name";
    case -EBUSY:
        return "events go to another file already; 'osprof events stop' ends that";
    case -EINVAL:
    case -EOPNOTSUPP:
        return "this mount records no events";
    case -ETIMEDOUT:
        return "the file system that events were written to hangs";
    default:
        return mount_command_why(error);
    }
}

static enum status record(const char *mount, const char *file) {
    int error = mount_command(mount, "events", file, MOUNT_FILE_FILLED);
    if (error < 0)
        complain("cannot record events of %s to %s: %s", mount, file, why_failed(error));
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static enum status run_record(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count != 2)
        return usage_error(command, "a mount point and a new file must be given");
    return record(arguments.rest[0], arguments.rest[1]);
}

static enum status stop(const char *mount) {
    int error = mount_command(mount, "events off", NULL, MOUNT_FILE_FILLED);
    if (error < 0)
        complain("cannot save all events of %s: %s", mount, why_failed(error));
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static enum status run_stop(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count != 1)
        return usage_error(command, "exactly one mount point must be given");
    return stop(arguments.rest[0]);
}

const struct command command_events_record = {
    .name = "events record",
    .summary = "records single calls of a mount to a file, from now on",
    .help =
        "Records every call through the osproffs mount MOUNT to the new file FILE, until 'osprof events stop' or the "
        "end of the mount. How large it may become, and whether only the last calls are kept, is said when mounting. "
        "Who may command the mount may.",
    .options = record_rows,
    .run = run_record,
};

const struct command command_events_stop = {
    .name = "events stop",
    .summary = "ends the recording of single calls of a mount",
    .help =
        "Ends what -o events=FILE of osproffs, or 'osprof events record', has begun: when this returns, the file of "
        "the osproffs mount MOUNT is whole.",
    .options = stop_rows,
    .run = run_stop,
};

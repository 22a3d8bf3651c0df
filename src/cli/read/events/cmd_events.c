/* osprof events: single calls. Recording them while a mount serves: osprof events record and stop. */
#include <errno.h>

#include "events_commands.h"
#include "mount_command.h"

static const struct option_row record_rows[] = {
    ROW_MOUNT_ARGUMENTS(FILE, "MOUNT FILE"),
    {.kind = OPTION_END},
};

static const struct option_row stop_rows[] = {
    ROW_MOUNT_ARGUMENTS(DIRECTORIES, "MOUNT"),
    {.kind = OPTION_END},
};

static const char *why_failed(int error, const char *file) {
    (void)file;
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
        return NULL;
    }
}

static const struct mount_verb record = {
    .verb = "events",
    .use = MOUNT_FILE_FILLED,
    .files_min = 1,
    .files_max = 1,
    .wrong_usage = "a mount point and a new file must be given",
    .failed = "cannot record events of",
    .to = "to",
    .why = why_failed,
};

static const struct mount_verb stop = {
    .verb = "events off",
    .wrong_usage = "exactly one mount point must be given",
    .failed = "cannot save all events of",
    .why = why_failed,
};

static const struct command command_events_record = {
    .name = "events record",
    .summary = "records single calls of a mount to a file, from now on",
    .help =
        "Records every call through the osproffs mount MOUNT to the new file FILE, until 'osprof events stop' or the "
        "end of the mount. How large it may become, and whether only the last calls are kept, is said when mounting. "
        "Who may command the mount may.",
    .options = record_rows,
    .run = mount_verb_run,
    .mount_verb = &record,
};

static const struct command command_events_stop = {
    .name = "events stop",
    .summary = "ends the recording of single calls of a mount",
    .help =
        "Ends what -o events=FILE of osproffs, or 'osprof events record', has begun: when this returns, the file of "
        "the osproffs mount MOUNT is whole.",
    .options = stop_rows,
    .run = mount_verb_run,
    .mount_verb = &stop,
};

static const struct command *const subcommands[] = {
    &command_events_show,
    &command_events_profile,
    &command_events_export,
    &command_events_merge,
    &command_events_record,
    &command_events_stop,
    NULL,
};

const struct command command_events = {
    .name = "events",
    .summary = "shows single calls, makes profiles of them, exports them",
    .help = "Reads what osproffs -o events=FILE, or 'osprof events record', has recorded: every call, with all that is "
            "known of it.",
    .subcommands = subcommands,
};

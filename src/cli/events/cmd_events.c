/* osprof events: single calls. */
#include "events_commands.h"

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

/* osprof events: single calls that were recorded. */
#include "events_commands.h"

static const struct command *const subcommands[] = {
    &command_events_show,
    &command_events_profile,
    &command_events_export,
    NULL,
};

const struct command command_events = {
    .name = "events",
    .summary = "shows recorded single calls; makes profiles of them",
    .help = "Reads the calls that osproffs -o events=FILE, osprof attach --events FILE or\n"
            "'osprof ctl MOUNT events FILE' has recorded, with all that is known of each.",
    .subcommands = subcommands,
};

/* The subcommands of osprof events, one file each. */
#ifndef EVENTS_COMMANDS_H
#define EVENTS_COMMANDS_H

#include <stddef.h>

#include "command.h"

extern const struct command command_events_show;
extern const struct command command_events_profile;
extern const struct command command_events_export;
extern const struct command command_events_merge;
extern const struct command command_events_replay;
extern const struct command command_events_record;
extern const struct command command_events_stop;

#endif

/* The subcommands of osprof events, one file each. */
#ifndef CMD_EVENTS_H
#define CMD_EVENTS_H

#include <stddef.h>

#include "command.h"

extern const struct command command_events_show;
extern const struct command command_events_profile;
extern const struct command command_events_export;
extern const struct command command_events_merge;
extern const struct command command_events_replay;

#endif

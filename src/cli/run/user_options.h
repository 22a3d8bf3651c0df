/* Options for osproffs that the layer user takes as well: its profile has the same resolution and groups. */
#ifndef USER_OPTIONS_H
#define USER_OPTIONS_H

#include <stdbool.h>

#include "command.h"
#include "option_list.h"
#include "session.h"

/* Of all layers that osprof run counts itself, unless -o resolution says otherwise: percentiles are within 19 %. */
#define RUN_RESOLUTION 4

/* Their names, in words. */
#define USER_OPTIONS_TEXT "resolution, interval, intervals, by and groups"

struct user_options {
    struct session_options session; /* without labels */
    bool has_groups_unasked;        /* the user has not mentioned groups */
    unsigned directory_depth;       /* 0: any */
};

/* Reads lists as given with -o.
 * is_alone: without osproffs other options are errors
 * Returns false, after reporting it, if an option is wrong */
bool user_options_take(const struct command *command, const struct option_list *lists, bool is_alone,
                       struct user_options *ret_options);

#endif

/* The events file of a command line. */
#ifndef EVENTS_INPUT_H
#define EVENTS_INPUT_H

#include <stddef.h>

#include "events_reader.h"

struct events_input {
    const char *name;
    void *data;
    struct events_file *file;
};

/* Reads it; "-" is standard input. Missing events are reported on standard error.
 * Owner:   the caller finishes *ret_input; it keeps name
 * Errors:  the failed call's, already reported to the user; *ret_input untouched */
int events_input_open(const char *name, struct events_input *ret_input);

/* The same for commands that need whole paths, see events_find_links(). */
int events_input_open_with_paths(const char *name, struct events_input *ret_input);
void events_input_finish(struct events_input *input);

#endif

/* Formats that osprof events export writes, a file each. */
#ifndef EVENTS_EXPORT_H
#define EVENTS_EXPORT_H

#include <stdio.h>

#include "events_filter.h"
#include "events_reader.h"

struct events_export {
    const struct events_file *file;
    struct events_filter *filter; /* prepared */
    FILE *stream;                 /* what goes wrong there is for the caller to see */
};

/* Writes the calls that are wanted, in the order of their starts.
 * Errors:  -ENOMEM, -EINVAL the format cannot hold them: the file does not tell its clock's rate */
typedef int (*events_export_fn)(const struct events_export *out);
int events_export_csv(const struct events_export *out);
int events_export_chrome(const struct events_export *out);
int events_export_perfetto(const struct events_export *out);

/* Calls `each` for every call that is wanted, until it returns less than 0, which is then returned. Errors: -ENOMEM */
typedef int (*events_each_fn)(void *context, const struct event *event);
int events_export_each(const struct events_export *out, events_each_fn each, void *context);

/* A thread's name; for all formats. */
#define EVENTS_NAME_SIZE 64
void events_export_name(const struct events_file *file, uint32_t thread, char ret_name[EVENTS_NAME_SIZE]);

/* "ENOENT"; "" for 0. */
const char *events_export_error(unsigned error, char ret_text[16]);

#endif

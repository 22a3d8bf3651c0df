/* Formats of osprof events export, a file each. */
#ifndef EVENTS_EXPORT_H
#define EVENTS_EXPORT_H

#include <stdio.h>

#include "events_filter.h"
#include "events_reader.h"

struct events_export {
    const struct events_file *file;
    struct events_filter *filter; /* prepared */
    FILE *stream;                 /* the caller checks it for errors */
};

/* Writes the selected calls, in the order of their starts.
 * Errors:  -ENOMEM, -EINVAL the format cannot hold them: the file has no clock rate */
typedef int (*events_export_fn)(const struct events_export *out);
int events_export_csv(const struct events_export *out);
int events_export_chrome(const struct events_export *out);
int events_export_perfetto(const struct events_export *out);

/* Calls `each` for every selected call, until it returns a negative value, which is then returned. Errors: -ENOMEM */
typedef int (*events_each_fn)(void *context, const struct event *event);
int events_export_each(const struct events_export *out, events_each_fn each, void *context);

/* A thread's name; for all formats. */
#define EVENTS_NAME_SIZE 64
void events_export_name(const struct events_file *file, uint32_t thread, char ret_name[EVENTS_NAME_SIZE]);

/* "ENOENT"; "" for 0. */
const char *events_export_error(unsigned error, char ret_text[16]);

#endif

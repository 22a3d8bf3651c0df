/* Calls of an events file as other programs read them. */
#ifndef EVENTS_EXPORT_H
#define EVENTS_EXPORT_H

#include <stdio.h>

#include "events_reader.h"

struct events_export {
    const struct events_file *file;
    events_wants_fn wants; /* selects calls */
    void *context;         /* of wants */
    FILE *stream;          /* the caller checks it for errors */
};

/* Writes the selected calls, in the order of their starts.
 * Errors:  -ENOMEM, -EINVAL the format cannot hold them: the file has no clock rate, -ENOTSUP it is not built in */
typedef int (*events_export_fn)(const struct events_export *out);
int events_export_csv(const struct events_export *out);
int events_export_chrome(const struct events_export *out);
int events_export_perfetto(const struct events_export *out);

#endif

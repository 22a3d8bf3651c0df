/* What all formats of exported calls need. */
#include "events_export.h"

#include <errno.h>
#include <string.h>

#include "base.h"

int events_export_each(const struct events_export *out, events_each_fn each, void *context) {
    struct events_cursor *cursor;
    struct event event;
    int err = events_cursor_open(out->file, &cursor);
    if (err < 0)
        return err;
    while (err >= 0 && !ferror(out->stream) && events_next(cursor, &event))
        if (events_filter_wants(out->filter, &event))
            err = each(context, &event);
    events_cursor_close(cursor);
    return err < 0 ? err : 0;
}

void events_export_name(const struct events_file *file, uint32_t thread, char ret_name[EVENTS_NAME_SIZE]) {
    struct events_text name;
    events_task(file, thread, &name);
    if (thread == 0)
        snprintf(ret_name, EVENTS_NAME_SIZE, "kernel");
    else
        snprintf(ret_name, EVENTS_NAME_SIZE, "%.*s", name.bytes ? (int)name.length : 0, name.bytes ? name.bytes : "");
}

const char *events_export_error(unsigned error, char ret_text[16]) {
    const char *name = error ? strerrorname_np((int)error) : "";
    if (!name)
        snprintf(ret_text, 16, "%u", error);
    return name ? name : ret_text;
}

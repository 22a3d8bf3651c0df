/* Functions for all formats of exported calls. */
#include <string.h>

#include "events_export_private.h"

struct exporting {
    const struct events_export *out;
    events_each_fn each;
    void *context;
};

static int export_call(void *context, const struct event *event) {
    const struct exporting *exporting = context;
    const struct events_export *out = exporting->out;
    if (ferror(out->stream))
        return 1; /* nobody reads the rest */
    return out->wants(out->context, event) ? exporting->each(exporting->context, event) : 0;
}

int events_export_each(const struct events_export *out, events_each_fn each, void *context) {
    struct exporting exporting = {out, each, context};
    int err = events_each(out->file, export_call, &exporting);
    return err < 0 ? err : 0;
}

void events_export_name(const struct events_file *file, const struct event *event, char ret_name[EVENTS_NAME_SIZE]) {
    struct events_text name;
    events_task(file, event, &name);
    if (event->thread == 0)
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

#include "show_kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "input.h"
#include "kept.h"
#include "screen.h"

static int print_entry(const struct kept_entry *entry, const struct screen *screen) {
    struct input input;
    int error = input_load_recording(entry->name, &input);
    if (error)
        return error;
    CLEANUP_FREE char *text = input_describe_run(input_layer(&input, 0), strchr(entry->name, '.'));
    const int column = fprintf(screen->stream, "%-4s %s  ", entry->name, entry->time);
    CLEANUP_FREE char *cut = text ? screen_cut(screen, text, screen->width - column, SCREEN_BEGINNING) : NULL;
    fprintf(screen->stream, "%s\n", cut ? cut : "");
    input_finish(&input);
    return 0;
}

enum status show_kept(void) {
    const struct screen screen = screen_of_stdout(0, false);
    CLEANUP_FREE struct kept_entry *entries = NULL;
    size_t count = 0;
    if (kept_list(&entries, &count) != 0)
        return STATUS_TROUBLE;
    enum status status = STATUS_OK;
    input_tell_kept(false);
    for (size_t i = 0; i < count; i++)
        if (print_entry(&entries[i], &screen) != 0)
            status = STATUS_TROUBLE;
    return status;
}

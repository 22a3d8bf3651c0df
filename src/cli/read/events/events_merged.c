/* Several events files as one: recordings of several hosts on one time line, merged in memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_commands.h"
#include "events_merging.h"
#include "units.h"

/* stream: in memory */
static int add(void *stream, const void *bytes, size_t size_bytes) {
    return fwrite(bytes, 1, size_bytes, stream) == size_bytes ? 0 : -ENOMEM;
}

static void complain_unmerged(const char *name, int err) {
    if (err == -ENODATA)
        complain("cannot merge %s: it has no pairs of its clock and the time of day, or not the clock's rate", name);
    else if (err == -E2BIG)
        complain("cannot merge %s with those before it: more than %u recordings, or %u operations", name,
                 EVENTS_HOSTS_MAX, EVENTS_OPS_MAX);
    else
        complain("cannot merge %s: %s", name, strerror(-err));
}

/* By how much times of different hosts may be off. */
static void tell_clocks(const struct events_file *file) {
    const struct units units = {.ascii = true};
    char text[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < file->host_count; i++) {
        const struct events_host_seen *host = &file->hosts[i];
        const char *name = host->name ? host->name : "(a host without a name)";
        units_format_seconds(&units, (double)host->head.error_ns / 1e9, text);
        if (host->head.error_ns == UINT64_MAX)
            complain("%s: nobody sets its clock, so its calls are not ordered with those of other machines", name);
        else
            complain("%s: its times may be off by %s", name, text);
    }
}

static int merge(const struct events_input *inputs, size_t count, struct events_input *ret_input) {
    struct events_input merged = {.name = "the merged files"};
    char complaint[EVENTS_COMPLAINT_SIZE] = "";
    char *bytes = NULL;
    size_t size_bytes = 0;
    size_t place = 0;
    CLEANUP_FREE const struct events_file **files = calloc(count, sizeof(struct events_file *));
    for (size_t i = 0; files && i < count; i++)
        files[i] = inputs[i].file;
    FILE *stream = open_memstream(&bytes, &size_bytes);
    int err = files && stream ? events_merge(files, count, add, stream, &place) : -ENOMEM;
    if (stream && fclose(stream) != 0 && err == 0)
        err = -ENOMEM;
    if (err < 0) {
        complain_unmerged(inputs[place].name, err);
    } else {
        err = events_open(bytes, size_bytes, &merged.file, complaint);
        if (err < 0)
            complain("cannot merge: %s", complaint[0] ? complaint : strerror(-err));
    }
    if (err < 0) {
        free(bytes);
        return err;
    }
    merged.data = bytes;
    tell_clocks(merged.file);
    *ret_input = merged;
    return 0;
}

int events_inputs_open(char *const *names, size_t count, struct events_input *ret_input) {
    size_t opened = 0;
    int err = 0;
    for (size_t i = 0, streams = 0; i < count; i++) {
        streams += strcmp(names[i], "-") == 0;
        if (streams > 1) {
            complain("standard input can be read once: give - once");
            return -EINVAL;
        }
    }
    if (count == 1)
        return events_input_open(names[0], ret_input);
    CLEANUP_FREE struct events_input *inputs = calloc(count, sizeof(*inputs));
    if (!inputs) {
        complain("cannot merge: no memory");
        return -ENOMEM;
    }
    for (; err == 0 && opened < count; opened += err == 0)
        err = events_input_open(names[opened], &inputs[opened]);
    if (err == 0)
        err = merge(inputs, count, ret_input);
    while (opened > 0)
        events_input_finish(&inputs[--opened]);
    return err;
}

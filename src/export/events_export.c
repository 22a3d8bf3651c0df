/* Functions for all formats of exported calls. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
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

/* ---- Lanes: callers, each with the ends of the last calls in its lanes ---- */

struct events_caller {
    uint64_t process;
    bool is_first; /* of its thread number */
    struct caller_lane {
        uint64_t end_cycles;
        size_t index;
    } * lanes;
    unsigned lane_count;
};

void events_lanes_finish(struct events_lanes *lanes) {
    for (size_t i = 0; i < lanes->caller_count; i++)
        free(lanes->callers[i].lanes);
    free(lanes->callers);
    number_map_finish(&lanes->places);
}

/* NULL: no memory. */
static struct events_caller *find_caller(struct events_lanes *lanes, const struct event *event) {
    struct events_text unused;
    char name[EVENTS_NAME_SIZE];
    const uint32_t thread = event->thread;
    const uint64_t process = events_task(lanes->file, event, &unused);
    events_export_name(lanes->file, event, name);
    /* Callers with equal hashes share their lanes. No hash is the number of a thread. */
    const uint64_t key = hash_text(HASH_BEGIN ^ process ^ (uint64_t)thread << 32, name) | UINT64_C(1) << 63;
    const size_t place = number_map_get(&lanes->places, key);
    const bool is_first = number_map_get(&lanes->places, thread) == 0;
    if (place > 0)
        return &lanes->callers[place - 1];
    if (grow_array(&lanes->callers, lanes->caller_count, sizeof(*lanes->callers)) < 0 ||
        number_map_set(&lanes->places, key, lanes->caller_count + 1) < 0 ||
        number_map_set(&lanes->places, thread, 1) < 0)
        return NULL;
    struct events_caller *caller = &lanes->callers[lanes->caller_count++];
    *caller = (struct events_caller){.process = process ? process : thread, .is_first = is_first};
    return caller;
}

int events_lanes_put(struct events_lanes *lanes, const struct event *event, struct events_lane *ret_lane,
                     bool *ret_is_new, uint64_t *ret_start_cycles) {
    struct events_caller *caller = find_caller(lanes, event);
    unsigned number = 0;
    if (!caller)
        return -ENOMEM;
    while (number < caller->lane_count && caller->lanes[number].end_cycles > event->start_cycles)
        number++;
    *ret_is_new = number == caller->lane_count && number < EVENTS_LANES_MAX;
    if (*ret_is_new) {
        if (grow_array(&caller->lanes, caller->lane_count, sizeof(*caller->lanes)) < 0)
            return -ENOMEM;
        caller->lanes[caller->lane_count++] = (struct caller_lane){.index = lanes->lane_count++};
    }
    number = number < EVENTS_LANES_MAX ? number : EVENTS_LANES_MAX - 1;
    struct caller_lane *lane = &caller->lanes[number];
    *ret_start_cycles = event->start_cycles;
    if (lane->end_cycles > event->start_cycles) /* the last one, which is shared */
        *ret_start_cycles = lane->end_cycles < event->end_cycles ? lane->end_cycles : event->end_cycles;
    if (event->end_cycles > lane->end_cycles)
        lane->end_cycles = event->end_cycles;
    *ret_lane = (struct events_lane){.process = caller->process,
                                     .thread = event->thread,
                                     .number = number,
                                     .is_first = caller->is_first && number == 0,
                                     .index = lane->index};
    return 0;
}

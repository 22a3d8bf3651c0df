/* Callers, each with the ends of the last calls in its lanes. */
#include <stdlib.h>

#include "base.h"
#include "events_export_private.h"

struct events_caller {
    uint32_t thread;
    uint64_t process;
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

static int add_lane(struct events_lanes *lanes, struct events_caller *caller) {
    int err = grow_array(&caller->lanes, caller->lane_count, sizeof(*caller->lanes));
    if (err == 0)
        caller->lanes[caller->lane_count++] = (struct caller_lane){.index = lanes->lane_count++};
    return err;
}

/* NULL: no memory. */
static struct events_caller *find_caller(struct events_lanes *lanes, uint32_t thread) {
    struct events_text name;
    size_t place = number_map_get(&lanes->places, thread);
    if (place > 0)
        return &lanes->callers[place - 1];
    if (grow_array(&lanes->callers, lanes->caller_count, sizeof(*lanes->callers)) < 0 ||
        number_map_set(&lanes->places, thread, lanes->caller_count + 1) < 0)
        return NULL;
    uint64_t process = events_task(lanes->file, thread, &name);
    struct events_caller *caller = &lanes->callers[lanes->caller_count++];
    *caller = (struct events_caller){.thread = thread, .process = process ? process : thread};
    return caller;
}

int events_lanes_put(struct events_lanes *lanes, const struct event *event, struct events_lane *ret_lane,
                     bool *ret_is_new, uint64_t *ret_start_cycles) {
    struct events_caller *caller = find_caller(lanes, event->thread);
    unsigned number = 0;
    if (!caller)
        return -ENOMEM;
    while (number < caller->lane_count && caller->lanes[number].end_cycles > event->start_cycles)
        number++;
    *ret_is_new = number == caller->lane_count && number < EVENTS_LANES_MAX;
    if (*ret_is_new && add_lane(lanes, caller) < 0)
        return -ENOMEM;
    number = number < EVENTS_LANES_MAX ? number : EVENTS_LANES_MAX - 1;
    struct caller_lane *lane = &caller->lanes[number];
    *ret_start_cycles = event->start_cycles;
    if (lane->end_cycles > event->start_cycles) /* the last one, which is shared */
        *ret_start_cycles = lane->end_cycles < event->end_cycles ? lane->end_cycles : event->end_cycles;
    if (event->end_cycles > lane->end_cycles)
        lane->end_cycles = event->end_cycles;
    *ret_lane = (struct events_lane){
        .process = caller->process, .thread = caller->thread, .number = number, .index = lane->index};
    return 0;
}

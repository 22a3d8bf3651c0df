/* A hash table of callers, each with the ends of the last calls in its lanes. */
#include "events_lanes.h"

#include <stdlib.h>

#include "base.h"

#define FIRST_PLACES 64U

struct caller {
    uint32_t thread;
    unsigned lane_count; /* 0: a free place */
    uint64_t process;
    uint64_t *ends_cycles; /* [lane_count] */
    size_t *indices;       /* [lane_count] */
};

struct events_lanes {
    const struct events_file *file;
    struct caller *places;
    size_t place_count; /* a power of two */
    size_t caller_count;
    size_t lane_count;
};

static struct caller *place_of(struct caller *places, size_t place_count, uint32_t thread) {
    size_t at = (size_t)(thread * UINT64_C(11400714819323198485) >> 32) & (place_count - 1);
    while (places[at].lane_count > 0 && places[at].thread != thread)
        at = (at + 1) & (place_count - 1);
    return &places[at];
}

static int grow(struct events_lanes *lanes) {
    size_t place_count = 2 * lanes->place_count;
    struct caller *places = calloc(place_count, sizeof(*places));
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < lanes->place_count; i++)
        if (lanes->places[i].lane_count > 0)
            *place_of(places, place_count, lanes->places[i].thread) = lanes->places[i];
    free(lanes->places);
    lanes->places = places;
    lanes->place_count = place_count;
    return 0;
}

int events_lanes_create(const struct events_file *file, struct events_lanes **ret_lanes) {
    struct events_lanes *lanes = calloc(1, sizeof(*lanes));
    if (!lanes)
        return -ENOMEM;
    *lanes = (struct events_lanes){.file = file, .place_count = FIRST_PLACES};
    lanes->places = calloc(FIRST_PLACES, sizeof(*lanes->places));
    if (!lanes->places) {
        free(lanes);
        return -ENOMEM;
    }
    *ret_lanes = lanes;
    return 0;
}

void events_lanes_destroy(struct events_lanes *lanes) {
    if (!lanes)
        return;
    for (size_t i = 0; i < lanes->place_count; i++) {
        free(lanes->places[i].ends_cycles);
        free(lanes->places[i].indices);
    }
    free(lanes->places);
    free(lanes);
}

static int add_lane(struct events_lanes *lanes, struct caller *caller) {
    uint64_t *ends = reallocarray(caller->ends_cycles, caller->lane_count + 1, sizeof(*ends));
    if (!ends)
        return -ENOMEM;
    caller->ends_cycles = ends;
    size_t *indices = reallocarray(caller->indices, caller->lane_count + 1, sizeof(*indices));
    if (!indices)
        return -ENOMEM;
    caller->indices = indices;
    ends[caller->lane_count] = 0;
    indices[caller->lane_count++] = lanes->lane_count++;
    return 0;
}

static int find_caller(struct events_lanes *lanes, uint32_t thread, struct caller **ret_caller) {
    struct events_text name;
    int err = 2 * lanes->caller_count >= lanes->place_count ? grow(lanes) : 0;
    if (err < 0)
        return err;
    struct caller *caller = place_of(lanes->places, lanes->place_count, thread);
    if (caller->lane_count == 0) {
        uint64_t process = events_task(lanes->file, thread, &name);
        *caller = (struct caller){.thread = thread, .process = process ? process : thread};
        lanes->caller_count++;
    }
    *ret_caller = caller;
    return 0;
}

int events_lanes_put(struct events_lanes *lanes, const struct event *event, struct events_lane *ret_lane,
                     bool *ret_is_new, uint64_t *ret_start_cycles) {
    struct caller *caller;
    unsigned number = 0;
    int err = find_caller(lanes, event->thread, &caller);
    if (err < 0)
        return err;
    while (number < caller->lane_count && caller->ends_cycles[number] > event->start_cycles)
        number++;
    *ret_is_new = number == caller->lane_count && number < EVENTS_LANES_MAX;
    if (*ret_is_new)
        err = add_lane(lanes, caller);
    if (err < 0)
        return err;
    number = number < EVENTS_LANES_MAX ? number : EVENTS_LANES_MAX - 1;
    uint64_t free_cycles = caller->ends_cycles[number] > event->start_cycles ? caller->ends_cycles[number] : 0;
    *ret_start_cycles = free_cycles == 0                  ? event->start_cycles
                        : free_cycles < event->end_cycles ? free_cycles
                                                          : event->end_cycles;
    if (event->end_cycles > caller->ends_cycles[number])
        caller->ends_cycles[number] = event->end_cycles;
    *ret_lane = (struct events_lane){
        .process = caller->process, .thread = caller->thread, .number = number, .index = caller->indices[number]};
    return 0;
}

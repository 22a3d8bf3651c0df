/* Lanes: calls of one caller that overlap are put beside each other, so that in each lane one follows the other. */
#ifndef EVENTS_LANES_H
#define EVENTS_LANES_H

#include "events_reader.h"

/* Calls beyond so many at a time share the last lane. */
#define EVENTS_LANES_MAX 1024U

struct events_lane {
    uint64_t process; /* of the caller; 0: the kernel itself */
    uint32_t thread;  /* of the caller */
    unsigned number;  /* of this caller's lanes, from 0 */
    size_t index;     /* of all lanes, from 0, in the order in which they are first needed */
};

struct events_lanes;

/* Owner: the caller destroys *ret_lanes. Errors: -ENOMEM */
int events_lanes_create(const struct events_file *file, struct events_lanes **ret_lanes);
void events_lanes_destroy(struct events_lanes *lanes);

/* The lane of the next call, in the order of their starts. ret_is_new: there was none like it. ret_start_cycles: when
 * the call begins, or, where the last lane is shared, as soon as there is room; not after its end
 * Errors:  -ENOMEM */
int events_lanes_put(struct events_lanes *lanes, const struct event *event, struct events_lane *ret_lane,
                     bool *ret_is_new, uint64_t *ret_start_cycles);

#endif

/* Lanes: overlapping calls of one caller are placed in different lanes, so that calls of one lane follow each other. */
#ifndef EVENTS_LANES_H
#define EVENTS_LANES_H

#include "events_reader.h"

/* More overlapping calls share the last lane. */
#define EVENTS_LANES_MAX 1024U

struct events_lane {
    uint64_t process; /* of the caller; 0: the kernel itself */
    uint32_t thread;  /* of the caller */
    unsigned number;  /* of this caller's lanes, from 0 */
    size_t index;     /* of all lanes, from 0, in the order of their first use */
};

struct events_lanes;

/* Owner: the caller destroys *ret_lanes. Errors: -ENOMEM */
int events_lanes_create(const struct events_file *file, struct events_lanes **ret_lanes);
void events_lanes_destroy(struct events_lanes *lanes);

/* The lane of the next call, in the order of their starts. ret_is_new: it has not been returned before.
 * ret_start_cycles: the beginning of the call, or, if the last lane is shared, the first moment at which there is room;
 * not after its end
 * Errors:  -ENOMEM */
int events_lanes_put(struct events_lanes *lanes, const struct event *event, struct events_lane *ret_lane,
                     bool *ret_is_new, uint64_t *ret_start_cycles);

#endif

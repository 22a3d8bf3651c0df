/* Private: what the formats of exported calls share. */
#ifndef EVENTS_EXPORT_PRIVATE_H
#define EVENTS_EXPORT_PRIVATE_H

#include "events_export.h"
#include "number_map.h"

/* Calls `each` for every selected call, until it returns a negative value, which is then returned. Errors: -ENOMEM */
int events_export_each(const struct events_export *out, events_each_fn each, void *context);

/* The name of the thread that made a call. */
#define EVENTS_NAME_SIZE 64
void events_export_name(const struct events_file *file, const struct event *event, char ret_name[EVENTS_NAME_SIZE]);

/* "ENOENT"; "" for 0. */
const char *events_export_error(unsigned error, char ret_text[16]);

/* ---- Lanes ----
 *
 * Overlapping calls of one caller are in different lanes, so that the calls of a lane follow each other. A thread that
 * executes another program becomes a new caller; so does a thread that gets the number of an ended thread. */

/* More overlapping calls share the last lane. */
#define EVENTS_LANES_MAX 1024U

struct events_lane {
    uint64_t process; /* of the caller; 0: the kernel itself */
    uint32_t thread;  /* of the caller */
    unsigned number;  /* of this caller's lanes, from 0 */
    bool is_first;    /* the first lane of this thread number */
    size_t index;     /* of all lanes, from 0, in the order of their first use */
};

/* To be zeroed except for the file: then there are none yet. Owner: the caller finishes it */
struct events_lanes {
    const struct events_file *file;
    struct events_caller *callers;
    size_t caller_count;
    size_t lane_count;
    struct number_map places; /* by caller: index in callers + 1; by thread: any, if it has callers */
};

void events_lanes_finish(struct events_lanes *lanes);

/* The lane of the next call, in the order of their starts. ret_is_new: it has not been returned before.
 * ret_start_cycles: the beginning of the call, or, if the last lane is shared, the first moment at which there is room;
 * not after its end
 * Errors:  -ENOMEM */
int events_lanes_put(struct events_lanes *lanes, const struct event *event, struct events_lane *ret_lane,
                     bool *ret_is_new, uint64_t *ret_start_cycles);

#endif

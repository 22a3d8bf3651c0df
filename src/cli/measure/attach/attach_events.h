/* An events file of slow calls, as osprof events reads it: a record for each that has ended.
 *
 * Slow calls overlap, and calls of a stream must not: each is put into a lane of the recorder in which the call before
 * has ended when it begins. */
#ifndef ATTACH_EVENTS_H
#define ATTACH_EVENTS_H

#include "aggstats/slow.h"
#include "collector.h"

struct attach_events; /* opaque */

/* All borrowed until the end. */
struct attach_events_source {
    const struct collector *collector;
    struct aggstats_recorder *recorder; /* resets, pauses and rotations of it are marks in the file */
    unsigned resolution;
    uint64_t slow_ns;
    aggstats_path_fn path_of; /* of objects */
    void *path_context;
};

/* Finds the place of the file.
 * Owner:   the caller finishes *ret_events
 * Errors:  reported to the user */
int attach_events_open(const char *file, struct attach_events **ret_events);

/* Makes the file, and begins. Errors: reported to the user */
int attach_events_start(struct attach_events *events, const struct attach_events_source *source);

/* Threads: one at a time, like the next */
void attach_events_add(struct attach_events *events, const struct collected_slow *call);

/* lost: how many slow calls are not told, since the beginning */
void attach_events_note_lost(struct attach_events *events, uint64_t lost);

/* Ends the file, before the recorder is destroyed, and tells the user what is missing in it. Returns false if saving
 * hangs: then all that is borrowed must stay. NULL is fine */
bool attach_events_end(struct attach_events *events);

/* If saving hangs, the memory stays. NULL is fine. */
void attach_events_finish(struct attach_events *events);

#endif

/* Calls that are under way while they are counted in the kernel, and slow ones, each by itself: as calls in flight of a
 * recorder, each in a lane, and as its slow calls with what they waited for.
 *
 * The kernel is asked for calls that have been under way for a while, and what their threads do. With slow calls, the
 * recorder's watching thread asks, before each of its looks; without, the thread that counts does now and then. */
#ifndef ATTACH_UNDER_WAY_H
#define ATTACH_UNDER_WAY_H

#include "attach_events.h"
#include "attach_groups.h"
#include "collector.h"
#include "slow_log.h"
#include "thread_cause.h"
#include "user_stacks.h"

struct attach_under_way; /* opaque */

/* All borrowed. */
struct attach_under_way_options {
    uint64_t slow_ns;                   /* calls that take so long are slow, as the collector has it; 0: none */
    struct thread_causes *causes;       /* with slow calls */
    struct user_stacks *stacks;         /* with slow calls: which functions made them; NULL: that is not wanted */
    struct slow_log *slow_log;          /* gets slow calls, until the recorder is destroyed; NULL: none does */
    struct attach_events *events;       /* gets slow calls; NULL: there is none */
    struct attach_groups *groups;       /* which name objects; NULL: nothing has a name */
    const struct attach_mounts *mounts; /* of several file systems; NULL: of one */
    const char *type;                   /* of that one */
    void (*count)(void *context);       /* adds all calls that have ended to the recorder */
    void *context;
};

/* Owner:   the caller finishes *ret_under_way before the collector, and after the recorder
 * Errors:  -ENOMEM, those of aggstats_recorder_set_slow() */
int attach_under_way_start(struct collector *collector, struct aggstats_recorder *recorder,
                           const struct attach_under_way_options *options, struct attach_under_way **ret_under_way);

/* Asks the kernel. NULL is fine. Threads: any */
void attach_under_way_look(struct attach_under_way *under_way);

/* Can be read when attach_under_way_take() is due; -1: never. Owner: the collector */
int attach_under_way_fd(const struct attach_under_way *under_way);

/* Takes slow calls that have ended, and wakes the watching thread if a call has begun. NULL is fine. Threads: any */
void attach_under_way_take(struct attach_under_way *under_way);

/* How many slow calls are only counted: too many had ended at once. NULL is fine. Threads: any */
uint64_t attach_under_way_lost(struct attach_under_way *under_way);

/* Looks for the last time, before the collector is stopped: from then on calls stay as they are. NULL is fine. */
void attach_under_way_stop(struct attach_under_way *under_way);

/* NULL is fine. */
void attach_under_way_finish(struct attach_under_way *under_way);

#endif

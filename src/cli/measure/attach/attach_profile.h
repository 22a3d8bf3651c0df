/* The growing profile of a file system that is profiled in place: what the kernel counts is added to a recorder, whose
 * live file and socket are like those of a daemon that is profiled from inside. */
#ifndef ATTACH_PROFILE_H
#define ATTACH_PROFILE_H

#include <pthread.h>

#include "attach_groups.h"
#include "attach_under_way.h"
#include "collector.h"
#include "session.h"
#include "signals.h"

struct attach_options {
    struct session_options session; /* resolution: at most COLLECTED_RESOLUTION */
    const char *layer;
    char *result;                       /* the path that the final profile gets, for the live file; NULL: not told */
    struct aggstats_label whose;        /* the header's line that says whose calls there are; key NULL: none */
    const struct attach_mounts *mounts; /* of several file systems; NULL: of one */
    bool has_under_way;                 /* calls that are under way can be found */
    struct thread_causes *causes;       /* of slow calls */
    struct slow_log *slow_log;          /* they are written to it; borrowed until the end; NULL: there is none */
    struct attach_events *events;       /* they are written to it, too; likewise */
    struct user_stacks *stacks;         /* finds which functions made them; NULL: that is not wanted */
};

/* What is profiled. Owner: the caller; all of it outlives the profile */
struct attach_place {
    const char *path;   /* by which commands find it */
    const char *type;   /* of its file system; NULL: of several */
    const char *source; /* what is mounted there, or the mount point where paths begin; NULL: not told */
    const char *root;   /* the directory of the file system below which names of files begin; NULL: all of it */
    dev_t device;       /* where the final profile is not saved; 0: anywhere */
};

struct attach_profile {
    const struct attach_options *options; /* borrowed */
    struct attach_place place;
    bool is_hidden; /* the place has a live profile already: this one is found by its socket */
    struct session session;
    struct collector *collector;
    struct session beside; /* for the collector's second lane; without a recorder: that is not wanted */
    pthread_mutex_t lock;  /* while it is added to the recorders; protects the rest */
    struct counting_lane lanes[COLLECTOR_LANES_MAX];
    struct attach_groups *groups;       /* NULL: there are none */
    struct attach_under_way *under_way; /* NULL: calls that are under way are not known */
    uint64_t lost;                      /* calls, so far */
    int64_t counted_ns;                 /* when that was done last, CLOCK_MONOTONIC */
    int error;                          /* of adding */
};

/* Begins with nothing counted, and warns the user if it cannot be read meanwhile.
 * has_beside: whether the collector's second lane is wanted
 * Owner:   takes the collector over, also if it fails
 * Errors:  -errno; nothing is left behind */
int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         const struct attach_place *place, struct collector *collector, bool has_beside);

/* Whether what is profiled is still there. Called every second, and tells the user why it is not. */
typedef bool attach_is_there_fn(const void *context);

/* Adds what is counted every tenth of a second until a signal asks to end, the time has come (CLOCK_MONOTONIC), or it is
 * not there any more. Returns false if that is why */
bool attach_profile_follow(struct attach_profile *profile, const struct signals *signals, int64_t end_ns,
                           attach_is_there_fn *is_there, const void *context);

/* Detaches, and adds the rest. The recorders are complete then. */
void attach_profile_stop(struct attach_profile *profile);

/* Then: stops answering, and saves.
 * Errors:  reported to the user; the live file stays then */
int attach_profile_end(struct attach_profile *profile);

void attach_profile_finish(struct attach_profile *profile);

#endif

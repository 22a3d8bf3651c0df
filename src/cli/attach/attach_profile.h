/* The growing profile of a file system that is profiled in place: what the kernel counts is added to a recorder, whose
 * live file and socket are like those of a daemon that is profiled from inside. */
#ifndef ATTACH_PROFILE_H
#define ATTACH_PROFILE_H

#include <pthread.h>

#include "attach_groups.h"
#include "attach_under_way.h"
#include "collector.h"
#include "control_server.h"
#include "option_list.h"
#include "saving.h"
#include "signals.h"

struct attach_options {
    const char *layer;
    struct aggstats_label whose;        /* the header's line that says whose calls there are; key NULL: none */
    const char *profile;                /* path of the final one; absolute; NULL: none is saved */
    bool keeps_old;                     /* an existing file is kept as NAME.old */
    unsigned resolution;                /* at most COLLECTED_RESOLUTION */
    uint64_t interval_ns;               /* of a sampled profile; 0: none */
    unsigned groupings;                 /* bits (1 << AGGSTATS_BY_FILE) */
    unsigned groups_max;                /* of each; 0: the default */
    const struct attach_mounts *mounts; /* of several file systems; NULL: of one */
    struct option_list labels;
    bool has_under_way;           /* calls that are under way can be found */
    uint64_t slow_ns;             /* calls that take so long are slow; 0: none is */
    struct thread_causes *causes; /* of these */
    struct slow_log *slow_log;    /* they are written to it; borrowed until the end; NULL: there is none */
    struct attach_events *events; /* they are written to it, too; likewise */
    struct user_stacks *stacks;   /* finds which functions made them; NULL: that is not wanted */
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
    struct aggstats_recorder *recorder;
    struct control control;
    struct saving saving;
    struct control_server socket;
    char *live_path; /* NULL: there is no live file, and nobody is answered */
    char *socket_path;
    struct collector *collector;
    struct aggstats_recorder *beside; /* for the collector's second lane; NULL: that is not wanted */
    pthread_mutex_t lock;             /* while it is added to the recorders; protects the rest */
    struct counting_lane lanes[COLLECTOR_LANES_MAX];
    struct attach_groups *groups;       /* NULL: there are none */
    struct attach_under_way *under_way; /* NULL: calls that are under way are not known */
    uint64_t lost;                      /* calls, so far */
    int64_t counted_ns;                 /* when that was done last, CLOCK_MONOTONIC */
    int error;                          /* of adding */
    bool is_left;                       /* the live file stays at the end */
};

/* Begins with nothing counted, and warns the user if it cannot be read meanwhile.
 * has_beside: whether the collector's second lane is wanted
 * Owner:   takes the collector over, also if it fails
 * Errors:  -errno; nothing is left behind */
int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         const struct attach_place *place, struct collector *collector, bool has_beside);

/* Adds what has been counted by now. Errors: reported to the user, once. Threads: any */
void attach_profile_count(struct attach_profile *profile);

/* Whether what is profiled is still there. Called every second, and tells the user why it is not. */
typedef bool attach_is_there_fn(const void *context);

/* Adds what is counted every tenth of a second until a signal asks to end, the time has come (CLOCK_MONOTONIC), or it is
 * not there any more. Returns false if that is why */
bool attach_profile_follow(struct attach_profile *profile, const struct signals *signals, int64_t end_ns,
                           attach_is_there_fn *is_there, const void *context);

/* Detaches, and adds the rest. The recorders are complete then. */
void attach_profile_stop(struct attach_profile *profile);

/* Nothing else has what was counted: the live file stays at the end. Tells the user where it is. */
void attach_profile_leave(struct attach_profile *profile);

/* Then: stops answering, and saves.
 * Errors:  reported to the user; the live file stays then */
int attach_profile_end(struct attach_profile *profile);

void attach_profile_finish(struct attach_profile *profile);

#endif

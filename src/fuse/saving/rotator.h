/* Rotations of the profile: a span of it is written to a new file, and the next span begins at the same instant. If
 * writing fails nothing has changed. Rotations happen on command, and at intervals by a thread. */
#ifndef ROTATOR_H
#define ROTATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "profile_target.h"

struct rotator {
    struct aggstats_recorder *recorder;  /* borrowed, like the next */
    const struct profile_target *target; /* where a series goes */
    struct spare_fds *spare;
    dev_t own_device;
    unsigned interval_s; /* 0: on command only */
    unsigned keep;       /* number of profiles of the series kept; 0: all */

    pthread_mutex_t lock; /* one rotation at a time */
    int64_t last_ms;      /* time in the latest name of the series; under the lock, like the next two */
    bool is_failing;      /* the thread has reported a failure */
    bool is_littering;    /* a failure to remove old ones has been reported */

    pthread_mutex_t name_lock; /* held from the last check for the end until the span is taken from the profile */
    bool has_ended;            /* under the name lock */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t timer_lock;
    pthread_cond_t told; /* signalled at the end; monotonic clock */
    bool is_told;        /* under the timer lock */
};

/* Initialises all but the borrowed members and the options. */
void rotator_init(struct rotator *rotator);

/* Starts the thread, if there is an interval. Errors: those of starting it */
int rotator_start(struct rotator *rotator);

/* Writes the span to a file: an open one or a new one, see profile_target_open_new(). Without a name: the next of the
 * series.
 * Errors:  -ECANCELED the end has come, -EISDIR there is no series, and those of that function, of writing and of
 *          snapshots
 * Threads: any */
int rotator_rotate(struct rotator *rotator, const struct control_file *file);

/* Call before saving the final profile: from now on no span is taken from the profile. Waits for the thread, and for a
 * rotation whose file is getting its name, for two seconds at most each.
 * Returns false if the thread or the rotation hangs; the rotator and all memory it uses must then stay. Prints a
 * message if the calls of the hanging rotation may be in the final profile too */
bool rotator_end(struct rotator *rotator);

/* Writes a text as the last file of the series. Errors: those of writing */
int rotator_save_last(struct rotator *rotator, const struct control_text *text);

#endif

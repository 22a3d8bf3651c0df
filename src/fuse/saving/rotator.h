/* Rotations of the profile: a span of it is written to a new file, and the next begins at the same instant. If it
 * cannot be written nothing has changed. They are done on command, and by a thread every so many seconds. */
#ifndef ROTATOR_H
#define ROTATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "profile_target.h"
#include "spare_fds.h"

struct rotator {
    struct aggstats_recorder *recorder;  /* borrowed, as the next */
    const struct profile_target *target; /* where a series may go */
    struct spare_fds *spare;
    dev_t own_device;
    unsigned interval_s; /* 0: on command only */
    unsigned keep;       /* profiles of the series; 0: all */

    pthread_mutex_t lock; /* one rotation at a time */
    int64_t last_ms;      /* time in the latest name of the series; under the lock, as the next two */
    bool is_failing;      /* the thread has said so */
    bool is_littering;    /* that old ones stay has been said */

    pthread_mutex_t
        name_lock;  /* from the last look whether the end has come until the span is taken from the profile */
    bool has_ended; /* under the name lock */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t timer_lock;
    pthread_cond_t told; /* that it has ended; by the monotonic clock */
    bool is_told;        /* under the timer lock */
};

/* Zeroed but for what is borrowed, and what was asked for. */
void rotator_init(struct rotator *rotator);

/* Starts the thread, if there is an interval. Errors: those of starting one */
int rotator_start(struct rotator *rotator);

/* Writes the span to a file, one that is open or one to be made: see profile_target_open_new(). Without a name: the
 * next of the series.
 * Errors:  -ECANCELED the end has come, -EISDIR there is no series, and those of that function, of writing and of
 *          snapshots
 * Threads: any */
int rotator_rotate(struct rotator *rotator, const struct control_file *file);

/* From now on spans are not taken from the profile any more, for it is about to be saved. Waits for the thread, and for
 * one whose file is getting its name, for two seconds at most each.
 * Returns false if one of them hangs: all that it uses must stay. Says so if its calls may be in the final profile too
 */
bool rotator_end(struct rotator *rotator);

/* Writes a text as the next of the series, after the end. Errors: those of writing */
int rotator_save_last(struct rotator *rotator, const struct control_text *text);

#endif

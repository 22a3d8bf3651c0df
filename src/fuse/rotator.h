/* Rotations of the profile: a span of it is written to a new file, and the next begins at the same instant. If it
 * cannot be written nothing has changed. */
#ifndef ROTATOR_H
#define ROTATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "profile_target.h"

struct rotator {
    struct aggstats_recorder *recorder; /* borrowed, as the next */
    const struct profile_target *target;
    dev_t own_device;
    pthread_mutex_t lock; /* one rotation at a time */
    pthread_mutex_t
        name_lock;  /* from the last look whether the end has come until the span is taken from the profile */
    bool has_ended; /* under the name lock */
};

/* The recorder and the target are set before the first rotation, the device once there is a mount. */
#define ROTATOR_NEW                                                                                                    \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .name_lock = PTHREAD_MUTEX_INITIALIZER }

/* Writes the span to a file: see profile_target_open_new().
 * Errors:  -ECANCELED the end has come, and those of that function, of writing and of snapshots
 * Threads: any */
int rotator_rotate(struct rotator *rotator, const char *file);

/* From now on spans are not taken from the profile any more, for it is about to be saved. One whose file has its name
 * is waited for, as long as ever its file system takes for that. */
void rotator_end(struct rotator *rotator);

#endif

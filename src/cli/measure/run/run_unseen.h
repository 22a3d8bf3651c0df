/* Programs that the layer user does not see: which they are, and how long they ran.
 *
 * Processes of the run name them in the live file before they execute them. They may be another user's, so names, numbers
 * and times may be any. A thread waits for the end of each, by a descriptor of the process. A program that has ended
 * before it was found has run for a shorter time than that. */
#ifndef RUN_UNSEEN_H
#define RUN_UNSEEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"
#include "aggstats/shared.h"

#define RUN_UNSEEN_NAMES_MAX 8 /* of all kinds together */

/* Of one program. */
struct run_unseen_life {
    bool is_of_before; /* it was named before the profile begins */
    int pid_fd;        /* 0: none */
    bool is_over;      /* the rest is final */
    bool is_known;
    int64_t least_ns; /* it ran for, at least */
    int64_t most_ns;
};

/* Zeroed: nothing is watched. */
struct run_unseen {
    const struct aggstats_recorder *recorder; /* NULL: the thread does not run */
    pthread_t thread;
    pthread_mutex_t lock;
    int stop_fds[2];             /* closed to stop the thread */
    struct aggstats_named named; /* as last read. Under the lock, like the next */
    unsigned watched_count;
    struct run_unseen_life lives[AGGSTATS_NAMED_MAX];
};

/* Forgets the programs until now. Starts the thread, if it does not run.
 * recorder: which made the live file, and must stay until run_unseen_finish()
 * Errors:  without a thread nothing is said of programs */
void run_unseen_begin(struct run_unseen *unseen, struct aggstats_recorder *recorder);

/* Adds the programs with this note to a profile, those which have run longest first, as far as all kinds together have no
 * more than RUN_UNSEEN_NAMES_MAX names.
 * Errors:  -ENOMEM */
int run_unseen_add(struct run_unseen *unseen, unsigned note, enum aggstats_unseen kind,
                   struct aggstats_profile *profile);

void run_unseen_finish(struct run_unseen *unseen);

#endif

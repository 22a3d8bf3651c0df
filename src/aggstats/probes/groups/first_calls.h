/* Private: who callers were when they called for the first time.
 *
 * A process may have ended before the recorder's thread asks for it, but it lives until its first call is answered. So
 * the thread that records this call asks, before it goes on. It reads `comm` and the list of threads only: `stat` and
 * `status` take a reference to the process's memory, and dropping that can wait for the call.
 *
 * A bounded memory, shared by all threads: whether a caller is in it is looked up without a lock, in 64 bytes. At most
 * FIRST_CALLS_PER_SECOND are asked for, so that many short-lived callers cannot slow down all others. */
#ifndef FIRST_CALLS_H
#define FIRST_CALLS_H

#include <pthread.h>

#include "aggstats/caller_groups.h"
#include "layout.h"

#define FIRST_CALLS_SETS 256U
#define FIRST_CALLS_WAYS 16U
#define FIRST_CALLS_PER_SECOND 10000U

struct first_calls {
    uint32_t threads[FIRST_CALLS_SETS][FIRST_CALLS_WAYS]; /* atomic; 0: a free place */
    aggstats_identify_fn identify;                        /* atomic, set once; NULL: nobody is asked for */
    void *context;
    pthread_mutex_t lock;                                     /* taken after all others; protects the rest */
    struct aggstats_identity (*identities)[FIRST_CALLS_WAYS]; /* [FIRST_CALLS_SETS]; name "": unknown */
    uint8_t next[FIRST_CALLS_SETS];                           /* the place to reuse next */
    int64_t second_ns;                                        /* when counting began */
    unsigned asked;                                           /* since then */
};

/* Without a function to ask. */
void first_calls_init(struct first_calls *calls);
void first_calls_finish(struct first_calls *calls);

/* From now on callers are asked for by this function. Threads: any, one at a time. Errors: -ENOMEM */
int first_calls_begin(struct first_calls *calls, aggstats_identify_fn identify, void *context);

/* For a call that its thread waits for: asks who the thread is, unless that is known. Returns whether it has asked.
 * Threads: any */
bool first_calls_meet(struct first_calls *calls, uint32_t thread);

/* Returns false if it is unknown. Threads: any */
bool first_calls_find(struct first_calls *calls, uint32_t thread, struct aggstats_identity *ret_identity);

/* Nobody is known. Threads: any */
void first_calls_clear(struct first_calls *calls);

/* The thread has ended: the next with that number is another. Threads: any */
void first_calls_forget(struct first_calls *calls, uint32_t thread);

#endif

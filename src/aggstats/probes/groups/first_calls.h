/* Private: who callers were when they called for the first time.
 *
 * A process may be gone before a thread of the recorder's asks for it; while its first call has not been answered it
 * lives. So the thread that records this call asks, before it goes on. A bounded memory, shared by all threads: whether
 * a caller is in it is read without a lock, from 64 bytes. No more than FIRST_CALLS_PER_SECOND are asked for, so that
 * many short-lived callers cannot slow down all others. */
#ifndef FIRST_CALLS_H
#define FIRST_CALLS_H

#include <pthread.h>

#include "layout.h"

#define FIRST_CALLS_SETS 256U
#define FIRST_CALLS_WAYS 16U
#define FIRST_CALLS_PER_SECOND 10000U

struct first_calls {
    uint32_t threads[FIRST_CALLS_SETS][FIRST_CALLS_WAYS]; /* atomic; 0: a free place */
    aggstats_identify_fn identify;                        /* NULL: nobody is asked for */
    void *context;
    pthread_mutex_t lock;                                     /* taken after all others; the rest is under it */
    struct aggstats_identity (*identities)[FIRST_CALLS_WAYS]; /* [FIRST_CALLS_SETS]; name "": it was not known */
    uint8_t next[FIRST_CALLS_SETS];                           /* whose place is taken for the next */
    int64_t second_ns;                                        /* when counting began */
    unsigned asked;                                           /* since then */
};

/* With nobody to ask. */
void first_calls_init(struct first_calls *calls);
void first_calls_finish(struct first_calls *calls);

/* From now on callers are asked for so. Threads: before any thread counts. Errors: -ENOMEM */
int first_calls_begin(struct first_calls *calls, aggstats_identify_fn identify, void *context);

/* A call of a thread, which it waits for; asks who it is, unless that is known. Returns whether it has asked.
 * Threads: any */
bool first_calls_meet(struct first_calls *calls, uint32_t thread);

/* False: it is not known. Threads: any */
bool first_calls_find(struct first_calls *calls, uint32_t thread, struct aggstats_identity *ret_identity);

/* It is gone: the next with that number is another. Threads: any */
void first_calls_forget(struct first_calls *calls, uint32_t thread);

#endif

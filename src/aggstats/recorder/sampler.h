/* Private: the thread that cuts a recorder's timeline. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets a border. Returns how long the next interval is to be. */
typedef int64_t (*sampler_cut_fn)(void *context);

struct sampler {
    sampler_cut_fn cut;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool stop;           /* under the lock, as the next two */
    bool rewind;         /* the timeline is another one: its first interval begins now */
    int64_t interval_ns; /* length of the first interval */
    bool is_left;        /* the thread has stayed behind in the parent process: all that can be done is to stop it */
};

/* Starts it. Errors: -ENOMEM, -EAGAIN */
int sampler_start(sampler_cut_fn cut, void *context, int64_t interval_ns, struct sampler **ret_sampler);

/* There is another timeline: its first interval is so long.
 * Signals: may be called in handlers.
 * Threads: any */
void sampler_wake(struct sampler *sampler, int64_t interval_ns);

/* Ends it, and waits for that. NULL is fine. Call without the recorder's locks */
void sampler_stop(struct sampler *sampler);

#endif

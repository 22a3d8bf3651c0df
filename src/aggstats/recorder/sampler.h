/* Private: the thread that ends the intervals of a recorder's timeline. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Ends an interval. Returns the length of the next one. */
typedef int64_t (*sampler_cut_fn)(void *context);

struct sampler {
    sampler_cut_fn cut;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool stop;           /* under the lock, like the next two */
    bool rewind;         /* there is a new timeline: its first interval begins now */
    int64_t interval_ns; /* length of the first interval */
    bool is_left;        /* the thread stayed behind in the parent process: the sampler can only be stopped */
};

/* Starts it. Errors: -ENOMEM, -EAGAIN */
int sampler_start(sampler_cut_fn cut, void *context, int64_t interval_ns, struct sampler **ret_sampler);

/* There is a new timeline, with a first interval of this length.
 * Signals: may be called in handlers.
 * Threads: any */
void sampler_wake(struct sampler *sampler, int64_t interval_ns);

/* Stops the thread, and waits for its end. NULL is fine. Call without the recorder's locks */
void sampler_stop(struct sampler *sampler);

#endif

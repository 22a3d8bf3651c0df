/* Private: a thread of a recorder that calls a function again and again; the function says when it is to be called
 * next. The timeline ends its intervals by it, and how busy the recorder is is sampled by it. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the time until the next call, in nanoseconds. */
typedef int64_t (*sampler_tick_fn)(void *context);

struct sampler {
    sampler_tick_fn tick;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool stop;           /* under the lock, like the next two */
    bool starts_over;    /* the time until the next call begins now */
    int64_t interval_ns; /* that time */
    bool is_left;        /* the thread stayed behind in the parent process: the sampler can only be stopped */
};

/* Starts it. Errors: -ENOMEM, -EAGAIN */
int sampler_start(sampler_tick_fn tick, void *context, int64_t interval_ns, struct sampler **ret_sampler);

/* The next call is after this time from now, whatever the function said.
 * Signals: may be called in handlers.
 * Threads: any */
void sampler_wake(struct sampler *sampler, int64_t interval_ns);

/* Stops the thread, and waits for its end. NULL is fine. Call without the recorder's locks */
void sampler_stop(struct sampler *sampler);

#endif

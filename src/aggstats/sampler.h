/* Private: the thread that cuts a recorder's timeline. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct aggstats_recorder;

struct sampler {
    struct aggstats_recorder *recorder;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool stop;   /* under the lock, as the next */
    bool rewind; /* the timeline is another one: its first interval begins now */
};

/* Starts it; the recorder has a timeline. Errors: -ENOMEM, -EAGAIN */
int sampler_start(struct aggstats_recorder *recorder, struct sampler **ret_sampler);

/* The recorder has another timeline. */
void sampler_wake(struct sampler *sampler);

/* Ends it, and waits for that. NULL is fine. Call without the recorder's locks */
void sampler_stop(struct sampler *sampler);

#endif

/* Waking up at each border. A missed border is not made up for: that interval is longer. */
#include "sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base.h"
#include "quiet_lock.h"
#include "quiet_thread.h"

enum wake { BORDER, REWIND, STOP };

/* ret_interval_ns: length of the first interval, if that begins now */
static enum wake wait_until(struct sampler *sampler, int64_t until_ns, int64_t *ret_interval_ns) {
    const struct timespec until = timespec_of(until_ns);
    pthread_mutex_lock(&sampler->lock);
    int err = 0;
    while (!sampler->stop && !sampler->starts_over && err != ETIMEDOUT)
        err = pthread_cond_timedwait(&sampler->told, &sampler->lock, &until);
    enum wake wake = sampler->stop ? STOP : sampler->starts_over ? REWIND : BORDER;
    sampler->starts_over = false;
    *ret_interval_ns = sampler->interval_ns;
    pthread_mutex_unlock(&sampler->lock);
    return wake;
}

static void *run(void *argument) {
    struct sampler *sampler = argument;
    pthread_mutex_lock(&sampler->lock);
    int64_t interval_ns = sampler->interval_ns;
    pthread_mutex_unlock(&sampler->lock);
    int64_t next_ns = read_clock_ns(CLOCK_MONOTONIC) + interval_ns;
    enum wake wake;
    while ((wake = wait_until(sampler, next_ns, &interval_ns)) != STOP) {
        if (wake == BORDER)
            interval_ns = sampler->tick(sampler->context);
        int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
        next_ns += interval_ns;
        if (next_ns < now_ns || wake == REWIND)
            next_ns = now_ns + interval_ns;
    }
    return NULL;
}

void sampler_wake(struct sampler *sampler, int64_t interval_ns) {
    sigset_t before;
    quiet_lock(&sampler->lock, &before);
    sampler->starts_over = true;
    sampler->interval_ns = interval_ns;
    pthread_cond_signal(&sampler->told);
    quiet_unlock(&sampler->lock, &before);
}

static void destroy(struct sampler *sampler) {
    pthread_cond_destroy(&sampler->told);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

int sampler_start(sampler_tick_fn tick, void *context, int64_t interval_ns, struct sampler **ret_sampler) {
    struct sampler *sampler = calloc(1, sizeof(*sampler));
    if (!sampler)
        return -ENOMEM;
    sampler->tick = tick;
    sampler->context = context;
    sampler->interval_ns = interval_ns;
    cond_init_monotonic(&sampler->told);
    pthread_mutex_init(&sampler->lock, NULL);
    int err = quiet_thread_start(&sampler->thread, run, sampler);
    if (err < 0)
        destroy(sampler);
    else
        *ret_sampler = sampler;
    return err;
}

void sampler_stop(struct sampler *sampler) {
    if (!sampler)
        return;
    if (sampler->is_left) { /* its lock and condition are in the state in which the thread left them */
        free(sampler);
        return;
    }
    pthread_mutex_lock(&sampler->lock);
    sampler->stop = true;
    pthread_cond_signal(&sampler->told);
    pthread_mutex_unlock(&sampler->lock);
    pthread_join(sampler->thread, NULL);
    destroy(sampler);
}

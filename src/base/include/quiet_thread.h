/* Threads that a library or the daemon starts for itself, and condition variables for them. */
#ifndef QUIET_THREAD_H
#define QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Starts a thread that takes no signals: they are meant for the program's own threads.
 * Errors:  those of pthread_create() */
static inline int quiet_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *argument) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(ret_thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

/* A condition variable whose timed waits use CLOCK_MONOTONIC, which nobody can set. */
static inline void cond_init_monotonic(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

#endif

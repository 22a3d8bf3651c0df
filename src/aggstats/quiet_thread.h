/* Private: threads of the library's own. */
#ifndef QUIET_THREAD_H
#define QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts one that takes no signals: these are for the program's own threads. Errors: those of pthread_create() */
static inline int quiet_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *argument) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(ret_thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

#endif

/* Private: locks that are taken with signals blocked. Handlers may record, and fork, so none may find such a lock held
 * by the thread it interrupts. */
#ifndef QUIET_LOCK_H
#define QUIET_LOCK_H

#include <pthread.h>
#include <signal.h>

/* Takes the lock with all signals blocked. ret_before: the previous mask; for quiet_unlock() */
static inline void quiet_lock(pthread_mutex_t *lock, sigset_t *ret_before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, ret_before);
    pthread_mutex_lock(lock);
}

static inline void quiet_unlock(pthread_mutex_t *lock, const sigset_t *before) {
    pthread_mutex_unlock(lock);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif

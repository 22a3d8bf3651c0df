/* Waiting for a thread or a lock with a time limit. Setting the system's clock back does not prolong the wait, unlike
 * with the functions of pthreads, which take a time of day. */
#ifndef WAITING_H
#define WAITING_H

#include <pthread.h>
#include <stdbool.h>

/* Joins a thread if it ends within some seconds. Returns false if it does not; it can be joined later. */
bool join_within(pthread_t thread, int seconds);

/* Takes a lock. Returns false if that does not succeed within some seconds. */
bool lock_within(pthread_mutex_t *lock, int seconds);

#endif

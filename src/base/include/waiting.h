/* Waiting for a thread or a lock, for so long at most. Neither waits longer when the system's clock is set back
 * meanwhile: the functions of pthreads that do the same wait for a time of day. */
#ifndef WAITING_H
#define WAITING_H

#include <pthread.h>
#include <stdbool.h>

/* Joins a thread that ends within some seconds. Returns false if it does not; it can be joined later. */
bool join_within(pthread_t thread, int seconds);

/* Takes a lock. Returns false if it is not to be had within some seconds. */
bool lock_within(pthread_mutex_t *lock, int seconds);

#endif

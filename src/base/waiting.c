/* Polling: the thread sanitizer does not know the functions that wait by the monotonic clock. */
#include "waiting.h"

#include <time.h>

#include "base.h"

#define PAUSE_MIN_NS 50000
#define PAUSE_MAX_NS 5000000

static int64_t end_after(int seconds) {
    return read_clock_ns(CLOCK_MONOTONIC) + seconds * NS_PER_S;
}

/* Returns false when the time is over. */
static bool wait_a_little(int64_t end_ns, long *pause_ns) {
    if (read_clock_ns(CLOCK_MONOTONIC) >= end_ns)
        return false;
    const struct timespec pause = {.tv_nsec = *pause_ns};
    nanosleep(&pause, NULL);
    *pause_ns = *pause_ns * 2 < PAUSE_MAX_NS ? *pause_ns * 2 : PAUSE_MAX_NS;
    return true;
}

bool join_within(pthread_t thread, int seconds) {
    int64_t end_ns = end_after(seconds);
    long pause_ns = PAUSE_MIN_NS;
    int err;
    while ((err = pthread_tryjoin_np(thread, NULL)) != 0 && wait_a_little(end_ns, &pause_ns))
        ;
    return err == 0;
}

bool lock_within(pthread_mutex_t *lock, int seconds) {
    int64_t end_ns = end_after(seconds);
    long pause_ns = PAUSE_MIN_NS;
    int err;
    while ((err = pthread_mutex_trylock(lock)) != 0 && wait_a_little(end_ns, &pause_ns))
        ;
    return err == 0;
}

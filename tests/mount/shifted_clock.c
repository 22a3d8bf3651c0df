/* The time of day as a test sets it, for a daemon that this is linked into: the file $TEST_CLOCK holds by how many
 * seconds it differs from the machine's. Waits for a time of day end when that clock says so, as in the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library names them otherwise */

static const char *shift_text;

__attribute__((constructor)) static void open_shift(void) {
    const char *path = getenv("TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *text = mmap(NULL, 32, PROT_READ, MAP_SHARED, fd, 0);
    if (text == MAP_FAILED)
        abort();
    shift_text = text;
    close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    if (syscall(SYS_clock_gettime, clock, ret_time) < 0)
        return -1;
    if (clock == CLOCK_REALTIME && shift_text)
        ret_time->tv_sec += strtol(shift_text, NULL, 10);
    return 0;
}

time_t time(time_t *ret_time) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret_time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

/* Returns false when it is later than until. */
static int wait_a_little(const struct timespec *until) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec))
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return 1;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    while (sem_trywait(semaphore) < 0)
        if (!wait_a_little(until)) {
            errno = ETIMEDOUT;
            return -1;
        }
    return 0;
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
    int err;
    while ((err = pthread_mutex_trylock(mutex)) == EBUSY)
        if (!wait_a_little(until))
            return ETIMEDOUT;
    return err;
}

int pthread_timedjoin_np(pthread_t thread, void **ret_value, const struct timespec *until) {
    int err;
    while ((err = pthread_tryjoin_np(thread, ret_value)) == EBUSY)
        if (!wait_a_little(until))
            return ETIMEDOUT;
    return err;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

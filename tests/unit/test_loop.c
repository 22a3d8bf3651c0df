/* What workers share with the loop: signals that interrupt and do nothing else. */
#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "testing.h"

struct sleeper {
    pthread_t thread;
    int error;
    bool done; /* atomic */
};

static void *sleep_for_ever(void *argument) {
    struct sleeper *sleeper = argument;
    sleeper->error = poll(NULL, 0, -1) < 0 ? errno : 0;
    __atomic_store_n(&sleeper->done, true, __ATOMIC_RELEASE);
    return NULL;
}

TEST(interrupt_signal_ends_a_system_call_and_nothing_else) {
    struct sleeper sleeper = {0};
    loop_prepare_signals();
    ck_assert_int_eq(pthread_create(&sleeper.thread, NULL, sleep_for_ever, &sleeper), 0);
    while (!__atomic_load_n(&sleeper.done, __ATOMIC_ACQUIRE)) {
        pthread_kill(sleeper.thread, loop_interrupt_signal());
        poll(NULL, 0, 1);
    }
    pthread_join(sleeper.thread, NULL);
    ck_assert_int_eq(sleeper.error, EINTR);
}

TEST(ending_signals_wait_for_the_session) {
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t pending;
    loop_prepare_signals();
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        raise(signals[i]); /* would end this process */
        sigpending(&pending);
        ck_assert(sigismember(&pending, signals[i]));
    }
}

/* A reader that goes away, and a limit of file sizes, are errors of a write. */
TEST(failing_writes_end_nothing) {
    struct rlimit limit;
    int ends[2];
    loop_prepare_signals();
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    ck_assert_int_eq(write(ends[1], "x", 1), -1);
    ck_assert_int_eq(errno, EPIPE);
    close(ends[1]);
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    ssize_t written_bytes = write(fileno(file), "x", 1);
    int error = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(written_bytes, -1);
    ck_assert_int_eq(error, EFBIG);
    fclose(file);
}

/* How many calls a second can be recorded as events until the first is dropped. Threads make calls of GETATTR and READ,
 * alternately, through the prof layer above a null layer. The rate is doubled until calls are dropped, and then
 * narrowed down. A new file is written for each rate, so its directory should be on the disk to be measured.
 *
 * usage: events_rate FILE [THREADS [SECONDS]]     by default 2 threads, 3 s a rate */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggstats.h"
#include "prof.h"

#define TICK_NS 1000000
#define TICKS_PER_SECOND 1000
#define THREADS_MAX 64
#define NARROWINGS 4

static int null_getattr(struct fs_layer *layer, FS_CALL, fs_file file, struct stat *ret_attr) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)ret_attr;
    return 0;
}

static int null_read(struct fs_layer *layer, FS_CALL, fs_file file, struct fs_read_into *into, size_t size_bytes,
                     off_t offset, size_t *ret_read_bytes) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)into, (void)size_bytes, (void)offset;
    *ret_read_bytes = 100;
    return 0;
}

static const struct fs_ops null_ops = {.getattr = null_getattr, .read = null_read};

/* The parameters of a run. */
struct run {
    struct prof prof;
    unsigned calls_per_tick; /* of each thread */
    unsigned seconds;
};

static void call_two(struct fs_layer *top, uint64_t i) {
    const struct fs_caller caller = {.pid = 4711};
    struct fs_read_into into = {.pipe_fd = -1};
    struct stat attr;
    size_t read_bytes;
    top->ops->getattr(top, &caller, FS_ROOT_INO + i, FS_NO_FILE, &attr);
    top->ops->read(top, &caller, FS_ROOT_INO + i, FS_NO_FILE, &into, 4096, 0, &read_bytes);
}

static void *make_calls(void *argument) {
    struct run *run = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t tick = 0; tick < (uint64_t)run->seconds * TICKS_PER_SECOND; tick++) {
        for (unsigned i = 0; i < run->calls_per_tick; i += 2)
            call_two(&run->prof.layer, i);
        next.tv_nsec += TICK_NS;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return NULL;
}

static void give_up(const char *what, int err) {
    fprintf(stderr, "events_rate: cannot %s: %s\n", what, strerror(-err));
    exit(EXIT_FAILURE);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double run_threads(struct run *run, unsigned thread_count) {
    pthread_t threads[THREADS_MAX];
    double before = seconds_now();
    for (unsigned i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, make_calls, run) != 0)
            give_up("start a thread", -EAGAIN);
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    return seconds_now() - before;
}

/* Returns true if no call was dropped. */
static bool record(const char *file, unsigned thread_count, unsigned calls_per_tick, unsigned seconds) {
    const struct aggstats_recorder_options options = {
        .op_names = fs_op_names, .op_count = FS_OP_COUNT, .resolution = 1};
    struct run run = {.calls_per_tick = calls_per_tick, .seconds = seconds};
    struct fs_layer bottom = {.ops = &null_ops};
    struct aggstats_recorder *recorder = NULL;
    struct events_recorder *events = NULL;
    struct events_state state;
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int err = fd < 0 ? -errno : aggstats_recorder_create(&options, &recorder);
    if (err < 0)
        give_up("begin", err);
    const struct events_source source = {
        .recorder = recorder, .ops = fs_op_events, .op_count = FS_OP_COUNT, .resolution = 1, .version = "bench"};
    err = events_recorder_create(&source, &events);
    if (err == 0)
        err = events_recorder_start(events, &(struct events_wanted){.fd = fd});
    if (err < 0)
        give_up("record", err);
    prof_init(&run.prof, recorder, &bottom);
    prof_set_events(&run.prof, events);
    double took_s = run_threads(&run, thread_count);
    prof_set_events(&run.prof, NULL);
    events_recorder_stop(events);
    events_recorder_state(events, &state);
    double calls = (double)(state.recorded + state.dropped);
    printf("%11.0f calls/s, %5.1f MB/s: %5.1f bytes each, %" PRIu64 " of %.0f dropped\n", calls / took_s,
           (double)state.saved_bytes / took_s / 1e6, (double)state.saved_bytes / (double)state.recorded, state.dropped,
           calls);
    fflush(stdout);
    events_recorder_destroy(events);
    aggstats_recorder_destroy(recorder);
    unlink(file);
    return state.dropped == 0;
}

int main(int argc, char **argv) {
    unsigned thread_count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2;
    unsigned seconds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 3;
    if (argc < 2 || argc > 4 || thread_count < 1 || thread_count > THREADS_MAX || seconds < 1) {
        fprintf(stderr, "usage: events_rate FILE [THREADS [SECONDS]]\n");
        return 2;
    }
    unsigned good = 0;
    unsigned bad = 50;
    while (record(argv[1], thread_count, bad, seconds) && bad < 100000) {
        good = bad;
        bad *= 2;
    }
    for (int i = 0; i < NARROWINGS; i++) {
        unsigned middle = (good + bad) / 2 / 2 * 2;
        if (record(argv[1], thread_count, middle, seconds))
            good = middle;
        else
            bad = middle;
    }
    printf("none dropped up to %u calls/s of each of %u threads\n", good * TICKS_PER_SECOND, thread_count);
    return 0;
}

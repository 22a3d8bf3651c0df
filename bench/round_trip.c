/* The cost of one request to a FUSE daemon: threads call statx(2) with AT_STATX_FORCE_SYNC, which always reaches the
 * daemon, for a given time. Prints microseconds per request, for one thread and for all together.
 *
 * usage: round_trip PATH THREADS SECONDS */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static atomic_bool stop;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *call(void *calls) {
    struct statx attr;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        if (statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &attr) < 0) {
            perror(path);
            exit(1);
        }
        ++*(unsigned long *)calls;
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: round_trip PATH THREADS SECONDS\n");
        return 2;
    }
    path = argv[1];
    long thread_count = strtol(argv[2], NULL, 10);
    double duration_s = strtod(argv[3], NULL);
    if (thread_count < 1 || thread_count > 256 || duration_s <= 0) {
        fprintf(stderr, "round_trip: 1 to 256 threads, and a time above 0\n");
        return 2;
    }
    pthread_t threads[256];
    unsigned long calls[256][16] = {{0}}; /* a cache line or two each */
    double start_s = seconds_now();
    for (long i = 0; i < thread_count; i++)
        pthread_create(&threads[i], NULL, call, calls[i]);
    struct timespec pause = {.tv_sec = (time_t)duration_s, .tv_nsec = (long)((duration_s - (time_t)duration_s) * 1e9)};
    nanosleep(&pause, NULL);
    atomic_store(&stop, true);
    unsigned long total = 0;
    for (long i = 0; i < thread_count; i++) {
        pthread_join(threads[i], NULL);
        total += calls[i][0];
    }
    double elapsed_s = seconds_now() - start_s;
    printf("%.3f %.3f %lu\n", elapsed_s * 1e6 * (double)thread_count / (double)total, elapsed_s * 1e6 / (double)total,
           total);
    return 0;
}

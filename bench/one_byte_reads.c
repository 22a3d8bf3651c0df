/* The cost of a call that does next to nothing in the kernel: reads one byte of a file, again and again, in one thread or
 * several, and prints the time of a call in nanoseconds.
 *
 * usage: one_byte_reads FILE CALLS [THREADS]     CALLS: of each thread */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

static int fd;
static unsigned long calls;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void read_often(unsigned long count) {
    char byte;
    for (unsigned long i = 0; i < count; i++) {
        if (pread(fd, &byte, 1, 0) != 1) {
            perror("pread");
            exit(1);
        }
    }
}

static void *run_thread(void *unused) {
    read_often(calls);
    return unused;
}

static void read_in_threads(unsigned long count) {
    pthread_t threads[THREADS_MAX];
    for (unsigned long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0) {
            fprintf(stderr, "one_byte_reads: cannot start a thread\n");
            exit(1);
        }
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    const unsigned long threads = argc == 4 ? strtoul(argv[3], NULL, 10) : 1;
    fd = argc >= 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    calls = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc > 4 || fd < 0 || calls == 0 || threads == 0 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: one_byte_reads FILE CALLS [THREADS]\n");
        return 2;
    }
    read_often(calls / 10 + 1); /* the first calls fill caches */
    const double begin_ns = now_ns();
    if (threads == 1)
        read_often(calls);
    else
        read_in_threads(threads);
    printf("%.2f\n", (now_ns() - begin_ns) / (double)calls);
    return 0;
}

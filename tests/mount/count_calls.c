/* count_calls DIR THREADS: each thread asks for DIR's attributes, past every cache, until that fails. Then prints how
 * many calls succeeded: each of them was one GETATTR that the file system has answered. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct counter {
    pthread_t thread;
    int fd;
    unsigned long finished;
};

static void *ask_until_it_fails(void *argument) {
    struct counter *counter = argument;
    struct statx attributes;
    while (statx(counter->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &attributes) == 0)
        counter->finished++;
    return NULL;
}

int main(int argc, char **argv) {
    static struct counter counters[THREADS_MAX];
    int threads = argc == 3 ? atoi(argv[2]) : 0; /* NOLINT(cert-err34-c): 0 is what an error should give */
    if (threads < 1 || threads > THREADS_MAX) {
        fputs("usage: count_calls DIR THREADS\n", stderr);
        return 2;
    }
    int fd = open(argv[1], O_RDONLY | O_DIRECTORY); /* if this fails already, so do all the calls */
    unsigned long finished = 0;
    for (int i = 0; i < threads; i++) {
        counters[i].fd = fd;
        if (pthread_create(&counters[i].thread, NULL, ask_until_it_fails, &counters[i]) != 0)
            return 2;
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(counters[i].thread, NULL);
        finished += counters[i].finished;
    }
    printf("%lu\n", finished);
    return 0;
}

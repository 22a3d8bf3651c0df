/* The cost of opening a file: opens and closes it, again and again, and prints the time of both calls together in
 * nanoseconds.
 *
 * usage: opens FILE CALLS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void open_often(const char *name, unsigned long calls) {
    for (unsigned long i = 0; i < calls; i++) {
        const int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || close(fd) < 0) {
            perror(name);
            exit(1);
        }
    }
}

int main(int argc, char **argv) {
    const unsigned long calls = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (calls == 0) {
        fprintf(stderr, "usage: opens FILE CALLS\n");
        return 2;
    }
    open_often(argv[1], calls / 10 + 1); /* the first calls fill caches */
    const double begin_ns = now_ns();
    open_often(argv[1], calls);
    printf("%.2f\n", (now_ns() - begin_ns) / (double)calls);
    return 0;
}

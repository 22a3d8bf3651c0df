/* The cost of a call that does next to nothing in the kernel: reads one byte of a file, again and again, and prints the
 * time of a call in nanoseconds.
 *
 * usage: one_byte_reads FILE CALLS */
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

static void read_often(int fd, unsigned long calls) {
    char byte;
    for (unsigned long i = 0; i < calls; i++) {
        if (pread(fd, &byte, 1, 0) != 1) {
            perror("pread");
            exit(1);
        }
    }
}

int main(int argc, char **argv) {
    const int fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    const unsigned long calls = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (fd < 0 || calls == 0) {
        fprintf(stderr, "usage: one_byte_reads FILE CALLS\n");
        return 2;
    }
    read_often(fd, calls / 10 + 1); /* the first calls fill caches */
    const double begin_ns = now_ns();
    read_often(fd, calls);
    printf("%.2f\n", (now_ns() - begin_ns) / (double)calls);
    return 0;
}

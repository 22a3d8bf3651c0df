/* For programs that the tests of the layer user run: calls that must succeed, so that each is made a known number of
 * times. */
#ifndef CHECKED_CALLS_H
#define CHECKED_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s: line %d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A file of 4096 bytes in the current directory. */
static inline int open_data(void) {
    int fd = open("data", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
    return fd;
}

static inline void read_often(int fd, int times) {
    char byte;
    for (int i = 0; i < times; i++)
        CHECK(pread(fd, &byte, 1, i) == 1);
}

#endif

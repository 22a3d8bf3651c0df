/* For programs that the tests of the layer user run: calls that must succeed, so that each is made a known number of
 * times; and tables of what such a program can do, from which its argument chooses a row. */
#ifndef CHECKED_CALLS_H
#define CHECKED_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Cancels a thread while it reads a FIFO that stays empty. begin: gets a pointer to the descriptor */
static inline void cancel_in_read(void *(*begin)(void *fd)) {
    pthread_t thread;
    void *result;
    CHECK(mkfifo("fifo", 0600) == 0);
    int fd = open("fifo", O_RDWR);
    CHECK(fd >= 0 && pthread_create(&thread, NULL, begin, &fd) == 0);
    usleep(50000);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

struct calls_row {
    const char *name;
    void (*make)(void);
};

/* Exits with 2 if no row has the name. The first member of a row is its name */
static inline const void *find_row(const char *name, const void *rows, size_t count, size_t row_bytes) {
    for (const char *row = rows; name && count > 0; row += row_bytes, count--) {
        const char *row_name;
        memcpy(&row_name, row, sizeof(row_name));
        if (strcmp(name, row_name) == 0)
            return row;
    }
    fprintf(stderr, "no such row: %s\n", name ? name : "none is given");
    exit(2);
}

/* The row of an array with that name (NULL: the argument is missing). */
#define ROW_NAMED(ROWS, NAME)                                                                                          \
    ((__typeof__(&(ROWS)[0]))find_row(NAME, ROWS, sizeof(ROWS) / sizeof((ROWS)[0]), sizeof((ROWS)[0])))

#endif

/* How long system calls on files take: prints for each kind of call its nanoseconds, the shortest mean of BATCHES, for other
 * work on the machine makes some longer.
 *
 * usage: calls FILE */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 200
#define CALLS 200 /* of a batch */

struct file {
    const char *name;
    char missing[4096]; /* beside it */
    int fd;
};

static void call_pread(const struct file *file) {
    char block[4096];
    if (pread(file->fd, block, sizeof(block), 0) < 0)
        perror(file->name);
}

static void call_stat(const struct file *file) {
    struct stat st;
    if (stat(file->name, &st) < 0)
        perror(file->name);
}

static void call_stat_missing(const struct file *file) {
    struct stat st;
    if (stat(file->missing, &st) == 0)
        fprintf(stderr, "%s: it is there\n", file->missing);
}

static void call_open(const struct file *file) {
    const int fd = open(file->name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || close(fd) < 0)
        perror(file->name);
}

static const struct {
    const char *name;
    void (*call)(const struct file *file);
} kinds[] = {
    {"pread", call_pread}, {"stat", call_stat}, {"stat, not there", call_stat_missing}, {"open and close", call_open}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_batch(unsigned kind, const struct file *file) {
    const double begin_ns = now_ns();
    for (unsigned i = 0; i < CALLS; i++)
        kinds[kind].call(file);
    return (now_ns() - begin_ns) / CALLS;
}

int main(int argc, char **argv) {
    double shortest[KINDS] = {0};
    struct file file = {.fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1};
    if (file.fd < 0) {
        fprintf(stderr, "usage: calls FILE\n");
        return 2;
    }
    file.name = argv[1];
    snprintf(file.missing, sizeof(file.missing), "%s.missing", argv[1]);
    for (unsigned batch = 0; batch < BATCHES; batch++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            const double time_ns = time_batch(kind, &file);
            if (batch == 0 || time_ns < shortest[kind])
                shortest[kind] = time_ns;
        }
    for (unsigned kind = 0; kind < KINDS; kind++)
        printf("%s: %.0f\n", kinds[kind].name, shortest[kind]);
    close(file.fd);
    return 0;
}

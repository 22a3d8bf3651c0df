/* Times its own system calls while it reads a file 101 times; prints their profile at exit. */
#include <aggstats.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { OPEN, READ, CLOSE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"OPEN", "READ", "CLOSE"};
static struct aggstats_recorder *recorder;

/* The value of a system call on a file descriptor, timed. */
#define TIMED(op, fd, call)                                                                                            \
    __extension__({                                                                                                    \
        struct aggstats_span span = aggstats_begin(recorder, op, (uint64_t)(fd), 0);                                   \
        __typeof__(call) result = call;                                                                                \
        aggstats_end(recorder, &span);                                                                                 \
        result;                                                                                                        \
    })

static void print_profile(void) {
    struct aggstats_profile profile = {0};
    if (aggstats_recorder_snapshot(recorder, &profile) == 0)
        aggstats_profile_write(&profile, stderr);
    aggstats_profile_finish(&profile);
}

int main(int argc, char **argv) {
    struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    if (aggstats_recorder_create(&options, &recorder) < 0 || atexit(print_profile) != 0)
        return EXIT_FAILURE;
    for (int round = 0; round < 101; round++) {
        char buffer[4096];
        int fd = TIMED(OPEN, 0, open(argc > 1 ? argv[1] : "/proc/self/exe", O_RDONLY));
        while (fd >= 0 && TIMED(READ, fd, read(fd, buffer, sizeof(buffer))) > 0)
            continue;
        TIMED(CLOSE, fd, close(fd));
    }
    return EXIT_SUCCESS;
}

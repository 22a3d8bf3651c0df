/* Whether a call that opens a file is seen while it lasts, for the layer user.
 *
 *     watched_opens LIVE LIBRARY    makes the live file, and itself is the command that runs, with the library preloaded
 *     watched_opens CALL            the command: a thread makes a call on the FIFO "fifo" that blocks, and is cancelled
 *                                   when a byte comes from standard input
 *
 * Exit status 0: each call was seen while it lasted, and not after it. */
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats/shared.h"
#include "checked_calls.h"
#include "posix_ops.h"

/* ---- The command ---- */

static void open_it(void) {
    CHECK(open("fifo", O_RDONLY) >= 0);
}

static void open_at(void) {
    CHECK(openat(AT_FDCWD, "fifo", O_RDONLY) >= 0);
}

static void open_stream(void) {
    CHECK(fopen("fifo", "re"));
}

/* The thread has left the call, and lives on until standard input ends. */
static void linger(void *unused) {
    char byte;
    (void)unused;
    CHECK(write(STDOUT_FILENO, "d", 1) == 1 && read(STDIN_FILENO, &byte, 1) == 0);
}

static void *make_call(void *call) {
    pthread_cleanup_push(linger, NULL);
    if (strcmp(call, "open") == 0)
        open_it();
    else if (strcmp(call, "openat") == 0)
        open_at();
    else
        open_stream();
    pthread_cleanup_pop(0);
    return NULL;
}

static void run_command(char *call) {
    pthread_t thread;
    void *result;
    char byte;
    CHECK(pthread_create(&thread, NULL, make_call, call) == 0);
    CHECK(read(STDIN_FILENO, &byte, 1) == 1);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

/* ---- What makes the live file ---- */

static const char *const op_names[] = {POSIX_OPS(POSIX_OP_NAME)};

static void start_command(const char *program, const char *call, int input_fd, int output_fd) {
    dup2(input_fd, STDIN_FILENO);
    dup2(output_fd, STDOUT_FILENO);
    closefrom(3);
    execl(program, "watched_opens", call, (char *)NULL);
    _exit(127);
}

static void wait_until_in_flight(struct aggstats_recorder *recorder) {
    for (int i = 0; i < 10000 && aggstats_recorder_shared_in_flight(recorder, NULL) == 0; i++)
        usleep(1000);
    CHECK(aggstats_recorder_shared_in_flight(recorder, NULL) > 0);
}

static void try_call(struct aggstats_recorder *recorder, const char *program, const char *call) {
    int to_command[2];
    int from_command[2];
    int status;
    char byte;
    CHECK(pipe(to_command) == 0 && pipe(from_command) == 0);
    CHECK(aggstats_recorder_shared_in_flight(recorder, NULL) == 0);
    pid_t child = fork();
    if (child == 0)
        start_command(program, call, to_command[0], from_command[1]);
    CHECK(close(to_command[0]) == 0 && close(from_command[1]) == 0);
    wait_until_in_flight(recorder);
    CHECK(write(to_command[1], "c", 1) == 1 && read(from_command[0], &byte, 1) == 1);
    CHECK(aggstats_recorder_shared_in_flight(recorder, NULL) == 0);
    close(to_command[1]);
    close(from_command[0]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
    if (argc == 2) {
        run_command(argv[1]);
        return 0;
    }
    const struct aggstats_recorder_options options = {
        .live_path = argv[1], .op_names = op_names, .op_count = POSIX_OP_COUNT, .resolution = 1};
    struct aggstats_recorder *recorder;
    char variable[4096];
    CHECK(argc == 3 && aggstats_recorder_create_shared(&options, 64, 0, &recorder) == 0);
    snprintf(variable, sizeof(variable), "%ua%s", aggstats_recorder_clock(recorder).kind, argv[1]);
    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK(setenv("OSPROF_POSIX", variable, 1) == 0 && setenv("LD_PRELOAD", argv[2], 1) == 0);
    try_call(recorder, "/proc/self/exe", "open");
    try_call(recorder, "/proc/self/exe", "openat");
    try_call(recorder, "/proc/self/exe", "fopen");
    aggstats_recorder_unlink_live(recorder);
    aggstats_recorder_destroy(recorder);
    return 0;
}

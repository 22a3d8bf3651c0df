/* fail_and_move DIR THREADS: in each of the directories DIR/1 to DIR/THREADS a thread makes calls that fail and calls
 * that move bytes, as many as it says here. Then prints how many failed, "LOOKUP ENOENT 303", and how many bytes were
 * asked for and moved, "READ 69632 10007", each as the operation that it should have been in the file system.
 *
 * In a directory are: data, of 10,007 bytes; empty files named out and copy; and a directory named full, which is not
 * empty. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { THREADS_MAX = 64, ERRORS_MAX = 200, BLOCK_BYTES = 4096 };

enum op { LOOKUP, RMDIR, SETXATTR, REMOVEXATTR, LSEEK, FALLOCATE, READ, WRITE, COPY_FILE_RANGE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {
    "LOOKUP", "RMDIR", "SETXATTR", "REMOVEXATTR", "LSEEK", "FALLOCATE", "READ", "WRITE", "COPY_FILE_RANGE",
};

struct worker {
    pthread_t thread;
    int directory_fd;
    uint64_t failures[OP_COUNT][ERRORS_MAX];
    uint64_t asked_bytes[OP_COUNT];
    uint64_t moved_bytes[OP_COUNT];
};

static void count_failure(struct worker *worker, enum op op, bool failed) {
    if (failed)
        worker->failures[op][errno < ERRORS_MAX ? errno : 0]++;
}

static void count_bytes(struct worker *worker, enum op op, uint64_t asked_bytes, ssize_t moved_bytes) {
    count_failure(worker, op, moved_bytes < 0);
    worker->asked_bytes[op] += asked_bytes;
    worker->moved_bytes[op] += moved_bytes < 0 ? 0 : (uint64_t)moved_bytes;
}

static int open_file(const struct worker *worker, const char *name, int flags) {
    int fd = openat(worker->directory_fd, name, flags | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "fail_and_move: cannot open %s: %s\n", name, strerror(errno));
        exit(2);
    }
    return fd;
}

static void fail_by_name(struct worker *worker) {
    for (int i = 0; i < 101; i++) {
        char name[32];
        struct stat status;
        snprintf(name, sizeof(name), "missing-%d", i);
        count_failure(worker, LOOKUP, fstatat(worker->directory_fd, name, &status, 0) < 0);
    }
    for (int i = 0; i < 7; i++)
        count_failure(worker, RMDIR, unlinkat(worker->directory_fd, "full", AT_REMOVEDIR) < 0);
}

static void fail_by_file(struct worker *worker) {
    int fd = open_file(worker, "out", O_RDWR);
    for (int i = 0; i < 13; i++)
        count_failure(worker, SETXATTR, fsetxattr(fd, "user.none", "x", 1, XATTR_REPLACE) < 0);
    for (int i = 0; i < 5; i++)
        count_failure(worker, REMOVEXATTR, fremovexattr(fd, "user.none") < 0);
    for (int i = 0; i < 3; i++)
        count_failure(worker, LSEEK, lseek(fd, 1 << 20, SEEK_DATA) < 0);
    for (int i = 0; i < 2; i++)
        count_failure(worker, FALLOCATE, fallocate(fd, 0, 0, INT64_C(1) << 60) < 0);
    close(fd);
}

static void copy_bytes(struct worker *worker) {
    int data = open_file(worker, "data", O_RDONLY);
    int copy = open_file(worker, "copy", O_WRONLY);
    for (int i = 0; i < 5; i++) {
        off_t from = (off_t)i * 1999;
        off_t to = (off_t)i * 2011;
        count_bytes(worker, COPY_FILE_RANGE, 1999, copy_file_range(data, &from, copy, &to, 1999, 0));
    }
    close(data);
    close(copy);
}

static void move_bytes(struct worker *worker) {
    char block[BLOCK_BYTES] = {0};
    int data = open_file(worker, "data", O_RDONLY);
    int out = open_file(worker, "out", O_WRONLY);
    for (int i = 0; i < 17; i++) /* the third is short, and from the fourth on there is nothing */
        count_bytes(worker, READ, BLOCK_BYTES, pread(data, block, BLOCK_BYTES, (off_t)i * BLOCK_BYTES));
    for (int i = 0; i < 19; i++)
        count_bytes(worker, WRITE, 1003, pwrite(out, block, 1003, (off_t)i * 1003));
    close(data);
    close(out);
}

static void *work(void *argument) {
    fail_by_name(argument);
    fail_by_file(argument);
    move_bytes(argument);
    copy_bytes(argument);
    return NULL;
}

static void print_sums(const struct worker *workers, int count) {
    for (int op = 0; op < OP_COUNT; op++) {
        uint64_t asked_bytes = 0;
        uint64_t moved_bytes = 0;
        for (int i = 0; i < count; i++) {
            asked_bytes += workers[i].asked_bytes[op];
            moved_bytes += workers[i].moved_bytes[op];
        }
        if (asked_bytes > 0)
            printf("%s %" PRIu64 " %" PRIu64 "\n", op_names[op], asked_bytes, moved_bytes);
        for (int error = 0; error < ERRORS_MAX; error++) {
            uint64_t failures = 0;
            for (int i = 0; i < count; i++)
                failures += workers[i].failures[op][error];
            if (failures > 0)
                printf("%s %s %" PRIu64 "\n", op_names[op], strerrorname_np(error), failures);
        }
    }
}

static void run(struct worker *workers, int count) {
    for (int i = 0; i < count; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fputs("fail_and_move: cannot start a thread\n", stderr);
            exit(2);
        }
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv) {
    static struct worker workers[THREADS_MAX];
    int count = argc == 3 ? atoi(argv[2]) : 0; /* NOLINT(cert-err34-c): 0 is what an error should give */
    if (count < 1 || count > THREADS_MAX) {
        fputs("usage: fail_and_move DIR THREADS\n", stderr);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%d", argv[1], i + 1);
        workers[i].directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (workers[i].directory_fd < 0) {
            fprintf(stderr, "fail_and_move: cannot open %s: %s\n", path, strerror(errno));
            return 2;
        }
    }
    run(workers, count);
    print_sums(workers, count);
    return 0;
}

/* Calls of processes and threads that come and go in ways the C library does not know, or in large numbers:
 *     clone_calls clones N     N children of clone(2), called by its number, one after the other: each reads once
 *     clone_calls threads N    N threads at once: each opens, reads, asks, seeks and closes once
 *     clone_calls vfork N      a child makes its first call in a child of vfork(2); then it and another one read N times */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all_are_here;

static void clones(int count) {
    char byte;
    int fd = open("data", O_RDONLY);
    for (int i = 0; i < count; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            if (pread(fd, &byte, 1, 0) != 1)
                _exit(1);
            _exit(0);
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            err(1, "clone");
    }
}

static void *count_once(void *unused) {
    char byte;
    struct stat attr;
    (void)unused;
    int fd = open("data", O_RDONLY);
    if (fd < 0 || read(fd, &byte, 1) != 1 || fstat(fd, &attr) < 0 || lseek(fd, 0, SEEK_SET) != 0 || close(fd) < 0)
        err(1, "data");
    pthread_barrier_wait(&all_are_here);
    return NULL;
}

static void threads(unsigned count) {
    pthread_t *all = calloc(count, sizeof(*all));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&all_are_here, NULL, count + 1);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&all[i], &attributes, count_once, NULL) != 0)
            errx(1, "no more threads than %u", i);
    pthread_barrier_wait(&all_are_here);
    for (unsigned i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    free(all);
}

static void read_often(int fd, int count) {
    char byte;
    for (int i = 0; i < count; i++)
        if (pread(fd, &byte, 1, 0) != 1)
            _exit(1);
    _exit(0);
}

static void wait_for(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        errx(1, "a child failed");
}

static void first_in_vfork(int count) {
    char byte;
    int ready[2];
    int fd = open("data", O_RDONLY);
    if (pipe(ready) < 0)
        err(1, "pipe");
    pid_t first = fork();
    if (first == 0) {
        pid_t borrower = vfork(); /* NOLINT(clang-analyzer-*): the test is about vfork(2) */
        if (borrower == 0)
            _exit(pread(fd, &byte, 1, 0) != 1); /* NOLINT(clang-analyzer-unix.Vfork): it is the test */
        wait_for(borrower);
        close(ready[0]);
        close(ready[1]);
        read_often(fd, count);
    }
    close(ready[1]);
    (void)!read(ready[0], &byte, 1);
    pid_t second = fork();
    if (second == 0)
        read_often(fd, count);
    wait_for(first);
    wait_for(second);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "clones") == 0)
        clones(atoi(argv[2]));
    else if (argc == 3 && strcmp(argv[1], "threads") == 0)
        threads((unsigned)atoi(argv[2]));
    else if (argc == 3 && strcmp(argv[1], "vfork") == 0)
        first_in_vfork(atoi(argv[2]));
    else
        errx(2, "clones, threads or vfork, and a number");
    return 0;
}

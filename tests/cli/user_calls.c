/* Makes known numbers of calls in the current directory, for the layer user.
 *
 *     user_calls ACTION      ACTION: a row of the table below
 *
 * Exit status 0: all calls had the expected results. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checked_calls.h"

/* ---- Before main() ---- */

static __attribute__((constructor)) void before_main(void) {
    int fd = open("constructor", O_RDONLY);
    if (fd < 0)
        return;
    read_often(fd, 7);
    close(fd);
}

/* ---- One process ---- */

static void results(void) {
    char bytes[100];
    struct iovec vector[2] = {{bytes, 3}, {bytes + 50, 4}};
    int fd = open_data();
    errno = ERANGE;
    CHECK(pwrite(fd, "12345678901", 11, 0) == 11 && errno == ERANGE);
    CHECK(pread(fd, bytes, sizeof(bytes), 4090) == 6 && errno == ERANGE);
    CHECK(preadv(fd, vector, 2, 0) == 7 && memcmp(bytes, "123", 3) == 0 && memcmp(bytes + 50, "4567", 4) == 0);
    CHECK(lseek(fd, -1, SEEK_END) == 4095 && read(fd, bytes, 2) == 1 && read(fd, bytes, 2) == 0);
    CHECK(open("missing", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(unlink("missing") == -1 && errno == ENOENT);
    CHECK(pread(-1, bytes, 1, 0) == -1 && errno == EBADF);
    CHECK(pread(fd, bytes, 1, -1) == -1 && errno == EINVAL);
    CHECK(posix_fallocate(fd, 0, 0) == EINVAL);
    CHECK(close(fd) == 0);
    CHECK(close(fd) == -1 && errno == EBADF);
}

static void *read_in_thread(void *fd) {
    read_often(*(int *)fd, 1009);
    return NULL;
}

#define THREADS 7

static pthread_barrier_t all_have_read;

static void *read_beside_others(void *fd) {
    read_in_thread(fd);
    pthread_barrier_wait(&all_have_read);
    return NULL;
}

/* None ends before all have read: a thread that ends leaves its counters to the next one. */
static void in_threads(void) {
    pthread_t threads[THREADS];
    int fd = open_data();
    CHECK(pthread_barrier_init(&all_have_read, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_beside_others, &fd) == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int handled_fd;
static volatile sig_atomic_t handled_count;

static void read_in_handler(int signal) {
    char byte;
    (void)signal;
    if (pread(handled_fd, &byte, 1, 0) == 1) /* NOLINT(bugprone-signal-handler): it is a system call */
        handled_count++;
}

/* Until a handler has run 100 times, in calls and between them. Prints how many calls there were. */
static void in_handlers(void) {
    const struct itimerval often = {.it_interval = {.tv_usec = 300}, .it_value = {.tv_usec = 300}};
    const struct itimerval never = {0};
    long count = 0;
    signal(SIGALRM, read_in_handler);
    handled_fd = open_data();
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (; handled_count < 100; count++)
        read_often(handled_fd, 1);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    printf("%ld\n", count + handled_count);
}

static void *read_for_ever(void *fd) {
    char byte;
    read(*(int *)fd, &byte, 1);
    return NULL;
}

static void cancelled(void) {
    cancel_in_read(read_for_ever);
}

/* ---- Descriptors ---- */

/* Numbers that are used again for what is no file here. */
static void used_again(void) {
    int ends[2];
    char byte = 'x';
    int fd = open_data();
    read_often(fd, 3);
    close(fd);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ends[0] == fd);
    for (int i = 0; i < 20; i++)
        CHECK(write(ends[0], &byte, 1) == 1 && read(ends[1], &byte, 1) == 1);
    int null_fd = open("/dev/null", O_RDWR);
    CHECK(dup2(null_fd, ends[0]) == ends[0] && write(ends[0], &byte, 1) == 1);
    fd = open_data();
    CHECK(dup2(fd, ends[0]) == ends[0]);
    read_often(ends[0], 5);
    int copy = fcntl(fd, F_DUPFD, 100);
    read_often(copy, 7);
    close_range(3, ~0U, 0);
    CHECK(pipe(ends) == 0 && write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1);
}

#ifdef SYS_dup2
#define DUP2(FD, WANTED) syscall(SYS_dup2, FD, WANTED)
#else
#define DUP2(FD, WANTED) syscall(SYS_dup3, FD, WANTED, 0)
#endif

/* The same by syscall(2); and another current directory. */
static void used_again_by_number(void) {
    int ends[2];
    char byte = 'x';
    struct stat attr;
    struct flock lock = {.l_type = F_WRLCK};
    const int fd = open_data();
    const int other = open_data();
    const int directory = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(pipe(ends) == 0);
    read_often(fd, 2);
    read_often(other, 3);
    CHECK(syscall(SYS_dup3, ends[1], fd, O_CLOEXEC) == fd && write(fd, &byte, 1) == 1); /* into the pipe */
    CHECK(DUP2(ends[1], other) == other && write(other, &byte, 1) == 1);
    const int data = open_data();
    CHECK(DUP2(data, ends[1]) == ends[1] && DUP2(data, data) == data);
    read_often(ends[1], 5);
    CHECK(syscall(SYS_dup3, data, fd, 0) == fd);
    read_often(fd, 7);
    read_often((int)syscall(SYS_dup, data), 11);
    read_often((int)syscall(SYS_fcntl, data, F_DUPFD_CLOEXEC, 100), 13);
    CHECK(syscall(SYS_fcntl, data, F_SETLK, &lock) == 0);
    CHECK(syscall(SYS_chdir, "/") == 0 && stat("etc", &attr) == 0);
    CHECK(syscall(SYS_fchdir, directory) == 0 && stat("data", &attr) == 0);
    CHECK(syscall(SYS_close_range, 3, ~0U, 0) == 0 && pipe(ends) == 0 && write(ends[1], &byte, 1) == 1);
}

/* ---- Processes ---- */

static void wait_for(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void in_child(void) {
    int fd = open_data();
    read_often(fd, 3);
    pid_t child = fork();
    if (child == 0) {
        read_often(fd, 13);
        _exit(0);
    }
    read_often(fd, 17);
    wait_for(child);
}

/* Threads of a process that forks meanwhile. */
static void in_threads_that_fork(void) {
    pthread_t thread;
    int fd = open_data();
    CHECK(pthread_create(&thread, NULL, read_in_thread, &fd) == 0);
    for (int i = 0; i < 31; i++) {
        pid_t child = fork();
        if (child == 0) {
            read_often(fd, 2);
            _exit(0);
        }
        wait_for(child);
    }
    pthread_join(thread, NULL);
}

/* A child that shares the memory, but has descriptors and a directory of its own. */
static void in_child_of_vfork(void) {
    struct stat attr;
    int fd = open_data();
    int null_fd = open("/dev/null", O_RDWR);
    CHECK(stat("data", &attr) == 0);
    /* NOLINTBEGIN(clang-analyzer-*): the test is about vfork(2) */
    pid_t child = vfork();
    if (child == 0) {
        char byte = 0;
        if (dup2(fd, null_fd) < 0 || pread(null_fd, &byte, 1, 0) != 1 || chdir("/") < 0 || stat("etc", &attr) < 0 ||
            close(fd) < 0)
            _exit(1);
        _exit(0);
    }
    /* NOLINTEND(clang-analyzer-*) */
    wait_for(child);
    read_often(fd, 5);
    char byte = 0;
    CHECK(write(null_fd, &byte, 1) == 1); /* not counted */
    CHECK(stat("data", &attr) == 0);
}

/* As libuv does. A number that has been given back so is no file's any more. */
static void by_number(void) {
    char bytes[4];
    struct statx attr;
    struct iovec vector[2] = {{bytes, 3}, {bytes + 3, 1}};
    int pipe_fds[2];
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, "data", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && syscall(SYS_write, fd, "12345678901", 11) == 11);
    CHECK(syscall(SYS_preadv, fd, vector, 2, 5, 0) == 4 && memcmp(bytes, "6789", 4) == 0);
    CHECK(syscall(SYS_statx, AT_FDCWD, "data", 0, STATX_SIZE, &attr) == 0 && attr.stx_size == 11);
    CHECK(syscall(SYS_statx, AT_FDCWD, "missing", 0, STATX_SIZE, &attr) == -1 && errno == ENOENT);
    CHECK(syscall(SYS_statx, AT_FDCWD, (char *)8, 0, STATX_SIZE, &attr) == -1 && errno == EFAULT);
    CHECK(syscall(SYS_close, fd) == 0);
    CHECK(pipe(pipe_fds) == 0 && pipe_fds[0] == fd);
    CHECK(write(pipe_fds[1], bytes, 4) == 4 && read(pipe_fds[0], bytes, 4) == 4); /* not counted */
}

static void killed(void) {
    int fd = open_data();
    read_often(fd, 11);
    raise(SIGKILL);
}

/* Forbids what a preloaded library might ask: the path of a file, the directory. A process that does is killed. */
static void sandboxed(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getcwd, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};
    struct stat attr;
    int fd = open_data();
    read_often(fd, 3);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
    read_often(fd, 5);
    fd = open_data();
    read_often(fd, 7);
    CHECK(stat("data", &attr) == 0);
}

static void executed(void) {
    int fd = open_data();
    read_often(fd, 2);
    execl("/proc/self/exe", "user_calls", "results", (char *)NULL);
}

static void nothing(void) {
}

int main(int argc, char **argv) {
    static const struct calls_row rows[] = {
        {"results", results},
        {"threads", in_threads},
        {"handlers", in_handlers},
        {"cancelled", cancelled},
        {"used_again", used_again},
        {"used_again_by_number", used_again_by_number},
        {"child", in_child},
        {"threads_that_fork", in_threads_that_fork},
        {"child_of_vfork", in_child_of_vfork},
        {"by_number", by_number},
        {"killed", killed},
        {"sandboxed", sandboxed},
        {"executed", executed},
        {"nothing", nothing},
    };
    ROW_NAMED(rows, argc == 2 ? argv[1] : NULL)->make();
    return 0;
}

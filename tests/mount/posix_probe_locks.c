/* Probes: locks between two processes, also blocking, interrupted and killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "posix_probe.h"

static int set_range(int fd, int command, short type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, command, &lock);
}

/* The same, patiently: a lock whose last descriptor was closed may take a moment to go, as close(2) does not wait. */
static int set_range_soon(int fd, int command, short type, off_t start, off_t length) {
    for (int attempt = 0; attempt < 50; attempt++) {
        if (set_range(fd, command, type, start, length) == 0)
            return 0;
        usleep(20000);
    }
    return set_range(fd, command, type, start, length);
}

static void print_conflict(int fd, int command, short type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(fd, command, &lock) < 0)
        probe_note("conflict: %s", strerrorname_np(errno));
    else if (lock.l_type == F_UNLCK)
        probe_note("conflict: none");
    else
        probe_note("conflict: type %d from %lld for %lld", lock.l_type, (long long)lock.l_start, (long long)lock.l_len);
}

static void on_alarm(int signal_number) {
    (void)signal_number;
}

/* After 100 ms a signal comes, and again each 100 ms, so that none comes too early to matter. */
static void start_alarm(void) {
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    const struct itimerspec interval = {.it_value.tv_nsec = 100000000, .it_interval.tv_nsec = 100000000};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &interval, NULL);
}

static int in_child(void (*action)(int fd), int fd) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        action(fd);
        fflush(stdout);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

/* A child waits for the lock until it is killed. */
static void kill_waiter(void (*wait_for_it)(int fd), int fd) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        wait_for_it(fd);
        _exit(0);
    }
    usleep(200000);
    kill(child, SIGKILL);
    int status = -1;
    waitpid(child, &status, 0);
    probe_note("killed waiter: signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* A child waits for the lock; the parent lets go after a while (and says so only when the child has spoken). */
static void release_to_waiter(void (*wait_for_it)(int fd), int fd, int (*let_go)(int fd)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        wait_for_it(fd);
        fflush(stdout);
        _exit(0);
    }
    usleep(200000);
    int let_go_result = let_go(fd);
    int status = -1;
    waitpid(child, &status, 0);
    probe_note("let go: %d, waiter: status %d", let_go_result, status);
}

static void child_sees_record_locks(int fd) {
    print_conflict(fd, F_GETLK, F_WRLCK, 0, 0);
    print_conflict(fd, F_GETLK, F_WRLCK, 50, 5);
    print_conflict(fd, F_GETLK, F_RDLCK, 60, 100);
    TRY(set_range(fd, F_SETLK, F_WRLCK, 0, 1));
    TRY(set_range(fd, F_SETLK, F_WRLCK, 45, 10));
    TRY(set_range(fd, F_SETLK, F_RDLCK, 200, 0));
    TRY(set_range(fd, F_SETLK, F_WRLCK, 200, 0));
    start_alarm();
    TRY(set_range(fd, F_SETLKW, F_WRLCK, 0, 1));
}

static void wait_for_record_lock(int fd) {
    TRY(set_range(fd, F_SETLKW, F_WRLCK, 0, 1));
}

static int drop_record_lock(int fd) {
    return set_range(fd, F_SETLK, F_UNLCK, 0, 10);
}

static void child_asks_for_owner(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    TRY(fcntl(fd, F_GETLK, &lock));
    probe_note("held by my parent: %s", lock.l_pid == getppid() ? "yes" : "no");
}

void probe_lock_holder(void) {
    probe_make("file", "x");
    int fd = TRY_FD(open("file", O_RDWR));
    TRY(set_range(fd, F_SETLK, F_WRLCK, 0, 100));
    in_child(child_asks_for_owner, fd);
    close(fd);
}

static void child_locks_all(int fd) {
    TRY(set_range(fd, F_SETLK, F_WRLCK, 0, 0));
}

void probe_record_locks(void) {
    probe_make("file", "x");
    int fd = TRY_FD(open("file", O_RDWR));
    TRY(set_range(fd, F_SETLK, F_WRLCK, 0, 100));
    TRY(set_range(fd, F_SETLK, F_UNLCK, 40, 20));
    TRY(set_range(fd, F_SETLK, F_RDLCK, 200, 50));
    in_child(child_sees_record_locks, fd);
    kill_waiter(wait_for_record_lock, fd);
    release_to_waiter(wait_for_record_lock, fd, drop_record_lock);
    TRY(set_range(fd, F_SETLKW, F_WRLCK, 0, 100)); /* the child's died with it */
    close(open("file", O_RDONLY));                 /* lets go of all of them, as POSIX has it */
    in_child(child_locks_all, fd);
    close(fd);
    fd = TRY_FD(open("file", O_RDONLY));
    TRY(set_range(fd, F_SETLK, F_WRLCK, 0, 1));
    TRY(set_range(fd, F_SETLK, F_RDLCK, 0, 1));
    TRY(set_range(fd, F_SETLK, F_RDLCK, -5, 1));
    TRY(set_range(fd, F_SETLK, 77, 0, 1));
    close(fd);
}

static void wait_for_ofd_lock(int unused) {
    (void)unused;
    int fd = open("file", O_RDWR);
    TRY(set_range(fd, F_OFD_SETLKW, F_WRLCK, 0, 10));
}

static int drop_ofd_lock(int fd) {
    return set_range(fd, F_OFD_SETLK, F_UNLCK, 0, 0);
}

static void interrupted_ofd_wait(int unused) {
    start_alarm();
    wait_for_ofd_lock(unused);
}

void probe_ofd_locks(void) {
    probe_make("file", "x");
    int a = TRY_FD(open("file", O_RDWR));
    int b = TRY_FD(open("file", O_RDWR));
    TRY(set_range(a, F_OFD_SETLK, F_WRLCK, 0, 10));
    TRY(set_range(b, F_OFD_SETLK, F_WRLCK, 5, 10));
    TRY(set_range(b, F_OFD_SETLK, F_WRLCK, 10, 10));
    print_conflict(b, F_OFD_GETLK, F_WRLCK, 0, 5);
    TRY(set_range(a, F_SETLK, F_WRLCK, 0, 10)); /* against its own: owners differ */
    int duplicate = dup(a);
    close(duplicate); /* lets go of nothing */
    TRY(set_range(b, F_OFD_SETLK, F_WRLCK, 5, 1));
    in_child(interrupted_ofd_wait, a);
    kill_waiter(wait_for_ofd_lock, a);
    release_to_waiter(wait_for_ofd_lock, a, drop_ofd_lock);
    TRY(set_range_soon(b, F_OFD_SETLK, F_WRLCK, 0, 0));
    close(b);
    TRY(set_range_soon(a, F_OFD_SETLK, F_WRLCK, 0, 0));
    close(a);
}

static void child_flocks(int unused) {
    (void)unused;
    int fd = open("file", O_RDONLY);
    TRY(flock(fd, LOCK_EX | LOCK_NB));
    TRY(flock(fd, LOCK_SH | LOCK_NB));
    start_alarm();
    TRY(flock(fd, LOCK_EX));
}

static void wait_for_flock(int unused) {
    (void)unused;
    int fd = open("file", O_RDONLY);
    TRY(flock(fd, LOCK_EX));
}

static int drop_flock(int fd) {
    return flock(fd, LOCK_UN);
}

void probe_flock(void) {
    probe_make("file", "x");
    int a = TRY_FD(open("file", O_RDONLY));
    int b = TRY_FD(open("file", O_WRONLY));
    TRY(flock(a, LOCK_SH));
    TRY(flock(b, LOCK_SH | LOCK_NB));
    TRY(flock(a, LOCK_EX | LOCK_NB));
    TRY(flock(b, LOCK_UN));
    TRY(flock(a, LOCK_EX | LOCK_NB));
    TRY(flock(b, LOCK_SH | LOCK_NB));
    in_child(child_flocks, a);
    kill_waiter(wait_for_flock, a);
    release_to_waiter(wait_for_flock, a, drop_flock);
    TRY(flock(a, LOCK_EX));
    int duplicate = dup(a);
    close(a);
    TRY(flock(b, LOCK_EX | LOCK_NB));
    close(duplicate);
    TRY(flock(b, LOCK_EX)); /* waits, should the close not have arrived */
    TRY(flock(b, 77));
    close(b);
}

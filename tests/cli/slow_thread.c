/* Preloaded: before the program begins, a thread waits for the lock of the file that the environment variable SLOW_FILE names,
 * which another process holds for a while. No function of the program is on its stack. With SLOW_DEEP that stack is large. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELD_NS 60000000

static int hold(const char *path, int go) {
    const int other = open(path, O_RDWR | O_CREAT, 0644);
    const int failed = other < 0 || flock(other, LOCK_EX) != 0 || write(go, "", 1) != 1;
    nanosleep(&(const struct timespec){.tv_nsec = HELD_NS}, NULL);
    return failed;
}

__attribute__((noinline)) static void *wait_in_library(void *path) {
    const int fd = open(path, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        _exit(4);
    close(fd);
    return NULL;
}

__attribute__((noinline)) static void *wait_deep(void *path) {
    volatile char room[8192];
    for (size_t i = 0; i < sizeof(room); i += 256) /* so that it is in memory */
        room[i] = '\0';
    wait_in_library(path);
    return room[0] ? path : NULL;
}

__attribute__((constructor)) static void begin(void) {
    char *path = getenv("SLOW_FILE");
    pthread_t thread;
    int go[2];
    char held;
    int status = 0;
    if (!path || pipe(go) < 0)
        return;
    const pid_t holder = fork();
    if (holder == 0)
        _exit(hold(path, go[1]));
    void *(*wait_somewhere)(void *) = getenv("SLOW_DEEP") ? wait_deep : wait_in_library;
    if (read(go[0], &held, 1) != 1 || pthread_create(&thread, NULL, wait_somewhere, path) != 0 ||
        pthread_join(thread, NULL) != 0)
        _exit(4);
    if (waitpid(holder, &status, 0) < 0 || status != 0)
        _exit(4);
    close(go[0]);
    close(go[1]);
}

#include "attach_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "live_dirs.h"

#define LONGEST_NS (30 * NS_PER_S)
#define PAUSE_NS 20000000L

static bool get(int fd) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + LONGEST_NS;
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK || read_clock_ns(CLOCK_MONOTONIC) >= end_ns)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

int attach_turn_begin(void) {
    struct live_dirs dirs;
    live_dirs_find(&dirs);
    if (live_dirs_make(&dirs) < 0)
        return -1;
    CLEANUP_FD int fd = open(dirs.paths[dirs.chosen], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && get(fd) ? steal_fd(&fd) : -1;
}

/* A process that was started meanwhile has the descriptor too, so closing it is not enough. */
void attach_turn_end(int *turn_fd) {
    CLEANUP_FD int fd = steal_fd(turn_fd);
    if (fd >= 0)
        flock(fd, LOCK_UN);
}

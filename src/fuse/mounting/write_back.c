/* A thread calls syncfs(2) on the mount, and then waits until the kernel's queue stays empty. It owns its arguments,
 * as it may hang and outlive its caller. */
#include "write_back.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "quiet_thread.h"
#include "waiting.h"

#define WAIT_MAX_S 2
#define LOOK_EVERY_NS 2000000
#define QUIET_LOOKS 3 /* checks in a row without a request in the queue */

struct write_back {
    char *file;
    dev_t device;
    int fuse_fd;
};

/* Something else may be mounted over it. */
static bool is_ours(int fd, dev_t device) {
    struct statx attr;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &attr) == 0 &&
           makedev(attr.stx_dev_major, attr.stx_dev_minor) == device;
}

/* The kernel does not wait for all answers itself. */
static void wait_for_queue(int fuse_fd) {
    const struct timespec step = {.tv_nsec = LOOK_EVERY_NS};
    for (int quiet = 0; quiet < QUIET_LOOKS; nanosleep(&step, NULL)) {
        struct pollfd queue = {.fd = fuse_fd, .events = POLLIN};
        quiet = poll(&queue, 1, 0) == 1 ? 0 : quiet + 1;
    }
}

static void *run(void *context) {
    struct write_back *work = context;
    CLEANUP_FD int fd = open(work->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && is_ours(fd, work->device) && syncfs(fd) == 0)
        wait_for_queue(work->fuse_fd);
    free(work->file);
    free(work);
    return NULL;
}

bool write_back_pages(const char *file, dev_t device, int fuse_fd) {
    pthread_t thread;
    struct write_back *work = malloc(sizeof(*work));
    if (!work)
        return true;
    *work = (struct write_back){.file = strdup(file), .device = device, .fuse_fd = fuse_fd};
    if (!work->file || quiet_thread_start(&thread, run, work) < 0) {
        free(work->file);
        free(work);
        return true;
    }
    return join_within(thread, WAIT_MAX_S);
}

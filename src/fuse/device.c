/* Reading requests and writing answers. */
#include "device.h"

#include <sys/uio.h>
#include <unistd.h>

#include "aggstats.h"

static _Thread_local struct {
    uint32_t clock_kind; /* 0: nobody wants to know */
    uint64_t cycles;
} answered;

void device_watch_answers(uint32_t clock_kind) {
    answered.clock_kind = clock_kind;
}

uint64_t device_take_answer_time(void) {
    uint64_t cycles = answered.cycles;
    answered.cycles = 0;
    return cycles;
}

static ssize_t receive(int fd, void *data, size_t size_bytes, void *userdata) {
    (void)userdata;
    return read(fd, data, size_bytes);
}

/* The time is taken before: the one who waits for the answer may run, and not us, before the call returns. */
static ssize_t answer(int fd, struct iovec *parts, int count, void *userdata) {
    (void)userdata;
    if (answered.clock_kind)
        answered.cycles = aggstats_clock_now(answered.clock_kind);
    return writev(fd, parts, count);
}

int device_attach(struct fuse_session *fuse) {
    const struct fuse_custom_io io = {.read = receive, .writev = answer};
    return fuse_session_custom_io(fuse, &io, fuse_session_fd(fuse));
}

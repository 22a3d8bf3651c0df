/* Reading requests and writing answers. */
#include "device.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
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

/* ---- What libfuse cannot ask for ----
 *
 * FUSE_HANDLE_KILLPRIV_V2: the set-id bits and capabilities that a write takes away are the lower file system's
 * business. Without it the kernel asks for security.capability before each single write. libfuse knows of it since
 * 3.17; the bit is set here in the answer to INIT for the older ones. */

static _Thread_local bool init_offers_killpriv; /* this thread has received INIT, and has not answered it */

static void look_for_init(const void *request, ssize_t size_bytes) {
    struct fuse_in_header header;
    struct fuse_init_in init;
    if (size_bytes < (ssize_t)(sizeof(header) + offsetof(struct fuse_init_in, flags2)))
        return;
    memcpy(&header, request, sizeof(header));
    if (header.opcode != FUSE_INIT)
        return;
    memcpy(&init, (const char *)request + sizeof(header), offsetof(struct fuse_init_in, flags2));
    init_offers_killpriv = init.flags & FUSE_HANDLE_KILLPRIV_V2;
}

static void complete_init(const struct iovec *parts, int count) {
    init_offers_killpriv = false;
    if (count < 2 || parts[1].iov_len < offsetof(struct fuse_init_out, max_background))
        return; /* an error */
    uint32_t flags;
    char *place = (char *)parts[1].iov_base + offsetof(struct fuse_init_out, flags);
    memcpy(&flags, place, sizeof(flags));
    flags |= FUSE_HANDLE_KILLPRIV_V2;
    memcpy(place, &flags, sizeof(flags));
}

/* ---- Requests and answers ---- */

static ssize_t receive(int fd, void *data, size_t size_bytes, void *userdata) {
    (void)userdata;
    ssize_t received_bytes = read(fd, data, size_bytes);
    if (received_bytes < 0 && errno == ECONNABORTED)
        errno = ENODEV; /* the same end, seen with a request half taken; libfuse knows only the other */
    look_for_init(data, received_bytes);
    return received_bytes;
}

/* The time is taken before: the one who waits for the answer may run, and not us, before the call returns. */
static ssize_t answer(int fd, struct iovec *parts, int count, void *userdata) {
    (void)userdata;
    if (init_offers_killpriv)
        complete_init(parts, count);
    if (answered.clock_kind)
        answered.cycles = aggstats_clock_now(answered.clock_kind);
    return writev(fd, parts, count);
}

int device_attach(struct fuse_session *fuse) {
    const struct fuse_custom_io io = {.read = receive, .writev = answer};
    return fuse_session_custom_io(fuse, &io, fuse_session_fd(fuse));
}

/* Reading requests and writing answers. */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "aggstats.h"
#include "base.h"
#include "crew.h"
#include "glue.h"

static _Thread_local struct {
    uint32_t clock_kind; /* 0: nobody wants to know */
    struct crew_member *worker;
    uint64_t cycles;
} answered;

void device_watch_answers(uint32_t clock_kind, struct crew_member *worker) {
    answered.clock_kind = clock_kind;
    answered.worker = worker;
}

uint64_t device_take_answer_time(void) {
    uint64_t cycles = answered.cycles;
    answered.cycles = 0;
    return cycles;
}

/* ---- What libfuse cannot ask for ----
 *
 * libfuse answers INIT, and older ones do not know what the kernel offers since. These bits are added to the answer:
 *
 * FUSE_HANDLE_KILLPRIV_V2 (libfuse has it since 3.17): the set-id bits and capabilities that a write takes away are the
 * lower file system's business. Without it the kernel asks for security.capability before each single write.
 *
 * FUSE_DIRECT_IO_ALLOW_MMAP (since 3.16): files that are read and written past the page cache may be mapped shared. */

#ifndef FUSE_DIRECT_IO_ALLOW_MMAP
#define FUSE_DIRECT_IO_ALLOW_MMAP (1ULL << 36)
#endif

static _Thread_local uint64_t offered_flags; /* of those, when this thread has received INIT and not answered it */

/* What the kernel writes by itself (data=passthrough) it must take the bits from by itself. */
static uint64_t wanted_flags(const struct glue *glue) {
    return glue->backings ? FUSE_DIRECT_IO_ALLOW_MMAP : FUSE_DIRECT_IO_ALLOW_MMAP | FUSE_HANDLE_KILLPRIV_V2;
}

static void look_for_init(const struct glue *glue, const void *request, ssize_t size_bytes) {
    struct fuse_in_header header;
    struct fuse_init_in init = {.flags = 0};
    if (size_bytes < (ssize_t)(sizeof(header) + offsetof(struct fuse_init_in, flags2)))
        return;
    memcpy(&header, request, sizeof(header));
    if (header.opcode != FUSE_INIT)
        return;
    size_t init_bytes = (size_t)size_bytes - sizeof(header);
    memcpy(&init, (const char *)request + sizeof(header), init_bytes < sizeof(init) ? init_bytes : sizeof(init));
    offered_flags = (init.flags | (uint64_t)init.flags2 << 32) & wanted_flags(glue);
}

static void complete_init(const struct iovec *parts, int count) {
    struct fuse_init_out init;
    bool is_whole = count == 2 && parts[1].iov_len == sizeof(init); /* else an error, or an old kernel's */
    if (is_whole) {
        memcpy(&init, parts[1].iov_base, sizeof(init));
        init.flags |= (uint32_t)offered_flags;
        if (init.flags & FUSE_INIT_EXT)
            init.flags2 |= (uint32_t)(offered_flags >> 32);
        memcpy(parts[1].iov_base, &init, sizeof(init));
    }
    offered_flags = 0;
}

/* ---- Requests and answers ---- */

static ssize_t receive(int fd, void *data, size_t size_bytes, void *userdata) {
    ssize_t received_bytes = read(fd, data, size_bytes);
    if (received_bytes < 0 && errno == ECONNABORTED)
        errno = ENODEV; /* the same end, seen with a request half taken; libfuse knows only the other */
    look_for_init(userdata, data, received_bytes);
    return received_bytes;
}

/* Before it goes: the one who waits for it may run, and not us, before the call returns. */
static void note_answer(void) {
    if (!answered.clock_kind)
        return;
    answered.cycles = aggstats_clock_now(answered.clock_kind);
    crew_answer(answered.worker);
}

static ssize_t answer(int fd, struct iovec *parts, int count, void *userdata) {
    (void)userdata;
    if (offered_flags)
        complete_init(parts, count);
    note_answer();
    return writev(fd, parts, count);
}

int device_attach(struct fuse_session *fuse) {
    const struct fuse_custom_io io = {.read = receive, .writev = answer};
    return fuse_session_custom_io(fuse, &io, fuse_session_fd(fuse));
}

/* ---- Answers out of a pipe ---- */

#define PIPE_SLOT_BYTES 4096U /* a slot holds a page or less */
#define PIPE_MOST_BYTES (2U << 20)

struct pipe {
    int ends[2]; /* to read from, to write to; -1: not there, or discarded */
    size_t slots;
    size_t content_bytes; /* that belong to the answer under way */
};

static pthread_key_t pipe_key;
static pthread_once_t pipe_once = PTHREAD_ONCE_INIT;

static void close_pipe(struct pipe *pipe) {
    close_fd(&pipe->ends[0]);
    close_fd(&pipe->ends[1]);
}

static void free_pipe(void *pointer) {
    close_pipe(pointer);
    free(pointer);
}

static void make_pipe_key(void) {
    pthread_key_create(&pipe_key, free_pipe);
}

static struct pipe *this_pipe(void) {
    pthread_once(&pipe_once, make_pipe_key);
    struct pipe *pipe = pthread_getspecific(pipe_key);
    if (pipe)
        return pipe;
    pipe = calloc(1, sizeof(*pipe));
    if (!pipe || pthread_setspecific(pipe_key, pipe) != 0) {
        free(pipe);
        return NULL;
    }
    pipe->ends[0] = pipe->ends[1] = -1;
    return pipe;
}

/* As large as the system allows: half of it without privilege. */
static bool open_pipe(struct pipe *pipe) {
    if (pipe->ends[0] >= 0)
        return true;
    if (pipe2(pipe->ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    if (fcntl(pipe->ends[0], F_SETPIPE_SZ, PIPE_MOST_BYTES) < 0)
        fcntl(pipe->ends[0], F_SETPIPE_SZ, PIPE_MOST_BYTES / 2);
    int size_bytes = fcntl(pipe->ends[0], F_GETPIPE_SZ);
    pipe->slots = size_bytes > 0 ? (size_t)size_bytes / PIPE_SLOT_BYTES : 0;
    return true;
}

int device_pipe_begin(uint64_t request, size_t size_bytes) {
    struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + size_bytes), .unique = request};
    size_t slots = 1 + size_bytes / PIPE_SLOT_BYTES + 2; /* the header's, and pages of which only a part is wanted */
    struct pipe *pipe = this_pipe();
    if (!pipe || !open_pipe(pipe) || slots > pipe->slots)
        return -1;
    if (write(pipe->ends[1], &header, sizeof(header)) != (ssize_t)sizeof(header)) {
        close_pipe(pipe);
        return -1;
    }
    pipe->content_bytes = header.len;
    return pipe->ends[1];
}

/* If the request is no more, because its caller was interrupted or the connection is gone, nobody waits. */
void device_pipe_answer(struct fuse_session *fuse) {
    struct pipe *pipe = this_pipe();
    note_answer();
    if (splice(pipe->ends[0], NULL, fuse_session_fd(fuse), NULL, pipe->content_bytes, 0) !=
        (ssize_t)pipe->content_bytes)
        close_pipe(pipe);
}

bool device_pipe_take(void *memory, size_t data_bytes) {
    struct pipe *pipe = this_pipe();
    struct fuse_out_header header;
    struct iovec parts[] = {{.iov_base = &header, .iov_len = sizeof(header)},
                            {.iov_base = memory, .iov_len = data_bytes}};
    bool taken = readv(pipe->ends[0], parts, 2) == (ssize_t)(sizeof(header) + data_bytes);
    if (!taken)
        close_pipe(pipe);
    return taken;
}

void device_pipe_discard(void) {
    close_pipe(this_pipe());
}

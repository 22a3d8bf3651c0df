/* Buffers and pipes for replies, one of each for each thread. */
#include "reply_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base.h"

#define PAGE_BYTES 4096U

struct reply_buffer {
    void *data;
    size_t size_bytes;
};

static pthread_key_t buffer_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void free_buffer(void *pointer) {
    struct reply_buffer *buffer = pointer;
    free(buffer->data);
    free(buffer);
}

static void make_key(void) {
    pthread_key_create(&buffer_key, free_buffer);
}

void *reply_buffer_get(size_t size_bytes) {
    pthread_once(&key_once, make_key);
    struct reply_buffer *buffer = pthread_getspecific(buffer_key);
    if (!buffer) {
        buffer = calloc(1, sizeof(*buffer));
        if (!buffer || pthread_setspecific(buffer_key, buffer) != 0) {
            free(buffer);
            return NULL;
        }
    }
    if (buffer->size_bytes < size_bytes) {
        void *grown;
        if (posix_memalign(&grown, PAGE_BYTES, size_bytes) != 0)
            return NULL;
        free(buffer->data);
        *buffer = (struct reply_buffer){.data = grown, .size_bytes = size_bytes};
    }
    return buffer->data;
}

/* ---- Pipes ---- */

#define PIPE_SLOT_BYTES 4096U /* a slot holds a page or less */
#define PIPE_MOST_BYTES (2U << 20)

struct pipe {
    int ends[2]; /* to read from, to write to; -1: not open */
    size_t slots;
    size_t content_bytes; /* of the current answer */
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

/* As large as the system allows; half of that without privilege. */
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

int pipe_answer_begin(uint64_t request, size_t size_bytes) {
    struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + size_bytes), .unique = request};
    size_t slots = 1 + size_bytes / PIPE_SLOT_BYTES + 2; /* header; first and last page in part */
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

/* On failure nobody waits: the caller was interrupted, or the connection is gone. */
void pipe_answer_send(struct fuse_session *fuse) {
    struct pipe *pipe = this_pipe();
    if (splice(pipe->ends[0], NULL, fuse_session_fd(fuse), NULL, pipe->content_bytes, 0) !=
        (ssize_t)pipe->content_bytes)
        close_pipe(pipe);
}

bool pipe_answer_take(void *memory, size_t data_bytes) {
    struct pipe *pipe = this_pipe();
    struct fuse_out_header header;
    struct iovec parts[] = {{.iov_base = &header, .iov_len = sizeof(header)},
                            {.iov_base = memory, .iov_len = data_bytes}};
    bool taken = readv(pipe->ends[0], parts, 2) == (ssize_t)(sizeof(header) + data_bytes);
    if (!taken)
        close_pipe(pipe);
    return taken;
}

void pipe_answer_discard(void) {
    close_pipe(this_pipe());
}

/* libosprof_fuse.so: reports the requests that a FUSE daemon gets, and its answers. It is preloaded into the daemon.
 *
 * It knows no FUSE library. All of them read requests from, and write answers to, the character device 10:229, through
 * functions of libc: these are wrapped. Each call checks anew whether its descriptor is the device: a read only if the
 * first bytes may be a request, a write unless it answers the last request of the thread. So it need not follow how
 * descriptors are opened, copied and closed.
 *
 * The process keeps only the mapping of the ring (request_ring.h): no descriptor, no thread, no handler. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "aggstats.h"
#include "environment.h"
#include "memory_look.h"
#include "sandbox.h"
#include "telling.h"
#include "wire.h"
#include "wrapper.h"

#define LOOKED_AT_ANSWER_BYTES (WIRE_ANSWER_BYTES + 8)

/* A request spliced into a pipe, from which this thread reads it next. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t time_cycles;
    size_t size_bytes; /* 0: none */
    int fd;            /* of the device */
} spliced;

/* ---- Requests ---- */

/* Parses the beginning of what was read. whole_bytes: all that was read. */
static void look_at_read(int fd, const void *bytes, size_t size_bytes, size_t whole_bytes) {
    const bool was_spliced = spliced.size_bytes > 0 && wire_may_be_request(bytes, size_bytes, spliced.size_bytes);
    if (!was_spliced && !wire_may_be_request(bytes, size_bytes, whole_bytes))
        return;
    const uint64_t time_cycles = was_spliced ? spliced.time_cycles : telling_now();
    if (!was_spliced && !telling_is_device(fd))
        return;
    if (was_spliced)
        spliced.size_bytes = 0;
    tell_request(was_spliced ? spliced.fd : fd, bytes, size_bytes, time_cycles);
}

/* The device fails with ENODEV when its mount is gone. */
static void look_at_error(int fd) {
    if (errno == ENODEV && telling_is_device(fd))
        tell_end(fd);
}

static inline void look_at_bytes_read(int fd, const void *bytes, ssize_t result) {
    if (!telling_is_on())
        return;
    if (result < 0)
        look_at_error(fd);
    else
        look_at_read(fd, bytes, (size_t)result, (size_t)result);
}

/* ---- Answers ---- */

/* Called before the write: afterwards the caller may be the first to look at what was counted. Memory that is not
 * readable is left to the kernel to refuse. */
static inline void look_at_write(int fd, const void *bytes, size_t size_bytes) {
    const struct answer answer = {bytes, size_bytes, (const char *)bytes + WIRE_ANSWER_BYTES,
                                  size_bytes - WIRE_ANSWER_BYTES, fd};
    const size_t looked_at_bytes = size_bytes < LOOKED_AT_ANSWER_BYTES ? size_bytes : LOOKED_AT_ANSWER_BYTES;
    if (telling_is_on() && size_bytes >= WIRE_ANSWER_BYTES && telling_may_be_device(fd) &&
        memory_is_readable(bytes, looked_at_bytes) && wire_may_be_answer(bytes, size_bytes, size_bytes))
        tell_answer(&answer);
}

/* ---- Vectors ---- */

/* Copies the beginning of a vector's bytes, at most `size_bytes` and `limit_bytes`. Returns how many, up to memory that
 * is not readable. */
static size_t gather(const struct iovec *vector, int count, size_t limit_bytes, char *ret_bytes, size_t size_bytes) {
    size_t filled = 0;
    if (size_bytes > limit_bytes)
        size_bytes = limit_bytes;
    for (int i = 0; i < count && filled < size_bytes; i++) {
        size_t piece = vector[i].iov_len < size_bytes - filled ? vector[i].iov_len : size_bytes - filled;
        if (piece > 0 && !memory_is_readable(vector[i].iov_base, piece))
            break;
        memcpy(ret_bytes + filled, vector[i].iov_base, piece);
        filled += piece;
    }
    return filled;
}

/* The kernel refuses longer vectors, so these are not parsed. */
static bool vector_bytes(const struct iovec *vector, int count, size_t *ret_bytes) {
    *ret_bytes = 0;
    if (count <= 0 || count > IOV_MAX || !memory_is_readable(vector, (size_t)count * sizeof(*vector)))
        return false;
    for (int i = 0; i < count; i++)
        if (__builtin_add_overflow(*ret_bytes, vector[i].iov_len, ret_bytes))
            return false;
    return true;
}

static void look_at_vector_read(int fd, const struct iovec *vector, int count, ssize_t result) {
    char bytes[WIRE_LOOKED_AT_BYTES];
    if (!telling_is_on())
        return;
    if (result < 0)
        look_at_error(fd);
    if (result < (ssize_t)WIRE_REQUEST_BYTES)
        return;
    look_at_read(fd, bytes, gather(vector, count, (size_t)result, bytes, sizeof(bytes)), (size_t)result);
}

static void look_at_vector_write(int fd, const struct iovec *vector, int count) {
    char bytes[LOOKED_AT_ANSWER_BYTES];
    size_t whole_bytes;
    if (!telling_is_on() || !telling_may_be_device(fd) || !vector_bytes(vector, count, &whole_bytes) ||
        whole_bytes < WIRE_ANSWER_BYTES)
        return;
    struct answer answer = {bytes, gather(vector, count, whole_bytes, bytes, sizeof(bytes)), NULL, 0, fd};
    if (count == 2 && vector[0].iov_len == WIRE_ANSWER_BYTES) { /* the form that libfuse uses */
        answer.body = vector[1].iov_base;
        answer.body_bytes = vector[1].iov_len;
    }
    if (wire_may_be_answer(bytes, answer.size_bytes, whole_bytes))
        tell_answer(&answer);
}

/* ---- Pipes ---- */

/* Copies the beginning of a pipe's contents, which stay in it, through a pipe of our own. Returns how many bytes. */
static size_t peek(int fd, void *ret_bytes, size_t size_bytes) {
    int ends[2];
    ssize_t got = 0;
    if (syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return 0;
    if (syscall(SYS_tee, fd, ends[1], size_bytes, SPLICE_F_NONBLOCK) > 0)
        got = syscall(SYS_read, ends[0], ret_bytes, size_bytes);
    syscall(SYS_close, ends[0]);
    syscall(SYS_close, ends[1]);
    return got > 0 ? (size_t)got : 0;
}

static void look_at_spliced_answer(int from, int to_fd, size_t whole_bytes) {
    char bytes[LOOKED_AT_ANSWER_BYTES];
    int saved_errno = errno;
    const struct answer answer = {bytes, peek(from, bytes, whole_bytes < sizeof(bytes) ? whole_bytes : sizeof(bytes)),
                                  NULL, 0, to_fd};
    errno = saved_errno;
    if (answer.size_bytes == 0)
        tell_unseen();
    else if (wire_may_be_answer(bytes, answer.size_bytes, whole_bytes))
        tell_answer(&answer);
}

/* ---- The wrappers ---- */

WRAPPER(ssize_t, read, (int fd, void *to, size_t size_bytes)) {
    ssize_t result = real_read()(fd, to, size_bytes);
    look_at_bytes_read(fd, to, result);
    return result;
}

WRAPPER(ssize_t, __read_chk, (int fd, void *to, size_t size_bytes, size_t room_bytes)) {
    ssize_t result = real___read_chk()(fd, to, size_bytes, room_bytes);
    look_at_bytes_read(fd, to, result);
    return result;
}

WRAPPER(ssize_t, readv, (int fd, const struct iovec *vector, int count)) {
    ssize_t result = real_readv()(fd, vector, count);
    look_at_vector_read(fd, vector, count, result);
    return result;
}

WRAPPER(ssize_t, write, (int fd, const void *from, size_t size_bytes)) {
    look_at_write(fd, from, size_bytes);
    return real_write()(fd, from, size_bytes);
}

WRAPPER(ssize_t, writev, (int fd, const struct iovec *vector, int count)) {
    look_at_vector_write(fd, vector, count);
    return real_writev()(fd, vector, count);
}

WRAPPER(ssize_t, splice, (int fd, off64_t *from, int to_fd, off64_t *to, size_t size_bytes, unsigned flags)) {
    if (telling_is_on() && size_bytes >= WIRE_ANSWER_BYTES && telling_is_device(to_fd))
        look_at_spliced_answer(fd, to_fd, size_bytes);
    ssize_t result = real_splice()(fd, from, to_fd, to, size_bytes, flags);
    if (telling_is_on() && result < 0)
        look_at_error(fd);
    if (telling_is_on() && result >= (ssize_t)WIRE_REQUEST_BYTES && telling_is_device(fd)) {
        if (spliced.size_bytes > 0) /* the last one has not been parsed */
            tell_unseen();
        spliced.time_cycles = telling_now();
        spliced.size_bytes = (size_t)result;
        spliced.fd = fd;
    }
    return result;
}

/* A cloned descriptor serves the same mount. */
static void look_at_clone(int fd, const void *original) {
    uint32_t original_fd;
    if (!telling_is_device(fd))
        return;
    memcpy(&original_fd, original, sizeof(original_fd));
    tell_clone(fd, (int)original_fd);
}

WRAPPER(int, ioctl, (int fd, unsigned long request, ...)) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = real_ioctl()(fd, request, argument);
    if (telling_is_on() && result == 0 && request == FUSE_DEV_IOC_CLONE)
        look_at_clone(fd, argument);
    return result;
}

/* ---- Leaving ---- */

static void leave_alone(enum sandbox_step step) {
    if (step == SANDBOX_ENTERED && telling_is_on())
        telling_stop();
}

WRAP_SANDBOX(leave_alone, sandbox_pass_on)

static void look_at_exec(char *const *variables) {
    if (!telling_is_on())
        return;
    const struct environment found = environment_read(variables, REQUEST_RING_VARIABLE, true);
    if (!found.has_run || !found.preloaded || !strstr(found.preloaded, "/libosprof_fuse."))
        tell_leaving(REQUEST_LEFT_BARE);
}

WRAPPER(int, execve, (const char *path, char *const *arguments, char *const *variables)) {
    look_at_exec(variables);
    return real_execve()(path, arguments, variables);
}

WRAPPER(int, execvpe, (const char *name, char *const *arguments, char *const *variables)) {
    look_at_exec(variables);
    return real_execvpe()(name, arguments, variables);
}

WRAPPER(int, execv, (const char *path, char *const *arguments)) {
    look_at_exec(environ);
    return real_execv()(path, arguments);
}

WRAPPER(int, execvp, (const char *name, char *const *arguments)) {
    look_at_exec(environ);
    return real_execvp()(name, arguments);
}

/* ---- The beginning ---- */

static __attribute__((constructor)) void start(void) {
    wrapper_start();
    telling_start();
}

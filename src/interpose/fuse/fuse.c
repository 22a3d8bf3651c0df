/* libosprof_fuse.so: reports the requests that a FUSE daemon gets, and its answers. It is preloaded into the daemon.
 *
 * It knows no FUSE library. All of them read requests from, and write answers to, the character device 10:229, through
 * functions of libc: these are wrapped. Each call checks anew whether its descriptor is the device: a read only if the
 * first bytes may be a request, a write unless it answers the last request of the thread. So it need not follow how
 * descriptors are opened, copied and closed.
 *
 * The process keeps only the mapping of the ring (request_ring.h): no descriptor, no thread, no handler. What writes
 * records into the ring may be called in handlers of signals, and keeps errno. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "environment.h"
#include "fd_look.h"
#include "memory_look.h"
#include "process.h"
#include "request_ring.h"
#include "sandbox.h"
#include "wiped_page.h"
#include "wire.h"
#include "wrapper.h"

#define LOOKED_AT_ANSWER_BYTES (WIRE_ANSWER_BYTES + 8)
#define DEVICE_MAJOR 10
#define DEVICE_MINOR 229

static struct request_ring *ring; /* NULL: there is no ring. Set before main() */
static bool is_left_alone;        /* atomic: the program has forbidden itself system calls */

static bool telling_is_on(void) {
    return ring && !__atomic_load_n(&is_left_alone, __ATOMIC_RELAXED) && wrapper_has_thread();
}

/* The last request of this thread. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t unique; /* 0: none */
    int fd;
} asked;

/* The last request of this thread to list a directory, whose answer has names. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t unique; /* 0: none */
    uint64_t node;
} listing;

/* This thread's last request for which the ring had no room: its answer is not reported either. */
static AGGSTATS_THREAD_LOCAL uint64_t dropped_unique; /* 0: none */

/* ---- The process ---- */

/* In memory that the kernel zeroes in children, so that they ask for their numbers again. */
struct own_process {
    pid_t number;
    bool has_read; /* has read a request */
};
static struct own_process *own_process;
static AGGSTATS_THREAD_LOCAL struct {
    pid_t process;
    pid_t thread;
} own_thread;

static void name_thread(struct request_record *record) {
    pid_t process = __atomic_load_n(&own_process->number, __ATOMIC_RELAXED);
    if (process == 0) {
        process = (pid_t)syscall(SYS_getpid);
        __atomic_store_n(&own_process->number, process, __ATOMIC_RELAXED);
    }
    if (own_thread.process != process) {
        own_thread.thread = (pid_t)syscall(SYS_gettid);
        own_thread.process = process;
    }
    record->process = (uint32_t)process;
    record->thread = (uint32_t)own_thread.thread;
}

static uint64_t telling_now(void) {
    return aggstats_clock_now(ring->clock_kind);
}

static bool telling_is_device(int fd) {
    struct statx attributes;
    return fd_look(fd, &attributes) && S_ISCHR(attributes.stx_mode) && attributes.stx_rdev_major == DEVICE_MAJOR &&
           attributes.stx_rdev_minor == DEVICE_MINOR;
}

/* ---- Mounts ---- */

#define DESCRIPTORS_KNOWN 1024

/* The mount that a descriptor of the device serves, as in records; 0: unknown. A process that serves several mounts
 * opens them at its start, with low numbers. */
static uint8_t mount_of[DESCRIPTORS_KNOWN];

static uint8_t find_mount(int fd) {
    return fd >= 0 && fd < DESCRIPTORS_KNOWN ? __atomic_load_n(&mount_of[fd], __ATOMIC_RELAXED) : 0;
}

static void set_mount(int fd, uint8_t mount) {
    if (fd >= 0 && fd < DESCRIPTORS_KNOWN)
        __atomic_store_n(&mount_of[fd], mount, __ATOMIC_RELAXED);
}

/* ---- Callers ---- */

#define CALLERS_KNOWN 256U /* the process may have ended, and its number be another's: then the name is that one's */

/* Reads the caller's name while it waits for an answer: later it may have ended. */
static void tell_caller(uint32_t caller) {
    static uint32_t known[CALLERS_KNOWN];
    uint32_t *place = &known[caller % CALLERS_KNOWN];
    struct aggstats_identity identity;
    int saved_errno = errno;
    int cancel_state;
    if (caller == 0 || __atomic_load_n(place, __ATOMIC_RELAXED) == caller)
        return;
    __atomic_store_n(place, caller, __ATOMIC_RELAXED);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* a request that has been read must not be lost */
    if (process_identify_first(NULL, caller, &identity)) {
        struct request_record record = {.kind = REQUEST_CALLER, .node = identity.id, .arrived = {.pid = caller}};
        name_thread(&record);
        request_ring_add(ring, &record, identity.name, strlen(identity.name));
    }
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
}

/* ---- Requests ---- */

static void tell_request(int fd, const void *bytes, size_t size_bytes, uint64_t time_cycles) {
    struct request_record record;
    const char *names;
    size_t names_bytes;
    if (!wire_read_request(bytes, size_bytes, &record, &names, &names_bytes))
        return;
    record.time_cycles = time_cycles;
    if (record.kind == REQUEST_STARTED) {
        const uint32_t mount = __atomic_add_fetch(&ring->mounts, 1, __ATOMIC_RELAXED);
        record.started.fd = fd;
        set_mount(fd, mount < UINT8_MAX ? (uint8_t)mount : UINT8_MAX);
    }
    own_process->has_read = true;
    record.mount = find_mount(fd);
    asked.unique = record.unique;
    asked.fd = fd;
    listing.unique = record.opcode == FUSE_READDIRPLUS ? record.unique : 0;
    listing.node = record.node;
    name_thread(&record);
    if (record.kind == REQUEST_ARRIVED && ring->wants_callers)
        tell_caller(record.arrived.pid);
    dropped_unique = request_ring_add(ring, &record, names, names_bytes) ? 0 : record.unique;
}

static void tell_end(int fd) {
    struct request_record record = {.kind = REQUEST_ENDED, .time_cycles = telling_now(), .mount = find_mount(fd)};
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

/* ---- Answers ---- */

/* The parts of an answer. */
struct answer {
    const void *bytes; /* the header and the beginning of the body */
    size_t size_bytes;
    const char *body; /* NULL: it is not contiguous, or not readable */
    size_t body_bytes;
    int fd; /* of the device */
};

static bool telling_may_be_device(int fd) {
    return fd == asked.fd || telling_is_device(fd);
}

/* True if the write answers a request, given telling_may_be_device(fd). */
static inline bool is_answered_at(int fd, uint64_t unique) {
    return fd != asked.fd || unique == asked.unique || telling_is_device(fd);
}

static void tell_names(const struct answer *answer) {
    const char *at = answer->body;
    const char *name;
    size_t name_bytes;
    struct request_record record = {.kind = REQUEST_NAMED, .arrived = {.offset = listing.node}};
    name_thread(&record);
    if (!memory_is_readable(at, answer->body_bytes))
        return;
    while (wire_next_entry(&at, answer->body + answer->body_bytes, &record.node, &name, &name_bytes))
        request_ring_add(ring, &record, name, name_bytes);
}

static void tell_answer(const struct answer *answer) {
    struct request_record record;
    if (!wire_read_answer(answer->bytes, answer->size_bytes, &record) || record.unique == dropped_unique ||
        !is_answered_at(answer->fd, record.unique))
        return;
    record.time_cycles = telling_now();
    record.mount = find_mount(answer->fd);
    name_thread(&record);
    if (record.unique == listing.unique && record.answered.error == 0)
        tell_names(answer);
    request_ring_add(ring, &record, NULL, 0);
}

/* ---- Leaving ---- */

/* Only for a process that has served a mount itself, and is no child of vfork(2), which has its parent's memory. */
static void tell_leaving(enum request_leaving how) {
    struct request_record record = {.kind = REQUEST_LEFT, .time_cycles = telling_now(), .node = how};
    if (!own_process->has_read || (pid_t)syscall(SYS_getpid) != own_process->number)
        return;
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

/* A request spliced into a pipe, from which this thread reads it next. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t time_cycles;
    size_t size_bytes; /* 0: none */
    int fd;            /* of the device */
} spliced;

/* ---- Reads from the device ---- */

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

/* ---- Writes to the device ---- */

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
        __atomic_fetch_add(&ring->unseen, 1, __ATOMIC_RELAXED);
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
            __atomic_fetch_add(&ring->unseen, 1, __ATOMIC_RELAXED);
        spliced.time_cycles = telling_now();
        spliced.size_bytes = (size_t)result;
        spliced.fd = fd;
    }
    return result;
}

WRAPPER(int, ioctl, (int fd, unsigned long request, ...)) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = real_ioctl()(fd, request, argument);
    if (telling_is_on() && result == 0 && request == FUSE_DEV_IOC_CLONE && telling_is_device(fd)) {
        uint32_t original_fd; /* the clone serves the same mount */
        memcpy(&original_fd, argument, sizeof(original_fd));
        set_mount(fd, find_mount((int)original_fd));
    }
    return result;
}

/* ---- Leaving: the wrappers ---- */

static void leave_alone(enum sandbox_step step) {
    if (step != SANDBOX_ENTERED || !telling_is_on())
        return;
    tell_leaving(REQUEST_LEFT_SANDBOXED);
    __atomic_store_n(&is_left_alone, true, __ATOMIC_RELAXED);
    environment_leave(REQUEST_RING_VARIABLE);
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
    static struct own_process not_wiped;
    wrapper_start();
    memory_look_start();
    ring = request_ring_join();
    own_process = ring ? (struct own_process *)(void *)wiped_page_make() : NULL;
    if (!own_process)
        own_process = &not_wiped;
}

/* libosprof_fuse.so: tells what requests the FUSE daemon that it is preloaded into is asked, and what it answers.
 *
 * It knows no FUSE library. All of them read requests from, and write answers to, the character device 10:229, through
 * functions of libc: these are wrapped. Whether a descriptor is the device is asked each time, of reads only if the
 * first bytes may be a request, of writes unless they answer what the thread has read there last: so nothing need be
 * known of when descriptors are opened, copied and closed.
 *
 * What is kept in the process is the mapping of the ring (request_ring.h): no descriptor, no thread, no handler. */
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
#include "environment.h"
#include "fd_look.h"
#include "memory_look.h"
#include "process.h"
#include "sandbox.h"
#include "wiped_page.h"
#include "wire.h"
#include "wrapper.h"

#define DEVICE_MAJOR 10
#define DEVICE_MINOR 229
#define LOOKED_AT_ANSWER_BYTES (WIRE_ANSWER_BYTES + 8)

static struct request_ring *ring; /* NULL: nobody wants to know. Set before main() */
static bool is_left_alone;        /* atomic: the program has forbidden itself system calls */

static inline bool looks(void) {
    return ring && !__atomic_load_n(&is_left_alone, __ATOMIC_RELAXED);
}

/* A request that has been spliced into a pipe, from which its thread reads it next. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t time_cycles;
    size_t size_bytes; /* 0: none */
    int fd;            /* of the device */
} spliced;

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

/* The last request of this thread for which there was no room: its answer is not told either. */
static AGGSTATS_THREAD_LOCAL uint64_t dropped_unique; /* 0: none */

/* ---- The process ---- */

/* In memory that the kernel zeroes in children, who are to ask for their numbers again. */
static struct own_process {
    pid_t number;
    bool has_read; /* a request */
} * own_process;
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

static inline uint64_t now(void) {
    return aggstats_clock_now(ring->clock_kind);
}

static bool is_device(int fd) {
    struct statx attributes;
    return fd_look(fd, &attributes) && S_ISCHR(attributes.stx_mode) && attributes.stx_rdev_major == DEVICE_MAJOR &&
           attributes.stx_rdev_minor == DEVICE_MINOR;
}

/* In the page of the frame of whoever asks, where answers that are made on the stack mostly are. */
static inline bool is_beside(uintptr_t frame, uintptr_t at, uintptr_t last) {
    return at >= frame && at <= last && last / MEMORY_LEAST_PAGE_BYTES == frame / MEMORY_LEAST_PAGE_BYTES;
}

/* Whether memory that the program has named is there. Keeps errno */
static bool is_readable(const void *memory, size_t size_bytes) {
    int saved_errno = errno;
    uintptr_t at = (uintptr_t)memory / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    const uintptr_t last = ((uintptr_t)memory + size_bytes - 1) / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    bool is_there = size_bytes > 0 && at <= last;
    if (is_there && is_beside((uintptr_t)__builtin_frame_address(0), at, last))
        return true;
    for (; is_there && at / MEMORY_LEAST_PAGE_BYTES != last / MEMORY_LEAST_PAGE_BYTES;
         at = (at / MEMORY_LEAST_PAGE_BYTES + 1) * MEMORY_LEAST_PAGE_BYTES)
        is_there = memory_has_word(at);
    is_there = is_there && memory_has_word(last);
    errno = saved_errno;
    return is_there;
}

/* ---- Mounts ---- */

#define DESCRIPTORS_KNOWN 1024

/* Which mount a descriptor of the device serves, as records have it; 0: not known. A process of several mounts is one
 * that does so from the beginning, and has low numbers. */
static uint8_t mount_of[DESCRIPTORS_KNOWN];

static uint8_t find_mount(int fd) {
    return fd >= 0 && fd < DESCRIPTORS_KNOWN ? __atomic_load_n(&mount_of[fd], __ATOMIC_RELAXED) : 0;
}

static void set_mount(int fd, uint8_t mount) {
    if (fd >= 0 && fd < DESCRIPTORS_KNOWN)
        __atomic_store_n(&mount_of[fd], mount, __ATOMIC_RELAXED);
}

static void begin_mount(int fd) {
    const uint32_t mount = __atomic_add_fetch(&ring->mounts, 1, __ATOMIC_RELAXED);
    set_mount(fd, mount < UINT8_MAX ? (uint8_t)mount : UINT8_MAX);
}

/* ---- Callers ---- */

#define CALLERS_KNOWN                                                                                                  \
    256U /* of a process that has ended meanwhile the number may be another's: then that has its name */

/* Asked for while the caller waits for an answer: later it may be gone. */
static void tell_caller(uint32_t caller) {
    static uint32_t known[CALLERS_KNOWN];
    uint32_t *place = &known[caller % CALLERS_KNOWN];
    struct aggstats_identity identity;
    int saved_errno = errno;
    int cancel_state;
    if (caller == 0 || __atomic_load_n(place, __ATOMIC_RELAXED) == caller)
        return;
    __atomic_store_n(place, caller, __ATOMIC_RELAXED);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* a request that has been read is not to be lost */
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
        record.started.fd = fd;
        begin_mount(fd);
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

/* Of which the beginning has been read; whole_bytes: of what was read. */
static void look_at_read(int fd, const void *bytes, size_t size_bytes, size_t whole_bytes) {
    const bool was_spliced = spliced.size_bytes > 0 && wire_may_be_request(bytes, size_bytes, spliced.size_bytes);
    if (!was_spliced && !wire_may_be_request(bytes, size_bytes, whole_bytes))
        return;
    const uint64_t time_cycles = was_spliced ? spliced.time_cycles : now();
    if (!was_spliced && !is_device(fd))
        return;
    if (was_spliced)
        spliced.size_bytes = 0;
    tell_request(was_spliced ? spliced.fd : fd, bytes, size_bytes, time_cycles);
}

/* The device says ENODEV when its mount is gone. */
static void look_at_error(int fd) {
    if (errno != ENODEV || !is_device(fd))
        return;
    struct request_record record = {.kind = REQUEST_ENDED, .time_cycles = now(), .mount = find_mount(fd)};
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

static inline void look_at_bytes_read(int fd, const void *bytes, ssize_t result) {
    if (!looks())
        return;
    if (result < 0)
        look_at_error(fd);
    else
        look_at_read(fd, bytes, (size_t)result, (size_t)result);
}

/* ---- Answers ---- */

/* What an answer consists of. */
struct message {
    const void *bytes; /* the beginning: header and first of the body */
    size_t size_bytes;
    const char *body; /* NULL: it is not in one piece, or cannot be read */
    size_t body_bytes;
    int fd; /* of the device */
};

static inline bool may_be_device(int fd) {
    return fd == asked.fd || is_device(fd);
}

/* Of which it is known that it may be. */
static inline bool is_answered_at(int fd, uint64_t unique) {
    return fd != asked.fd || unique == asked.unique || is_device(fd);
}

static void tell_names(const struct message *answer) {
    const char *at = answer->body;
    const char *name;
    size_t name_bytes;
    struct request_record record = {.kind = REQUEST_NAMED, .arrived = {.offset = listing.node}};
    name_thread(&record);
    if (!is_readable(at, answer->body_bytes))
        return;
    while (wire_next_entry(&at, answer->body + answer->body_bytes, &record.node, &name, &name_bytes))
        request_ring_add(ring, &record, name, name_bytes);
}

static void tell_answer(const struct message *answer) {
    struct request_record record;
    if (!wire_read_answer(answer->bytes, answer->size_bytes, &record) || record.unique == dropped_unique ||
        !is_answered_at(answer->fd, record.unique))
        return;
    record.time_cycles = now();
    record.mount = find_mount(answer->fd);
    name_thread(&record);
    if (record.unique == listing.unique && record.answered.error == 0)
        tell_names(answer);
    request_ring_add(ring, &record, NULL, 0);
}

/* Before it is written: once it is, the caller may be the first to look at what was counted. Memory that is not there
 * is for the kernel to refuse. */
static inline void look_at_write(int fd, const void *bytes, size_t size_bytes) {
    const struct message answer = {bytes, size_bytes, (const char *)bytes + WIRE_ANSWER_BYTES,
                                   size_bytes - WIRE_ANSWER_BYTES, fd};
    const size_t looked_at_bytes = size_bytes < LOOKED_AT_ANSWER_BYTES ? size_bytes : LOOKED_AT_ANSWER_BYTES;
    if (looks() && size_bytes >= WIRE_ANSWER_BYTES && may_be_device(fd) && is_readable(bytes, looked_at_bytes) &&
        wire_may_be_answer(bytes, size_bytes, size_bytes))
        tell_answer(&answer);
}

/* ---- Vectors ---- */

/* The beginning of a vector's bytes, at most `size_bytes` and `limit_bytes`. Returns how many, up to what cannot be
 * read. */
static size_t gather(const struct iovec *vector, int count, size_t limit_bytes, char *ret_bytes, size_t size_bytes) {
    size_t filled = 0;
    if (size_bytes > limit_bytes)
        size_bytes = limit_bytes;
    for (int i = 0; i < count && filled < size_bytes; i++) {
        size_t piece = vector[i].iov_len < size_bytes - filled ? vector[i].iov_len : size_bytes - filled;
        if (piece > 0 && !is_readable(vector[i].iov_base, piece))
            break;
        memcpy(ret_bytes + filled, vector[i].iov_base, piece);
        filled += piece;
    }
    return filled;
}

/* The kernel refuses vectors that are longer, and those that it refuses are not looked at. */
static bool vector_bytes(const struct iovec *vector, int count, size_t *ret_bytes) {
    *ret_bytes = 0;
    if (count <= 0 || count > IOV_MAX || !is_readable(vector, (size_t)count * sizeof(*vector)))
        return false;
    for (int i = 0; i < count; i++)
        if (__builtin_add_overflow(*ret_bytes, vector[i].iov_len, ret_bytes))
            return false;
    return true;
}

static void look_at_vector_read(int fd, const struct iovec *vector, int count, ssize_t result) {
    char bytes[WIRE_LOOKED_AT_BYTES];
    if (!looks())
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
    if (!looks() || !may_be_device(fd) || !vector_bytes(vector, count, &whole_bytes) || whole_bytes < WIRE_ANSWER_BYTES)
        return;
    struct message answer = {bytes, gather(vector, count, whole_bytes, bytes, sizeof(bytes)), NULL, 0, fd};
    if (count == 2 && vector[0].iov_len == WIRE_ANSWER_BYTES) { /* as libfuse has it */
        answer.body = vector[1].iov_base;
        answer.body_bytes = vector[1].iov_len;
    }
    if (wire_may_be_answer(bytes, answer.size_bytes, whole_bytes))
        tell_answer(&answer);
}

/* ---- Pipes ---- */

/* What a pipe begins with, which stays in it: through a pipe of our own. Returns how many bytes. */
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
    const struct message answer = {bytes, peek(from, bytes, whole_bytes < sizeof(bytes) ? whole_bytes : sizeof(bytes)),
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
    if (looks() && size_bytes >= WIRE_ANSWER_BYTES && is_device(to_fd))
        look_at_spliced_answer(fd, to_fd, size_bytes);
    ssize_t result = real_splice()(fd, from, to_fd, to, size_bytes, flags);
    if (looks() && result < 0)
        look_at_error(fd);
    if (looks() && result >= (ssize_t)WIRE_REQUEST_BYTES && is_device(fd)) {
        if (spliced.size_bytes > 0) /* nobody has looked at the last one */
            __atomic_fetch_add(&ring->unseen, 1, __ATOMIC_RELAXED);
        spliced.time_cycles = now();
        spliced.size_bytes = (size_t)result;
        spliced.fd = fd;
    }
    return result;
}

/* A descriptor that is cloned serves the same mount. */
static void look_at_clone(int fd, const void *original) {
    uint32_t original_fd;
    if (!is_device(fd))
        return;
    memcpy(&original_fd, original, sizeof(original_fd));
    set_mount(fd, find_mount((int)original_fd));
}

WRAPPER(int, ioctl, (int fd, unsigned long request, ...)) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = real_ioctl()(fd, request, argument);
    if (looks() && result == 0 && request == FUSE_DEV_IOC_CLONE)
        look_at_clone(fd, argument);
    return result;
}

/* ---- Leaving ---- */

/* Of a process that has served a mount itself, and is no child of vfork(2), which has its memory. */
static void tell_leaving(enum request_leaving how) {
    struct request_record record = {.kind = REQUEST_LEFT, .time_cycles = now(), .node = how};
    if (!own_process->has_read || (pid_t)syscall(SYS_getpid) != own_process->number)
        return;
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

static void leave_alone(void) {
    if (!looks())
        return;
    tell_leaving(REQUEST_LEFT_SANDBOXED);
    __atomic_store_n(&is_left_alone, true, __ATOMIC_RELAXED);
    environment_leave(REQUEST_RING_VARIABLE);
}

WRAP_SANDBOX(leave_alone)

static void look_at_exec(char *const *variables) {
    if (looks() && !environment_is_kept(variables, REQUEST_RING_VARIABLE, "libosprof_fuse.so"))
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

/* Functions are found now: finding one takes a lock of the loader's, which in a child that libc knows nothing of
 * (clone(2) by hand) a thread that it does not have may hold for ever. */
static __attribute__((constructor)) void start(void) {
    static struct own_process not_wiped;
    real_read();
    real_write();
    real_readv();
    real_writev();
    real_ioctl();
    real_execve();
    real_execv();
    real_execvp();
    real_execvpe();
    ring = request_ring_join();
    own_process = ring ? (struct own_process *)(void *)wiped_page_make() : NULL;
    if (!own_process)
        own_process = &not_wiped;
}

/* libosprof_fuse.so: tells what requests the FUSE daemon that it is preloaded into is asked, and what it answers.
 *
 * It knows no FUSE library. All of them read requests from, and write answers to, the character device 10:229, through
 * functions of libc: these are wrapped. Whether a descriptor is the device is asked each time, of reads only if the
 * first bytes may be a request: so nothing need be known of when descriptors are opened, copied and closed.
 *
 * What is kept in the process is the mapping of the ring (request_ring.h): no descriptor, no thread, no handler. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "aggstats.h"
#include "fd_look.h"
#include "process.h"
#include "wire.h"
#include "wrapper.h"

#define DEVICE_MAJOR 10
#define DEVICE_MINOR 229
#define LOOKED_AT_ANSWER_BYTES (WIRE_ANSWER_BYTES + 8)

static struct request_ring *ring; /* NULL: nobody wants to know. Set before main() */

/* A request that has been spliced into a pipe, from which its thread reads it next. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t time_cycles;
    size_t size_bytes; /* 0: none */
} spliced;

/* The last request of this thread to list a directory, whose answer has names. */
static AGGSTATS_THREAD_LOCAL struct {
    uint64_t unique; /* 0: none */
    uint64_t node;
} listing;

/* ---- The process ---- */

/* In memory that the kernel zeroes in children, who are to ask for their numbers again. */
static pid_t *own_process;
static AGGSTATS_THREAD_LOCAL struct {
    pid_t process;
    pid_t thread;
} own_thread;

#define PAGE_BYTES 65536 /* no page is larger */

static pid_t *map_page(void) {
    static pid_t never_known;
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return &never_known;
    madvise(page, PAGE_BYTES, MADV_WIPEONFORK);
    return page;
}

static void name_thread(struct request_record *record) {
    pid_t process = __atomic_load_n(own_process, __ATOMIC_RELAXED);
    if (process == 0) {
        process = (pid_t)syscall(SYS_getpid);
        __atomic_store_n(own_process, process, __ATOMIC_RELAXED);
    }
    if (own_thread.process != process) {
        own_thread.thread = (pid_t)syscall(SYS_gettid);
        own_thread.process = process;
    }
    record->process = (uint32_t)process;
    record->thread = (uint32_t)own_thread.thread;
}

static __attribute__((constructor)) void start(void) {
    own_process = map_page();
    ring = request_ring_join();
}

static inline uint64_t now(void) {
    return aggstats_clock_now(ring->clock_kind);
}

static bool is_device(int fd) {
    struct statx attributes;
    return fd_look(fd, &attributes) && S_ISCHR(attributes.stx_mode) && attributes.stx_rdev_major == DEVICE_MAJOR &&
           attributes.stx_rdev_minor == DEVICE_MINOR;
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
    if (caller == 0 || __atomic_load_n(place, __ATOMIC_RELAXED) == caller)
        return;
    __atomic_store_n(place, caller, __ATOMIC_RELAXED);
    if (process_identify_first(NULL, caller, &identity)) {
        struct request_record record = {.kind = REQUEST_CALLER, .node = identity.id, .arrived = {.pid = caller}};
        name_thread(&record);
        request_ring_add(ring, &record, identity.name, strlen(identity.name));
    }
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
    if (record.kind == REQUEST_STARTED)
        record.started.fd = fd;
    listing.unique = record.opcode == FUSE_READDIRPLUS ? record.unique : 0;
    listing.node = record.node;
    name_thread(&record);
    if (record.kind == REQUEST_ARRIVED && ring->wants_callers)
        tell_caller(record.arrived.pid);
    request_ring_add(ring, &record, names, names_bytes);
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
    tell_request(fd, bytes, size_bytes, time_cycles);
}

/* The device says ENODEV when its mount is gone. */
static void look_at_error(int fd) {
    if (errno != ENODEV || !is_device(fd))
        return;
    struct request_record record = {.kind = REQUEST_ENDED, .time_cycles = now()};
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

static inline void look_at_bytes_read(int fd, const void *bytes, ssize_t result) {
    if (!ring)
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
};

static void tell_names(const struct message *answer) {
    const char *at = answer->body;
    const char *name;
    size_t name_bytes;
    struct request_record record = {.kind = REQUEST_NAMED, .arrived = {.offset = listing.node}};
    name_thread(&record);
    while (at && wire_next_entry(&at, answer->body + answer->body_bytes, &record.node, &name, &name_bytes))
        request_ring_add(ring, &record, name, name_bytes);
}

static void tell_answer(const struct message *answer) {
    struct request_record record;
    if (!wire_read_answer(answer->bytes, answer->size_bytes, &record))
        return;
    record.time_cycles = now();
    name_thread(&record);
    if (record.unique == listing.unique && record.answered.error == 0)
        tell_names(answer);
    request_ring_add(ring, &record, NULL, 0);
}

/* Before it is written: once it is, the caller may be the first to look at what was counted. Of what goes elsewhere the
 * memory is left alone: it may not be there, which is for the kernel to say. */
static inline void look_at_write(int fd, const void *bytes, size_t size_bytes) {
    const struct message answer = {bytes, size_bytes, (const char *)bytes + WIRE_ANSWER_BYTES,
                                   size_bytes - WIRE_ANSWER_BYTES};
    if (ring && size_bytes >= WIRE_ANSWER_BYTES && is_device(fd) && wire_may_be_answer(bytes, size_bytes, size_bytes))
        tell_answer(&answer);
}

/* ---- Vectors ---- */

/* The beginning of a vector's bytes, at most `size_bytes` and `limit_bytes`. Returns how many. */
static size_t gather(const struct iovec *vector, int count, size_t limit_bytes, char *ret_bytes, size_t size_bytes) {
    size_t filled = 0;
    if (size_bytes > limit_bytes)
        size_bytes = limit_bytes;
    for (int i = 0; i < count && filled < size_bytes; i++) {
        size_t piece = vector[i].iov_len < size_bytes - filled ? vector[i].iov_len : size_bytes - filled;
        memcpy(ret_bytes + filled, vector[i].iov_base, piece);
        filled += piece;
    }
    return filled;
}

/* The kernel refuses vectors that are longer, and those that it refuses are not looked at. */
static bool vector_bytes(const struct iovec *vector, int count, size_t *ret_bytes) {
    *ret_bytes = 0;
    if (!vector || count <= 0 || count > IOV_MAX)
        return false;
    for (int i = 0; i < count; i++)
        if (__builtin_add_overflow(*ret_bytes, vector[i].iov_len, ret_bytes))
            return false;
    return true;
}

static void look_at_vector_read(int fd, const struct iovec *vector, int count, ssize_t result) {
    char bytes[WIRE_LOOKED_AT_BYTES];
    if (!ring)
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
    if (!ring || !is_device(fd) || !vector_bytes(vector, count, &whole_bytes) || whole_bytes < WIRE_ANSWER_BYTES)
        return;
    struct message answer = {bytes, gather(vector, count, whole_bytes, bytes, sizeof(bytes)), NULL, 0};
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

static void look_at_spliced_answer(int from, size_t whole_bytes) {
    char bytes[LOOKED_AT_ANSWER_BYTES];
    int saved_errno = errno;
    const struct message answer = {bytes, peek(from, bytes, whole_bytes < sizeof(bytes) ? whole_bytes : sizeof(bytes)),
                                   NULL, 0};
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
    if (ring && size_bytes >= WIRE_ANSWER_BYTES && is_device(to_fd))
        look_at_spliced_answer(fd, size_bytes);
    ssize_t result = real_splice()(fd, from, to_fd, to, size_bytes, flags);
    if (ring && result < 0)
        look_at_error(fd);
    if (ring && result >= (ssize_t)WIRE_REQUEST_BYTES && is_device(fd)) {
        if (spliced.size_bytes > 0) /* nobody has looked at the last one */
            __atomic_fetch_add(&ring->unseen, 1, __ATOMIC_RELAXED);
        spliced.time_cycles = now();
        spliced.size_bytes = (size_t)result;
    }
    return result;
}

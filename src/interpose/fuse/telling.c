/* Writing records into the ring, and the state that a process keeps for that. */
#include "telling.h"

#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "environment.h"
#include "fd_look.h"
#include "memory_look.h"
#include "process.h"
#include "wiped_page.h"
#include "wire.h"
#include "wrapper.h"

#define DEVICE_MAJOR 10
#define DEVICE_MINOR 229

static struct request_ring *ring; /* NULL: there is no ring. Set before main() */
static bool is_left_alone;        /* atomic: the program has forbidden itself system calls */

bool telling_is_on(void) {
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

uint64_t telling_now(void) {
    return aggstats_clock_now(ring->clock_kind);
}

bool telling_is_device(int fd) {
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

static void begin_mount(int fd) {
    const uint32_t mount = __atomic_add_fetch(&ring->mounts, 1, __ATOMIC_RELAXED);
    set_mount(fd, mount < UINT8_MAX ? (uint8_t)mount : UINT8_MAX);
}

void tell_clone(int fd, int original_fd) {
    set_mount(fd, find_mount(original_fd));
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

void tell_request(int fd, const void *bytes, size_t size_bytes, uint64_t time_cycles) {
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

void tell_end(int fd) {
    struct request_record record = {.kind = REQUEST_ENDED, .time_cycles = telling_now(), .mount = find_mount(fd)};
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

void tell_unseen(void) {
    __atomic_fetch_add(&ring->unseen, 1, __ATOMIC_RELAXED);
}

/* ---- Answers ---- */

bool telling_may_be_device(int fd) {
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

void tell_answer(const struct answer *answer) {
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
void tell_leaving(enum request_leaving how) {
    struct request_record record = {.kind = REQUEST_LEFT, .time_cycles = telling_now(), .node = how};
    if (!own_process->has_read || (pid_t)syscall(SYS_getpid) != own_process->number)
        return;
    name_thread(&record);
    request_ring_add(ring, &record, NULL, 0);
}

void telling_stop(void) {
    tell_leaving(REQUEST_LEFT_SANDBOXED);
    __atomic_store_n(&is_left_alone, true, __ATOMIC_RELAXED);
    environment_leave(REQUEST_RING_VARIABLE);
}

/* ---- The beginning ---- */

void telling_start(void) {
    static struct own_process not_wiped;
    memory_look_start();
    ring = request_ring_join();
    own_process = ring ? (struct own_process *)(void *)wiped_page_make() : NULL;
    if (!own_process)
        own_process = &not_wiped;
}

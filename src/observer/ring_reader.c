/* The reader's end of the ring in request_ring.h. What a killed writer has left incomplete is skipped after a while. */
#include "ring_reader.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"

#define LOST_AFTER_NS (5 * NS_PER_S)
#define NAME_SLOTS_MAX ((REQUEST_NAMES_MAX + REQUEST_NAME_BYTES - 1) / REQUEST_NAME_BYTES)

/* ---- Life cycle --------------------------------------------------------------------------------- */

int ring_reader_create(const char *path, uint32_t clock_kind, bool wants_callers, struct ring_reader *ret_reader) {
    const size_t size_bytes = request_ring_bytes(REQUEST_RING_SLOTS);
    CLEANUP_FREE char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    CLEANUP_FD int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return negative_errno();
    int error = allocate_blocks(fd, 0, size_bytes); /* else the daemon could get SIGBUS later */
    struct request_ring *ring = error ? MAP_FAILED : mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        error = error ? error : negative_errno();
        unlink(path);
        return error;
    }
    ring->version = REQUEST_RING_VERSION;
    ring->clock_kind = clock_kind;
    ring->wants_callers = wants_callers;
    ring->slot_count = REQUEST_RING_SLOTS;
    memcpy(ring->magic, REQUEST_RING_MAGIC, sizeof(ring->magic));
    *ret_reader = (struct ring_reader){.ring = ring, .path = steal_pointer(&copy)};
    return 0;
}

int ring_reader_open(const char *path, struct ring_reader *ret_reader) {
    const size_t size_bytes = request_ring_bytes(REQUEST_RING_SLOTS);
    struct stat attr = {0};
    CLEANUP_FREE char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    CLEANUP_FD int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &attr) < 0)
        return negative_errno();
    if (attr.st_uid != geteuid() || (uint64_t)attr.st_size != size_bytes)
        return -EBADMSG;
    struct request_ring *ring = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED)
        return negative_errno();
    if (memcmp(ring->magic, REQUEST_RING_MAGIC, sizeof(ring->magic)) != 0 || ring->version != REQUEST_RING_VERSION ||
        ring->slot_count != REQUEST_RING_SLOTS) {
        munmap(ring, size_bytes);
        return -EBADMSG;
    }
    *ret_reader = (struct ring_reader){.ring = ring, .path = steal_pointer(&copy)};
    const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    ret_reader->next = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED); /* where the other reader was */
    if (head - ret_reader->next > REQUEST_RING_SLOTS) {
        ret_reader->next = head; /* another process has overwritten it */
        ret_reader->lost = 1;
    }
    return 0;
}

void ring_reader_finish(struct ring_reader *reader) {
    if (reader->ring)
        munmap(reader->ring, request_ring_bytes(REQUEST_RING_SLOTS));
    if (reader->path)
        unlink(reader->path);
    free(reader->path);
    *reader = (struct ring_reader){.ring = NULL};
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static union request_slot *slot_of(const struct ring_reader *reader, uint64_t number) {
    return &reader->ring->slots[number % REQUEST_RING_SLOTS];
}

static bool is_whole(const struct ring_reader *reader, uint64_t number) {
    return __atomic_load_n(&slot_of(reader, number)->record.ready, __ATOMIC_SEQ_CST) == number + 1;
}

static void go_on_at(struct ring_reader *reader, uint64_t number) {
    reader->next = number;
    __atomic_store_n(&reader->ring->tail, number, __ATOMIC_RELEASE);
}

/* A writer that has claimed a slot and does not fill it has been killed. */
static void skip_lost(struct ring_reader *reader) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (__atomic_load_n(&reader->ring->head, __ATOMIC_RELAXED) == reader->next) {
        reader->waiting_since_ns = 0;
    } else if (reader->waiting_since_ns == 0) {
        reader->waiting_since_ns = now_ns;
    } else if (now_ns - reader->waiting_since_ns > LOST_AFTER_NS) {
        uint64_t skipped = 1;
        while (skipped < REQUEST_RING_SLOTS && !is_whole(reader, reader->next + skipped))
            skipped++;
        if (skipped < REQUEST_RING_SLOTS) { /* else nothing follows yet, but may later */
            go_on_at(reader, reader->next + skipped);
            reader->lost++;
        }
        reader->waiting_since_ns = 0;
    }
}

bool ring_reader_next(struct ring_reader *reader, struct request *ret_request) {
    /* Only the reader writes its position: if it has changed, another process has overwritten the ring. */
    if (__atomic_load_n(&reader->ring->tail, __ATOMIC_RELAXED) != reader->next) {
        go_on_at(reader, reader->next);
        reader->lost++;
    }
    if (!is_whole(reader, reader->next)) {
        skip_lost(reader);
        return false;
    }
    ret_request->record = slot_of(reader, reader->next)->record;
    size_t name_slots = ret_request->record.name_slots;
    if (name_slots > NAME_SLOTS_MAX)
        name_slots = 0;
    char *to = ret_request->names;
    for (size_t i = 0; i < name_slots; i++, to += REQUEST_NAME_BYTES)
        memcpy(to, slot_of(reader, reader->next + 1 + i)->names.bytes, REQUEST_NAME_BYTES);
    *to = '\0';
    ret_request->names_bytes = name_slots * REQUEST_NAME_BYTES;
    reader->waiting_since_ns = 0;
    go_on_at(reader, reader->next + 1 + name_slots);
    return true;
}

void ring_reader_wait(struct ring_reader *reader, bool is_idle, int64_t timeout_ns) {
    const uint32_t state = is_idle ? REQUEST_READER_SLEEPS : REQUEST_READER_RESTS;
    const struct timespec timeout = timespec_of(timeout_ns);
    uint32_t *futex = &reader->ring->reader;
    __atomic_store_n(futex, state, __ATOMIC_SEQ_CST);
    if (!__atomic_exchange_n(&reader->interrupted, 0, __ATOMIC_SEQ_CST) &&
        (!is_idle || !is_whole(reader, reader->next)))
        syscall(SYS_futex, futex, FUTEX_WAIT, state, &timeout, NULL, 0);
    __atomic_store_n(futex, REQUEST_READER_LOOKS, __ATOMIC_SEQ_CST);
}

/* A wait that has not begun yet finds the futex changed, or the flag. */
void ring_reader_interrupt(struct ring_reader *reader) {
    __atomic_store_n(&reader->interrupted, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&reader->ring->reader, REQUEST_READER_LOOKS, __ATOMIC_SEQ_CST);
}

void ring_reader_end(struct ring_reader *reader) {
    if (__atomic_load_n(&reader->ring->head, __ATOMIC_SEQ_CST) != reader->next && !is_whole(reader, reader->next))
        reader->lost++;
}

uint64_t ring_reader_lost(const struct ring_reader *reader) {
    return reader->lost + __atomic_load_n(&reader->ring->dropped, __ATOMIC_RELAXED) +
           __atomic_load_n(&reader->ring->unseen, __ATOMIC_RELAXED);
}

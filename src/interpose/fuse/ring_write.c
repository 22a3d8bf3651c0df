/* A writer claims slots by moving the head, and publishes a record by setting `ready`. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "request_ring.h"

static_assert(sizeof(union request_slot) == 64, "a slot is a cache line");

static struct request_ring *map_file(const char *path) {
    struct stat attr;
    const size_t size_bytes = request_ring_bytes(REQUEST_RING_SLOTS);
    CLEANUP_FD int fd = open_to_map(path);
    if (fd < 0 || fstat(fd, &attr) < 0 || (uint64_t)attr.st_size != size_bytes)
        return NULL;
    struct request_ring *ring = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED)
        return NULL;
    if (memcmp(ring->magic, REQUEST_RING_MAGIC, sizeof(ring->magic)) == 0 && ring->version == REQUEST_RING_VERSION &&
        ring->slot_count == REQUEST_RING_SLOTS)
        return ring;
    munmap(ring, size_bytes);
    return NULL;
}

struct request_ring *request_ring_join(void) {
    int saved_errno = errno;
    const char *path = getenv(REQUEST_RING_VARIABLE);
    struct request_ring *ring = path && path[0] == '/' ? map_file(path) : NULL;
    errno = saved_errno;
    return ring;
}

/* Returns false if there is no room. */
static bool claim(struct request_ring *ring, uint64_t count, uint64_t room, uint64_t *ret_number) {
    uint64_t number = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    do
        if (number + count - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) > room)
            return false;
    while (
        !__atomic_compare_exchange_n(&ring->head, &number, number + count, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    *ret_number = number;
    return true;
}

static union request_slot *slot_of(struct request_ring *ring, uint64_t number) {
    return &ring->slots[number % REQUEST_RING_SLOTS];
}

static void write_names(struct request_ring *ring, uint64_t number, const char *names, size_t names_bytes) {
    for (; names_bytes > 0; number++) {
        struct request_names *slot = &slot_of(ring, number)->names;
        const size_t size_bytes = names_bytes < sizeof(slot->bytes) ? names_bytes : sizeof(slot->bytes);
        __atomic_store_n(&slot->ready, 0, __ATOMIC_RELAXED);
        memcpy(slot->bytes, names, size_bytes);
        memset(slot->bytes + size_bytes, 0, sizeof(slot->bytes) - size_bytes);
        names += size_bytes;
        names_bytes -= size_bytes;
    }
}

/* The reader announces that it sleeps, and then checks the ring: so either it sees the record, or we see it asleep. */
static void wake_reader(struct request_ring *ring, uint64_t next_number) {
    uint32_t reader = __atomic_load_n(&ring->reader, __ATOMIC_SEQ_CST);
    if (__builtin_expect(reader == REQUEST_READER_LOOKS, 1))
        return;
    if (reader == REQUEST_READER_RESTS &&
        next_number - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) < REQUEST_RING_SLOTS / 2)
        return;
    if (__atomic_exchange_n(&ring->reader, REQUEST_READER_LOOKS, __ATOMIC_ACQ_REL) != REQUEST_READER_LOOKS)
        syscall(SYS_futex, &ring->reader, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool request_ring_add(struct request_ring *ring, const struct request_record *record, const char *names,
                      size_t names_bytes) {
    uint64_t number;
    int saved_errno = errno;
    if (names_bytes > REQUEST_NAMES_MAX)
        names_bytes = REQUEST_NAMES_MAX;
    const size_t name_slots = (names_bytes + REQUEST_NAME_BYTES - 1) / REQUEST_NAME_BYTES;
    /* An eighth is reserved for answers, and records about the mount. */
    const bool may_fill = record->kind == REQUEST_ANSWERED || record->kind == REQUEST_STARTED ||
                          record->kind == REQUEST_ENDED || record->kind == REQUEST_LEFT;
    const uint64_t room = may_fill ? REQUEST_RING_SLOTS : REQUEST_RING_SLOTS - REQUEST_RING_SLOTS / 8;
    if (!claim(ring, 1 + name_slots, room, &number)) {
        if (record->kind == REQUEST_ARRIVED || record->kind == REQUEST_ANSWERED)
            __atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
        return false;
    }
    write_names(ring, number + 1, names, names_bytes);
    struct request_record *to = &slot_of(ring, number)->record;
    *to = *record; /* with ready 0 */
    to->name_slots = (uint8_t)name_slots;
    __atomic_store_n(&to->ready, number + 1, __ATOMIC_SEQ_CST);
    wake_reader(ring, number + 1 + name_slots);
    errno = saved_errno;
    return true;
}

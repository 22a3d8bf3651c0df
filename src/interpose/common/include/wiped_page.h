/* Memory that the kernel zeroes in a child of fork(2), however it is made (MADV_WIPEONFORK): so the child finds out
 * anew what is kept there. */
#ifndef WIPED_PAGE_H
#define WIPED_PAGE_H

#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

#define WIPED_PAGE_BYTES 65536 /* no page is larger */

/* Sums that threads add to atomically, most often each in a lane of its own, since a lane is a cache line. */
#define WIPED_LANES 31U
#define WIPED_LANE_BYTES 64U

/* page: as made below; the number of the process comes first */
static inline uint64_t *wiped_page_lane_at(const pid_t *page, unsigned number) {
    return (uint64_t *)((uintptr_t)page + (1 + (uintptr_t)number) * WIPED_LANE_BYTES);
}

/* This thread's, by where its thread area is: areas are whole pages apart. */
static inline uint64_t *wiped_page_lane(const pid_t *page) {
    return wiped_page_lane_at(page, (unsigned)(((uintptr_t)__builtin_thread_pointer() >> 12) % WIPED_LANES));
}

/* A place for the number of the process that owns the memory, and for lanes; 0: unknown yet.
 * Owner:   the process, for good
 * Returns NULL without memory, or if the kernel does not support it (before Linux 4.14) */
static inline pid_t *wiped_page_make(void) {
    void *page = mmap(NULL, WIPED_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, WIPED_PAGE_BYTES, MADV_WIPEONFORK) == 0)
        return page;
    munmap(page, WIPED_PAGE_BYTES);
    return NULL;
}

#endif

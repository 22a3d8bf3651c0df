/* Memory that the kernel zeroes in a child of fork(2), however it is made (MADV_WIPEONFORK): so the child finds out
 * anew what is kept there. */
#ifndef WIPED_PAGE_H
#define WIPED_PAGE_H

#include <sys/mman.h>
#include <sys/types.h>

#define WIPED_PAGE_BYTES 65536 /* no page is larger */

/* A place for the number of the process that owns the memory; 0: unknown yet.
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

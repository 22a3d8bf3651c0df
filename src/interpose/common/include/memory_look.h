/* Whether memory that a program passes to the kernel is readable. If not, the kernel answers EFAULT, and we must not
 * touch it either. */
#ifndef MEMORY_LOOK_H
#define MEMORY_LOOK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY_LEAST_PAGE_BYTES 4096U /* no page is smaller */
#define MEMORY_WORD_BYTES 8U

/* Chooses a way to ask, by the environment that the program was started with. Keeps errno */
void memory_look_start(void);

/* at: aligned to a word. May change errno */
bool memory_has_word(uintptr_t at);

/* True in the page of the caller's stack frame, which holds most buffers for answers. */
static inline bool memory_is_beside(uintptr_t frame, uintptr_t at, uintptr_t last) {
    return at >= frame && at <= last && last / MEMORY_LEAST_PAGE_BYTES == frame / MEMORY_LEAST_PAGE_BYTES;
}

/* Keeps errno */
static inline bool memory_is_readable(const void *memory, size_t size_bytes) {
    int saved_errno = errno;
    uintptr_t at = (uintptr_t)memory / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    const uintptr_t last = ((uintptr_t)memory + size_bytes - 1) / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    bool is_there = size_bytes > 0 && at <= last;
    if (is_there && memory_is_beside((uintptr_t)__builtin_frame_address(0), at, last))
        return true;
    for (; is_there && at / MEMORY_LEAST_PAGE_BYTES != last / MEMORY_LEAST_PAGE_BYTES;
         at = (at / MEMORY_LEAST_PAGE_BYTES + 1) * MEMORY_LEAST_PAGE_BYTES)
        is_there = memory_has_word(at);
    is_there = is_there && memory_has_word(last);
    errno = saved_errno;
    return is_there;
}

#endif

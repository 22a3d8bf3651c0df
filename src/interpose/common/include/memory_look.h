/* Whether memory that a program has named is there: if not, the kernel answers EFAULT, and so we must not touch it. */
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

/* Looks, in the environment that the program was started with, how to ask. Keeps errno */
void memory_look_start(void);

/* at: aligned to a word. May change errno */
bool memory_has_word(uintptr_t at);

/* In the page of the frame of whoever asks, where answers that are made on the stack mostly are. */
static inline bool memory_is_beside(uintptr_t frame, uintptr_t at, uintptr_t last) {
    return at >= frame && at <= last && last / MEMORY_LEAST_PAGE_BYTES == frame / MEMORY_LEAST_PAGE_BYTES;
}

/* Whether memory that the program has named is there. Keeps errno */
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

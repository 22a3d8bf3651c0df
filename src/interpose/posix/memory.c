/* Functions that unmap memory, or make memory unreadable. We remember where memory is readable, to read names that the
 * program passes to the kernel; these functions make us forget. Memory that the C library itself unmaps, as in free(3),
 * is not seen, but a program must not use a freed name anyway. */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "counting.h"

#define WRAP_MEMORY(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS)                                                            \
    WRAPPER(RETURNS, SYMBOL, PARAMETERS) {                                                                             \
        names_memory_changed();                                                                                        \
        return real_##SYMBOL() ARGUMENTS;                                                                              \
    }

WRAP_MEMORY(int, munmap, (void *at, size_t size), (at, size))
WRAP_MEMORY(int, mprotect, (void *at, size_t size, int protection), (at, size, protection))
WRAP_MEMORY(int, pkey_mprotect, (void *at, size_t size, int protection, int key), (at, size, protection, key))
WRAP_MEMORY(int, shmdt, (const void *at), (at))

/* The address behind the flags is read if the flags say so; else it is passed on too, as libc does. */
WRAPPER(void *, mremap, (void *at, size_t size, size_t new_size, int flags, ...)) {
    va_list arguments;
    va_start(arguments, flags);
    void *new_place = va_arg(arguments, void *);
    va_end(arguments);
    names_memory_changed();
    return real_mremap()(at, size, new_size, flags, new_place);
}

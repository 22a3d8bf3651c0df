/* Private: what a function that stands before one of libc's consists of.
 *
 * It is given libc's name by an assembler label: so neither the headers' declarations and macros, nor what the compiler
 * knows of a function of that name, gets in the way. */
#ifndef WRAPPER_H
#define WRAPPER_H

#include <dirent.h>
#include <stdio.h>

#include "call.h"
#include "fd_table.h"
#include "names.h"
#include "posix_ops.h"
#include "real.h"

/* Begins the definition of the wrapper of SYMBOL; real_SYMBOL() is what it stands before, found at the first call. */
#define WRAPPER(RETURNS, SYMBOL, PARAMETERS)                                                                           \
    typedef RETURNS function_##SYMBOL PARAMETERS;                                                                      \
    static function_##SYMBOL *found_##SYMBOL;                                                                          \
    static inline function_##SYMBOL *real_##SYMBOL(void) {                                                             \
        function_##SYMBOL *real = __atomic_load_n(&found_##SYMBOL, __ATOMIC_RELAXED);                                  \
        if (__builtin_expect(!real, 0)) {                                                                              \
            real = (function_##SYMBOL *)(__UINTPTR_TYPE__)real_find(#SYMBOL);                                          \
            __atomic_store_n(&found_##SYMBOL, real, __ATOMIC_RELAXED);                                                 \
        }                                                                                                              \
        return real;                                                                                                   \
    }                                                                                                                  \
    extern __attribute__((visibility("default"))) RETURNS wrap_##SYMBOL PARAMETERS __asm__(#SYMBOL);                   \
    RETURNS wrap_##SYMBOL PARAMETERS

/* A whole wrapper, for calls of which is known before whether they count.
 * OP:      what it is counted as
 * COUNTS:  whether it counts
 * OUTCOME: what came of it, from `result`
 * Both and OP are expressions of the parameters. */
#define WRAP(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME)                                              \
    WRAPPER(RETURNS, SYMBOL, PARAMETERS) {                                                                             \
        if (!(COUNTS))                                                                                                 \
            return real_##SYMBOL() ARGUMENTS;                                                                          \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        CLEANUP_CALL struct call call = call_begin(OP);                                                                \
        RETURNS result = real ARGUMENTS;                                                                               \
        call_end(&call, OUTCOME);                                                                                      \
        return result;                                                                                                 \
    }

/* ---- What names the file, and whether it counts ---- */

extern const struct preload_ops posix_ops;

static inline bool fd_counts(int fd) {
    return fd_table_counts(fd, &posix_ops);
}

static inline bool name_counts(int dir_fd, const char *path) {
    return names_count(dir_fd, path, &posix_ops);
}

static inline bool opened_fd_counts(int fd) {
    return fd_table_opened(fd, &posix_ops);
}

/* The descriptor behind a stream; -1: none. Keeps errno. */
static inline int stream_fd(FILE *stream) {
    int saved_errno = errno;
    int fd = stream ? fileno_unlocked(stream) : -1;
    errno = saved_errno;
    return fd;
}

/* The same of an open directory. */
static inline int directory_fd(DIR *directory) {
    int saved_errno = errno;
    int fd = directory ? dirfd(directory) : -1;
    errno = saved_errno;
    return fd;
}

#endif

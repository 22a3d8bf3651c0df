/* Private: wrappers that count, and how they find out about files. */
#ifndef COUNTING_H
#define COUNTING_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>

#include "aggstats/shared.h"
#include "call.h"
#include "fd_table.h"
#include "names.h"
#include "noting.h"
#include "posix_ops.h"
#include "scope.h"
#include "subjects.h"
#include "wrapper.h"

/* A whole wrapper, for calls that are known beforehand to count or not. All are expressions of the parameters.
 * OP:      the operation
 * COUNTS:  what it is of, if it counts
 * OUTCOME: the outcome, from `result`
 * OTHER:   the result of a call that does not count, from that of `real`, as OTHER(OP, result) */
#define WRAP_OTHER(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME, OTHER)                                 \
    WRAPPER(RETURNS, SYMBOL, PARAMETERS) {                                                                             \
        const call_of of = COUNTS;                                                                                     \
        if (!of)                                                                                                       \
            return OTHER(OP, real_##SYMBOL() ARGUMENTS);                                                               \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        CLEANUP_CALL struct call call = call_begin(OP, of);                                                            \
        RETURNS result = real ARGUMENTS;                                                                               \
        call_end(&call, OUTCOME);                                                                                      \
        return result;                                                                                                 \
    }

#define WRAP(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME)                                              \
    WRAP_OTHER(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME, AS_IT_IS)

#define AS_IT_IS(OP, RESULT) (RESULT)

/* Of a call that moves bytes. */
#define WRAP_MOVING(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME)                                       \
    WRAP_OTHER(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME, other_moved)

static inline ssize_t other_moved(enum posix_op op, ssize_t result) {
    const bool is_write = op == POSIX_WRITE || op == POSIX_WRITEV || op == POSIX_PWRITE || op == POSIX_PWRITEV;
    others_moved(is_write ? OTHERS_WRITTEN : OTHERS_READ, result);
    return result;
}

/* One that the kernel takes for a read and a write. */
#define WRAP_COPYING(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME)                                      \
    WRAP_OTHER(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, COUNTS, OUTCOME, other_copied)

static inline ssize_t other_copied(enum posix_op op, ssize_t result) {
    (void)op;
    others_moved(OTHERS_READ, result);
    others_moved(OTHERS_WRITTEN, result);
    return result;
}

/* ---- Files of calls, and whether these count ---- */

static inline call_of fd_counts(int fd) {
    return fd_table_counts(fd, &posix_ops);
}

/* Commands of fcntl(2). */
static inline bool fcntl_is_lock(long command) {
    return command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK ||
           command == F_OFD_SETLKW || command == F_OFD_GETLK;
}

static inline bool fcntl_is_copy(long command) {
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

static inline call_of either_fd_counts(int fd, int other_fd) {
    const call_of of = fd_counts(fd);
    return of ? of : fd_counts(other_fd);
}

static inline call_of name_counts(int dir_fd, const char *path) {
    if (!names_count(dir_fd, path, &posix_ops))
        return 0;
    return CALL_COUNTS | (subjects_are_wanted() ? subjects_of_name(dir_fd, path) : 0);
}

static inline call_of either_name_counts(int dir_fd, const char *path, int other_fd, const char *other) {
    const call_of of = name_counts(dir_fd, path);
    return of ? of : name_counts(other_fd, other);
}

/* For a descriptor opened by that name, which decides if the kernel does not say. */
static inline call_of opened_fd_counts(int fd, int dir_fd, const char *path) {
    fd_entry entry = fd_table_opened(fd, dir_fd, path, &posix_ops);
    if (__builtin_expect(entry == FD_UNKNOWN, 0)) {
        const call_of of = name_counts(dir_fd, path);
        entry = of ? FD_INSIDE | call_of_subject(of) << FD_STATE_BITS : FD_OUTSIDE;
        fd_table_remember(fd, entry);
    }
    return fd_entry_state(entry) == FD_INSIDE ? CALL_COUNTS | fd_entry_subject(entry) : 0;
}

/* For calls that are of no certain file, such as sync(2): they count if all files do. */
static inline call_of all_files_count(void) {
    return preload_looks() && scope_place_of("/", "/") == BELOW_INSIDE && preload_join(&posix_ops) ? CALL_COUNTS : 0;
}

/* Call at the beginning of a function that opens a file, such as open(2) or fopen(3). If all files count, nearly every
 * opened file counts: so the live file is joined before. */
static inline struct call_watch posix_watch(enum posix_op op) {
    if (scope.has_all)
        preload_join(&posix_ops);
    return call_watch(op);
}

/* An open has returned fd; -1: it failed. Counts it if it counts. Keeps errno */
void descriptors_count_open(const struct call_watch *watch, int fd, int dir_fd, const char *path);

/* The descriptor behind a stream; -1: none. Keeps errno. */
static inline int stream_fd(FILE *stream) {
    if (!wrapper_has_thread())
        return -1;
    int saved_errno = errno;
    int fd = stream ? fileno_unlocked(stream) : -1;
    errno = saved_errno;
    return fd;
}

/* The same of an open directory. */
static inline int directory_fd(DIR *directory) {
    if (!wrapper_has_thread())
        return -1;
    int saved_errno = errno;
    int fd = directory ? dirfd(directory) : -1;
    errno = saved_errno;
    return fd;
}

/* For a call that has succeeded: so the kernel has read the vector too. */
static inline uint64_t vector_bytes(const struct iovec *vector, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += vector[i].iov_len;
    return sum;
}

#endif

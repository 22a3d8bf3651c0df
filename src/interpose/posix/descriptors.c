/* The functions that open or close descriptors: they show which files count.
 *
 * Whether an open counts depends on its result: on where the opened file is; if it failed, on where the name is. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "counting.h"
#include "directory.h"
#include "scope.h"

/* ---- Opening ---- */

void descriptors_count_open(const struct call_watch *watch, int fd, int dir_fd, const char *path) {
    const call_of of = fd >= 0 ? opened_fd_counts(fd, dir_fd, path) : name_counts(dir_fd, path);
    if (of)
        call_watch_count(POSIX_OPEN, watch, of, call_outcome(fd < 0));
}

/* The rest of a wrapper, when `real` and ARGUMENTS are defined. */
#define OPEN_AND_COUNT(ARGUMENTS, DIR_FD, NAME)                                                                        \
    if (!preload_looks())                                                                                              \
        return real ARGUMENTS;                                                                                         \
    CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_OPEN);                                              \
    int fd = real ARGUMENTS;                                                                                           \
    call_watch_end(&watch);                                                                                            \
    descriptors_count_open(&watch, fd, DIR_FD, NAME);                                                                  \
    return fd;

#define WRAP_OPEN(SYMBOL, PARAMETERS, ARGUMENTS, DIR_FD, NAME)                                                         \
    WRAPPER(int, SYMBOL, PARAMETERS) {                                                                                 \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        OPEN_AND_COUNT(ARGUMENTS, DIR_FD, NAME)                                                                        \
    }

/* The mode behind the flags is read if the flags make a file; else it is passed on too, as libc does. */
#define WRAP_OPEN_MODE(SYMBOL, PARAMETERS, ARGUMENTS, DIR_FD, NAME)                                                    \
    WRAPPER(int, SYMBOL, PARAMETERS) {                                                                                 \
        mode_t mode = 0;                                                                                               \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        if (__OPEN_NEEDS_MODE(flags)) {                                                                                \
            va_list arguments;                                                                                         \
            va_start(arguments, flags);                                                                                \
            mode = va_arg(arguments, mode_t);                                                                          \
            va_end(arguments);                                                                                         \
        }                                                                                                              \
        OPEN_AND_COUNT(ARGUMENTS, DIR_FD, NAME)                                                                        \
    }

/* clang-format off */
WRAP_OPEN_MODE(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, path)
WRAP_OPEN_MODE(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, path)
WRAP_OPEN_MODE(openat, (int dir_fd, const char *path, int flags, ...), (dir_fd, path, flags, mode), dir_fd, path)
WRAP_OPEN_MODE(openat64, (int dir_fd, const char *path, int flags, ...), (dir_fd, path, flags, mode), dir_fd, path)
WRAP_OPEN(__open_2, (const char *path, int flags), (path, flags), AT_FDCWD, path)
WRAP_OPEN(__open64_2, (const char *path, int flags), (path, flags), AT_FDCWD, path)
WRAP_OPEN(__openat_2, (int dir_fd, const char *path, int flags), (dir_fd, path, flags), dir_fd, path)
WRAP_OPEN(__openat64_2, (int dir_fd, const char *path, int flags), (dir_fd, path, flags), dir_fd, path)
WRAP_OPEN(creat, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
WRAP_OPEN(creat64, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
WRAP_OPEN(open_by_handle_at, (int mount_fd, void *handle, int flags), (mount_fd, handle, flags), AT_FDCWD, NULL)
WRAP_OPEN(mkstemp, (char *path), (path), AT_FDCWD, path)
WRAP_OPEN(mkstemp64, (char *path), (path), AT_FDCWD, path)
WRAP_OPEN(mkostemp, (char *path, int flags), (path, flags), AT_FDCWD, path)
WRAP_OPEN(mkostemp64, (char *path, int flags), (path, flags), AT_FDCWD, path)
WRAP_OPEN(mkstemps, (char *path, int suffix), (path, suffix), AT_FDCWD, path)
WRAP_OPEN(mkstemps64, (char *path, int suffix), (path, suffix), AT_FDCWD, path)
WRAP_OPEN(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags), AT_FDCWD, path)
WRAP_OPEN(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags), AT_FDCWD, path)
/* clang-format on */

/* ---- Closing: the number may be another file's as soon as it is closed ---- */

WRAPPER(int, close, (int fd)) {
    function_close *real = real_close();
    const call_of of = fd_counts(fd);
    fd_table_forget(fd);
    if (!of)
        return real(fd);
    CLEANUP_CALL struct call call = call_begin(POSIX_CLOSE, of);
    int result = real(fd);
    call_end(&call, call_outcome(result < 0));
    return result;
}

WRAPPER(int, close_range, (unsigned first, unsigned last, int flags)) {
    fd_table_forget_range(first, last);
    return real_close_range()(first, last, flags);
}

WRAPPER(void, closefrom, (int first)) {
    fd_table_forget_range(first < 0 ? 0 : (unsigned)first, ~0U);
    real_closefrom()(first);
}

/* ---- Copying ---- */

WRAPPER(int, dup, (int fd)) {
    int copy = real_dup()(fd);
    if (copy >= 0)
        fd_table_copied(fd, copy);
    return copy;
}

WRAPPER(int, dup2, (int fd, int wanted)) {
    if (fd != wanted)
        fd_table_forget(wanted);
    int copy = real_dup2()(fd, wanted);
    if (copy >= 0 && fd != wanted)
        fd_table_copied(fd, copy);
    return copy;
}

WRAPPER(int, dup3, (int fd, int wanted, int flags)) {
    if (fd != wanted)
        fd_table_forget(wanted);
    int copy = real_dup3()(fd, wanted, flags);
    if (copy >= 0)
        fd_table_copied(fd, copy);
    return copy;
}

/* ---- fcntl: copies, and locks ---- */

/* Every command has at most one argument, which fits into a pointer. */
typedef int fcntl_fn(int fd, int command, ...);

static int counted_fcntl(fcntl_fn *real, int fd, int command, void *argument) {
    const call_of of = fcntl_is_lock(command) ? fd_counts(fd) : 0;
    if (!of) {
        int result = real(fd, command, argument);
        if (fcntl_is_copy(command) && result >= 0)
            fd_table_copied(fd, result);
        return result;
    }
    CLEANUP_CALL struct call call = call_begin(POSIX_LOCK, of);
    int result = real(fd, command, argument);
    call_end(&call, call_outcome(result < 0));
    return result;
}

#define WRAP_FCNTL(SYMBOL)                                                                                             \
    WRAPPER(int, SYMBOL, (int fd, int command, ...)) {                                                                 \
        va_list arguments;                                                                                             \
        va_start(arguments, command);                                                                                  \
        void *argument = va_arg(arguments, void *);                                                                    \
        va_end(arguments);                                                                                             \
        return counted_fcntl(real_##SYMBOL(), fd, command, argument);                                                  \
    }

WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)

/* As for fcntl. */
WRAPPER(int, ioctl, (int fd, unsigned long request, ...)) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const call_of of = fd_counts(fd);
    if (!of)
        return real_ioctl()(fd, request, argument);
    function_ioctl *real = real_ioctl();
    CLEANUP_CALL struct call call = call_begin(POSIX_IOCTL, of);
    int result = real(fd, request, argument);
    call_end(&call, call_outcome(result < 0));
    return result;
}

/* ---- The current directory ---- */

/* One that does not count. */
static int other_chdir(enum posix_op op, int result) {
    (void)op;
    if (result == 0 && preload_is_on())
        directory_changed();
    return result;
}

static struct aggstats_outcome chdir_outcome(int result) {
    const struct aggstats_outcome outcome = call_outcome(result < 0);
    other_chdir(POSIX_CHDIR, result);
    return outcome;
}

/* clang-format off */
WRAP_OTHER(int, chdir, (const char *path), (path), POSIX_CHDIR, name_counts(AT_FDCWD, path), chdir_outcome(result), other_chdir)
WRAP_OTHER(int, fchdir, (int fd), (fd), POSIX_CHDIR, fd_counts(fd), chdir_outcome(result), other_chdir)
/* clang-format on */

WRAPPER(int, chroot, (const char *path)) {
    static bool is_noted;
    const bool has_joined = preload_looks() && preload_join(&posix_ops); /* the live file may not be found there */
    int result = real_chroot()(path);
    if (result == 0 && preload_is_on())
        directory_changed();
    /* Names are not below a directory there. */
    if (result == 0 && has_joined && !scope.has_all && !__atomic_exchange_n(&is_noted, true, __ATOMIC_RELAXED))
        posix_note(POSIX_NOTE_ROOT, 1);
    return result;
}

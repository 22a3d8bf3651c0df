/* Opening and closing of streams and directories. Calls inside libc do not reach our wrappers, so these are operations
 * of their own; what a stream writes when it is closed is not counted separately. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "counting.h"

/* ---- Streams ---- */

static void count_fopen(const struct call_watch *watch, FILE *stream, const char *path) {
    const call_of of = stream ? opened_fd_counts(stream_fd(stream), AT_FDCWD, path) : name_counts(AT_FDCWD, path);
    if (of)
        call_watch_count(POSIX_FOPEN, watch, of, call_outcome(!stream));
}

#define WRAP_FOPEN(SYMBOL, PARAMETERS, ARGUMENTS, PATH)                                                                \
    WRAPPER(FILE *, SYMBOL, PARAMETERS) {                                                                              \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        if (!preload_looks())                                                                                          \
            return real ARGUMENTS;                                                                                     \
        CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_FOPEN);                                         \
        FILE *stream = real ARGUMENTS;                                                                                 \
        call_watch_end(&watch);                                                                                        \
        count_fopen(&watch, stream, PATH);                                                                             \
        return stream;                                                                                                 \
    }

WRAP_FOPEN(fopen, (const char *path, const char *mode), (path, mode), path)
WRAP_FOPEN(fopen64, (const char *path, const char *mode), (path, mode), path)
WRAP_FOPEN(tmpfile, (void), (), NULL)
WRAP_FOPEN(tmpfile64, (void), (), NULL)

#define WRAP_FREOPEN(SYMBOL)                                                                                           \
    WRAPPER(FILE *, SYMBOL, (const char *path, const char *mode, FILE *before)) {                                      \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        if (!preload_looks())                                                                                          \
            return real(path, mode, before);                                                                           \
        fd_table_forget(stream_fd(before));                                                                            \
        CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_FOPEN);                                         \
        FILE *stream = real(path, mode, before);                                                                       \
        call_watch_end(&watch);                                                                                        \
        count_fopen(&watch, stream, path);                                                                             \
        return stream;                                                                                                 \
    }

WRAP_FREOPEN(freopen)
WRAP_FREOPEN(freopen64)

static inline struct aggstats_outcome closed_outcome(int result, uint64_t written) {
    struct aggstats_outcome outcome = call_outcome(result != 0);
    outcome.has_bytes = written > 0 && result == 0;
    outcome.asked_bytes = outcome.moved_bytes = written;
    return outcome;
}

#define WRAP_FCLOSE(SYMBOL)                                                                                            \
    WRAPPER(int, SYMBOL, (FILE * stream)) {                                                                            \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        int fd = stream_fd(stream);                                                                                    \
        const call_of of = fd_counts(fd);                                                                              \
        const uint64_t pending = fd >= 0 ? __fpending(stream) : 0;                                                     \
        fd_table_forget(fd);                                                                                           \
        if (!of) {                                                                                                     \
            if (pending > 0)                                                                                           \
                others_moved(OTHERS_WRITTEN, (int64_t)pending);                                                        \
            return real(stream);                                                                                       \
        }                                                                                                              \
        CLEANUP_CALL struct call call = call_begin(POSIX_FCLOSE, of);                                                  \
        int result = real(stream);                                                                                     \
        call_end(&call, closed_outcome(result, pending));                                                              \
        return result;                                                                                                 \
    }

WRAP_FCLOSE(fclose)
WRAP_FCLOSE(pclose)

/* ---- Directories ---- */

WRAPPER(DIR *, opendir, (const char *path)) {
    function_opendir *real = real_opendir();
    if (!preload_looks())
        return real(path);
    CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_OPENDIR);
    DIR *directory = real(path);
    call_watch_end(&watch);
    const call_of of =
        directory ? opened_fd_counts(directory_fd(directory), AT_FDCWD, path) : name_counts(AT_FDCWD, path);
    if (of)
        call_watch_count(POSIX_OPENDIR, &watch, of, call_outcome(!directory));
    return directory;
}

WRAPPER(DIR *, fdopendir, (int fd)) {
    function_fdopendir *real = real_fdopendir();
    const call_of of = fd_counts(fd);
    if (!of)
        return real(fd);
    CLEANUP_CALL struct call call = call_begin(POSIX_OPENDIR, of);
    DIR *directory = real(fd);
    call_end(&call, call_outcome(!directory));
    return directory;
}

WRAPPER(int, closedir, (DIR * directory)) {
    function_closedir *real = real_closedir();
    int fd = directory_fd(directory);
    const call_of of = fd_counts(fd);
    fd_table_forget(fd);
    if (!of)
        return real(directory);
    CLEANUP_CALL struct call call = call_begin(POSIX_CLOSEDIR, of);
    int result = real(directory);
    call_end(&call, call_outcome(result != 0));
    return result;
}

/* Writing results whole. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"

/* Of the first failed write; stdio remembers only that a write failed. */
static int stdout_error;

bool output_finish_stdout(int *ret_errno) {
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EIO, EPIPE, EBADF, ENXIO};
    bool is_of_write = false; /* errno may be of another call since */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    const int error = errno;
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
        is_of_write |= errors[i] == error;
    *ret_errno = stdout_error ? stdout_error : is_of_write ? error : 0;
    return false;
}

bool output_is_stdout(const char *path) {
    return !path || strcmp(path, "-") == 0;
}

/* ---- Files that exist --------------------------------------------------------------------------- */

#define LOOKED_AT_BYTES 8192 /* at either end */
#define OLD_SUFFIX ".old"
#define OLD_IS_TAKEN (-ENOTUNIQ)

/* How a result begins, and what it has near its beginning or end. */
static const struct {
    const char *begins;
    const char *has;
} marks[] = {
    {"# osprof ", NULL},                           /* profiles, recordings */
    {"OSPROFLV", NULL},                            /* live files (aggstats/live.h) */
    {"OSPEVENT", NULL},                            /* events files (events_format.h) */
    {"<!doctype html>", "content=\"osprof "},      /* reports */
    {"<?xml", "<!-- " OUTPUT_PICTURE_MARK " -->"}, /* plots */
    {"\x89PNG", OUTPUT_PICTURE_MARK},              /* plots */
    {"%PDF-", "% " OUTPUT_PICTURE_MARK},           /* plots */
    {"start_ns,latency_ns,start_cycles,", NULL},   /* exported calls, as CSV */
    {"{\"traceEvents\":[", "\"name\":\"osprof\""}, /* exported calls, for Chrome */
    {"\n", "\xb2\x01\x06osprof"},                  /* exported calls, for Perfetto: a category of an event */
};

static bool is_result(int dir_fd, const char *name) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char text[2 * LOOKED_AT_BYTES];
    struct stat attr;
    if (fd < 0 || fstat(fd, &attr) < 0)
        return false;
    const ssize_t first = pread(fd, text, LOOKED_AT_BYTES, 0);
    const off_t rest =
        attr.st_size - LOOKED_AT_BYTES > LOOKED_AT_BYTES ? attr.st_size - LOOKED_AT_BYTES : LOOKED_AT_BYTES;
    const ssize_t last = first > 0 ? pread(fd, text + first, LOOKED_AT_BYTES, rest) : 0;
    const size_t count = first > 0 && last >= 0 ? (size_t)(first + last) : 0;
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
        const size_t length = strlen(marks[i].begins);
        if (count >= length && memcmp(text, marks[i].begins, length) == 0 &&
            (!marks[i].has || memmem(text, count, marks[i].has, strlen(marks[i].has))))
            return true;
    }
    return false;
}

/* Errors:  -ENOENT it is free, or empty; -EEXIST it is no result, -ELOOP, -EISDIR, -ENOTSUP */
static int look(int dir_fd, const char *name) {
    struct stat attr;
    if (fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) < 0)
        return negative_errno();
    if (S_ISREG(attr.st_mode) && attr.st_size == 0)
        return -ENOENT;
    if (!S_ISREG(attr.st_mode))
        return S_ISLNK(attr.st_mode) ? -ELOOP : S_ISDIR(attr.st_mode) ? -EISDIR : -ENOTSUP;
    return is_result(dir_fd, name) ? 0 : -EEXIST;
}

/* ret_old: the name under which the existing file is kept, which the caller frees; NULL: there is none to keep */
static int choose_old(int dir_fd, const char *name, char **ret_old) {
    const int found = look(dir_fd, name);
    *ret_old = NULL;
    if (found == -ENOENT || (found == -EEXIST && output_is_forced()))
        return 0;
    if (found)
        return found;
    if (asprintf(ret_old, "%s" OLD_SUFFIX, name) < 0) {
        *ret_old = NULL;
        return -ENOMEM;
    }
    const int old_found = look(dir_fd, *ret_old);
    return old_found == -ENOENT || (old_found == -EEXIST && output_is_forced()) ? 0 : old_found ? OLD_IS_TAKEN : 0;
}

int output_check_at(int dir_fd, const char *name) {
    CLEANUP_FREE char *old = NULL;
    return choose_old(dir_fd, name, &old);
}

int output_check(const char *path) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    if (output_is_stdout(path))
        return 0;
    const int error = open_parent(AT_FDCWD, path, &dir_fd, &name);
    return error ? error : output_check_at(dir_fd, name);
}

const char *output_error_text(int error) {
    return error == -EEXIST        ? "it is there, and is no result of osprof; --force replaces it"
           : error == OLD_IS_TAKEN ? "it would be kept as .old, and that is there, and no result of osprof"
           : error == -ELOOP       ? "it is a symbolic link, which is not followed; name the file"
                                   : replace_error_text(error);
}

int output_write_at(int dir_fd, const char *name, mode_t mode, const char *text, size_t size_bytes) {
    CLEANUP_FREE char *old = NULL;
    const int error = choose_old(dir_fd, name, &old);
    return error ? error : replace_file(dir_fd, name, old, mode & new_file_mode(), text, size_bytes);
}

int output_make_free(int dir_fd, const char *name) {
    CLEANUP_FREE char *old = NULL;
    const int error = choose_old(dir_fd, name, &old);
    if (error || !old)
        return error ? error : unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT ? negative_errno() : 0;
    return renameat(dir_fd, name, dir_fd, old) < 0 ? negative_errno() : 0;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

int output_write(const char *path, mode_t mode, const char *text, size_t size_bytes) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    if (output_is_stdout(path)) {
        if (fwrite(text, 1, size_bytes, stdout) < size_bytes && stdout_error == 0)
            stdout_error = errno;
        return 0;
    }
    const int error = open_parent(AT_FDCWD, path, &dir_fd, &name);
    return error ? error : output_write_at(dir_fd, name, mode, text, size_bytes);
}

int output_format(int (*write)(const void *context, FILE *stream), const void *context, char **ret_text,
                  size_t *ret_bytes) {
    CLEANUP_FREE char *text = NULL;
    FILE *stream = open_memstream(&text, ret_bytes);
    if (!stream)
        return -ENOMEM;
    int error = write(context, stream);
    if (ferror(stream) && !error)
        error = -ENOMEM;
    if (fclose(stream) != 0 && !error)
        error = -ENOMEM;
    if (!error)
        *ret_text = steal_pointer(&text);
    return error;
}

bool output_deliver(const char *path, const char *default_path, mode_t mode, const char *text, size_t size_bytes) {
    const char *output = path ? path : default_path;
    int error = output_write(output, mode, text, size_bytes);
    if (error)
        complain("cannot write %s: %s", output, output_error_text(error));
    else if (!path)
        puts(default_path);
    return error == 0;
}

mode_t output_mode(const struct aggstats_profile *profile) {
    return aggstats_profile_has_paths(profile) ? 0600 : 0644;
}

int output_write_profile(const char *path, const struct aggstats_profile *profile) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = aggstats_profile_format(profile, &text, &size_bytes);
    return error ? error : output_write(path, output_mode(profile), text, size_bytes);
}

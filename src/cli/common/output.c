/* Writing results whole. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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

int output_write_with_mode(const char *path, mode_t mode, const char *text, size_t size_bytes) {
    if (output_is_stdout(path)) {
        if (fwrite(text, 1, size_bytes, stdout) < size_bytes && stdout_error == 0)
            stdout_error = errno;
        return 0;
    }
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    int error = open_parent(AT_FDCWD, path, &dir_fd, &name);
    return error ? error : replace_file(dir_fd, name, NULL, mode, text, size_bytes);
}

int output_write(const char *path, const char *text, size_t size_bytes) {
    return output_write_with_mode(path, 0644, text, size_bytes);
}

int output_write_private(const char *path, const char *text, size_t size_bytes) {
    return output_write_with_mode(path, 0600, text, size_bytes);
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
    int error = output_write_with_mode(output, mode, text, size_bytes);
    if (error)
        complain("cannot write %s: %s", output, replace_error_text(error));
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
    return error ? error : output_write_with_mode(path, output_mode(profile), text, size_bytes);
}

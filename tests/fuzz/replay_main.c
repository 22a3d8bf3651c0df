/* Runs a fuzz target on files instead of a fuzzer's input: on each named file, and on each file in a named directory.
 * The target aborts on an error.
 * Usage: PROGRAM FILE|DIRECTORY... */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "fuzz.h"

#define CLEANUP_DIRECTORY __attribute__((cleanup(close_directory)))

static void close_directory(DIR **directory) {
    if (*directory)
        closedir(*directory);
}

/* Of exactly the size of the input, so that a checker sees the first byte read beyond it. */
static int replay_fd(int fd, size_t size_bytes) {
    CLEANUP_FREE uint8_t *data = malloc(size_bytes > 0 ? size_bytes : 1);
    if (!data)
        return -ENOMEM;
    for (size_t have_bytes = 0; have_bytes < size_bytes;) {
        ssize_t read_bytes = read(fd, data + have_bytes, size_bytes - have_bytes);
        if (read_bytes <= 0)
            return read_bytes < 0 ? negative_errno() : -EIO;
        have_bytes += (size_t)read_bytes;
    }
    LLVMFuzzerTestOneInput(data, size_bytes);
    return 0;
}

/* The number of files run, or -errno. */
static int replay(int directory_fd, const char *name);

static int replay_directory(int fd) {
    CLEANUP_DIRECTORY DIR *directory = fdopendir(dup(fd));
    int count = 0;
    if (!directory)
        return negative_errno();
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        int replayed = replay(fd, entry->d_name);
        if (replayed < 0)
            return replayed;
        count += replayed;
    }
    return count;
}

static int replay(int directory_fd, const char *name) {
    CLEANUP_FD int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return negative_errno();
    if (S_ISDIR(status.st_mode))
        return replay_directory(fd);
    int err = replay_fd(fd, (size_t)status.st_size);
    return err < 0 ? err : 1;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        int replayed = replay(AT_FDCWD, argv[i]);
        if (replayed < 0) {
            fprintf(stderr, "%s: cannot replay %s: %s\n", argv[0], argv[i], strerror(-replayed));
            return EXIT_FAILURE;
        }
        count += replayed;
    }
    printf("%d inputs replayed\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

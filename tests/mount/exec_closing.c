/* Runs itself anew, over and over, while files of a mount are open that close on execve(2): the kernel then asks for
 * each while it holds a lock of the process.
 *
 *     exec_closing FILE COUNT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FILES 5
#define CALLS 20

/* Short calls enough for a worker to follow its caller. */
static int use(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat attr;
    char byte;
    for (int call = 0; fd >= 0 && call < CALLS; call++) {
        if (fstatat(AT_FDCWD, path, &attr, 0) < 0 || pread(fd, &byte, 1, 0) < 0)
            return -1;
    }
    return fd;
}

int main(int argc, char **argv) {
    char left[32];
    long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (count <= 0)
        return argc == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
    for (int file = 0; file < OPEN_FILES; file++) {
        if (use(argv[1]) < 0) {
            perror(argv[1]);
            return EXIT_FAILURE;
        }
    }
    snprintf(left, sizeof(left), "%ld", count - 1);
    execv("/proc/self/exe", (char *[]){argv[0], argv[1], left, NULL});
    perror("execv");
    return EXIT_FAILURE;
}

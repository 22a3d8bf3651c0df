/* mapped_files FILE DIRECTORY COUNT: makes so many files in the directory and maps them as code, then calls flock three
 * times, each time waiting for a lock of FILE that another process holds for a while. Then waits for the end of its
 * standard input. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES 4096
#define CALLS 3
#define HELD_NS 100000000

static int map_file(const char *directory, int number) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%d", directory, number);
    const int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0700);
    if (fd < 0 || ftruncate(fd, FILE_BYTES) < 0 ||
        mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        return -1;
    return close(fd);
}

static int hold_lock(const char *path, int told_fd) {
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(told_fd, "x", 1) != 1)
        return 1;
    return nanosleep(&(const struct timespec){.tv_nsec = HELD_NS}, NULL) < 0;
}

static int call_slowly(const char *path, int fd) {
    int ends[2];
    char byte;
    if (pipe(ends) < 0)
        return 1;
    const pid_t child = fork();
    if (child == 0)
        _exit(hold_lock(path, ends[1]));
    close(ends[1]);
    const int failed = read(ends[0], &byte, 1) != 1 || flock(fd, LOCK_EX) < 0 || flock(fd, LOCK_UN) < 0;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return failed;
}

int main(int argc, char **argv) {
    const int fd = argc == 4 ? open(argv[1], O_CREAT | O_RDWR | O_CLOEXEC, 0666) : -1;
    const int count = argc == 4 ? atoi(argv[3]) : 0;
    int failed = fd < 0;
    char byte;
    for (int i = 0; i < count && !failed; i++)
        failed = map_file(argv[2], i) < 0;
    for (int i = 0; i < CALLS && !failed; i++)
        failed = call_slowly(argv[1], fd);
    while (!failed && read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return failed;
}

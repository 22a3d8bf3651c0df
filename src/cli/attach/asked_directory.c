#include "asked_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

static int look(const char *directory, bool resolves, struct asked_directory *ret_asked) {
    struct statx attr;
    if (statx(AT_FDCWD, directory, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &attr) < 0)
        return negative_errno();
    if (!S_ISDIR(attr.stx_mode))
        return -ENOTDIR;
    ret_asked->mount_id = attr.stx_mnt_id;
    return resolves && !realpath(directory, ret_asked->path) ? negative_errno() : 0;
}

/* The child keeps no other file open: it may stay for as long as the file system hangs, also after osprof has ended. */
static _Noreturn void answer(const char *directory, bool resolves, int pipe_fd) {
    struct asked_directory asked = {.error = 0};
    if (dup2(pipe_fd, STDIN_FILENO) == STDIN_FILENO)
        close_range(STDIN_FILENO + 1, ~0U, 0); /* before Linux 5.9 open files stay open */
    asked.error = look(directory, resolves, &asked);
    write_all(STDIN_FILENO, &asked, sizeof(asked));
    _exit(0);
}

static int64_t left_ms(int64_t end_ns) {
    const int64_t left_ns = end_ns - read_clock_ns(CLOCK_MONOTONIC);
    return left_ns > 0 ? left_ns / 1000000 : 0;
}

/* Errors:  -ETIMEDOUT, -EIO the child was killed, those of poll(2) and read(2) */
static int read_answer(int pipe_fd, struct asked_directory *ret_asked) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ASKED_DIRECTORY_SECONDS * NS_PER_S;
    struct pollfd answered = {.fd = pipe_fd, .events = POLLIN};
    size_t size_bytes = 0;
    while (size_bytes < sizeof(*ret_asked)) {
        const int ready = poll(&answered, 1, (int)left_ms(end_ns));
        if (ready == 0)
            return -ETIMEDOUT;
        const ssize_t count =
            ready < 0 ? -1 : read(pipe_fd, (char *)ret_asked + size_bytes, sizeof(*ret_asked) - size_bytes);
        if (count == 0)
            return -EIO;
        if (count < 0 && errno != EINTR)
            return negative_errno();
        size_bytes += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

void asked_directory_ask(const char *directory, bool resolves, struct asked_directory *ret_asked) {
    int ends[2];
    *ret_asked = (struct asked_directory){.error = 0};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        ret_asked->error = negative_errno();
        return;
    }
    CLEANUP_FD int read_fd = ends[0];
    CLEANUP_FD int write_fd = ends[1];
    const pid_t child = fork();
    if (child == 0)
        answer(directory, resolves, write_fd);
    int error = child < 0 ? negative_errno() : 0;
    close_fd(&write_fd);
    if (error == 0) {
        error = read_answer(read_fd, ret_asked);
        kill(child, SIGKILL);
        waitpid(child, NULL, error ? WNOHANG : 0); /* one that still asks may hang for good */
    }
    if (error)
        ret_asked->error = error;
}

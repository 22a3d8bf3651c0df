#include "fuse_control.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base.h"
#include "quiet_thread.h"
#include "unix_address.h"

#define PATIENCE_S 2      /* with who asks and does not go on, */
#define ANSWERING_MAX_S 5 /* and with who goes on slowly: others wait */
#define NS_PER_S INT64_C(1000000000)
#define SHOW "show\n"
#define HANDED_OVER "handed_over\n"

/* ---- Answering ---------------------------------------------------------------------------------- */

static bool is_past(int64_t end_ns) {
    return read_clock_ns(CLOCK_MONOTONIC) > end_ns;
}

/* Returns how many bytes; -1: who asks is too slow, or asks too much */
static ssize_t read_question(int fd, char question[CONTROL_WRITE_MAX + 1], int64_t end_ns) {
    size_t size_bytes = 0;
    ssize_t count = 1;
    while (count != 0 && size_bytes <= CONTROL_WRITE_MAX) {
        if (is_past(end_ns))
            return -1;
        count = read(fd, question + size_bytes, CONTROL_WRITE_MAX + 1 - size_bytes);
        if (count < 0 && errno != EINTR)
            return -1;
        size_bytes += count > 0 ? (size_t)count : 0;
    }
    return size_bytes <= CONTROL_WRITE_MAX ? (ssize_t)size_bytes : -1;
}

/* Who asks may be gone already: that is no reason to end by SIGPIPE. */
static void send_all(int fd, const char *text, size_t size_bytes, int64_t end_ns) {
    while (size_bytes > 0 && !is_past(end_ns)) {
        ssize_t count = send(fd, text, size_bytes, MSG_NOSIGNAL);
        if (count < 0)
            return;
        text += count;
        size_bytes -= (size_t)count;
    }
}

static void answer_line(int fd, int error, const char *reason, int64_t end_ns) {
    char line[CONTROL_REASON_SIZE + 16];
    int length = snprintf(line, sizeof(line), "%d%s%s\n", -error, error ? " " : "", error ? reason : "");
    send_all(fd, line, (size_t)length, end_ns);
}

static void show(const struct fuse_control *control, int fd) {
    struct control_text text;
    int error = control_read(control->control, &view_text, true, &text);
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ANSWERING_MAX_S * NS_PER_S;
    answer_line(fd, error, strerror(-error), end_ns);
    if (error)
        return;
    send_all(fd, text.text, text.size_bytes, end_ns);
    free(text.text);
}

static void tell_handed_over(const struct fuse_control *control, int fd, int64_t end_ns) {
    char line[32];
    const uint64_t count = __atomic_load_n(control->handed_over, __ATOMIC_RELAXED);
    const int length = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)count);
    answer_line(fd, 0, "", end_ns);
    send_all(fd, line, (size_t)length, end_ns);
}

static bool asks_for(const char *question, ssize_t size_bytes, const char *what) {
    return size_bytes == (ssize_t)strlen(what) && memcmp(question, what, strlen(what)) == 0;
}

static void answer(const struct fuse_control *control, int fd) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    char question[CONTROL_WRITE_MAX + 1];
    char reason[CONTROL_REASON_SIZE] = "";
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    ssize_t size_bytes = read_question(fd, question, read_clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NS_PER_S);
    if (size_bytes < 0)
        return;
    control->before(control->context);
    if (size_bytes == 0) {
        answer_line(fd, 0, "", INT64_MAX);
        return;
    }
    if (asks_for(question, size_bytes, SHOW)) {
        show(control, fd);
        return;
    }
    if (control->handed_over && asks_for(question, size_bytes, HANDED_OVER)) {
        tell_handed_over(control, fd, INT64_MAX);
        return;
    }
    int error = control_write(control->control, question, (size_t)size_bytes, reason);
    answer_line(fd, error, reason, INT64_MAX);
}

static void *run(void *argument) {
    const struct fuse_control *control = argument;
    for (;;) {
        CLEANUP_FD int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            answer(control, fd);
        else if (errno == EINVAL) /* it has been shut down */
            return NULL;
        else if (errno != EINTR && errno != ECONNABORTED)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* no descriptors, or no memory */
    }
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

static int listen_at(const char *path, int *ret_fd) {
    struct sockaddr_un address;
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? negative_errno() : unix_address(path, &dir_fd, &address);
    if (error)
        return error;
    const mode_t mask = umask(0177);
    error = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? negative_errno() : 0;
    umask(mask);
    if (error == 0 && listen(fd, 8) < 0)
        error = negative_errno();
    if (error == 0)
        *ret_fd = steal_fd(&fd);
    return error;
}

int fuse_control_start(struct fuse_control *ret_control, const char *path, const struct control *control,
                       void (*before)(void *context), void *context, const uint64_t *handed_over) {
    *ret_control = (struct fuse_control){.fd = -1,
                                         .control = control,
                                         .before = before,
                                         .context = context,
                                         .handed_over = handed_over,
                                         .path = strdup(path)};
    int error = ret_control->path ? listen_at(path, &ret_control->fd) : -ENOMEM;
    if (error == 0) {
        error = quiet_thread_start(&ret_control->thread, run, ret_control);
        if (error)
            close_fd(&ret_control->fd);
        if (error)
            unlink(path);
    }
    if (error)
        free(steal_pointer(&ret_control->path));
    return error;
}

void fuse_control_stop(struct fuse_control *control) {
    if (!control->path)
        return;
    unlink(control->path);
    shutdown(control->fd, SHUT_RDWR);
    pthread_join(control->thread, NULL);
    close_fd(&control->fd);
    free(steal_pointer(&control->path));
}

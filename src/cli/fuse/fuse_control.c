#include "fuse_control.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base.h"
#include "quiet_thread.h"

#define PATIENCE_S 2 /* with who asks and does not go on */
#define SHOW "show\n"

/* ---- Answering ---------------------------------------------------------------------------------- */

/* Returns how many bytes; -1: who asks is too slow, or asks too much */
static ssize_t read_question(int fd, char question[CONTROL_WRITE_MAX + 1]) {
    size_t size_bytes = 0;
    ssize_t count = 1;
    while (count != 0 && size_bytes <= CONTROL_WRITE_MAX) {
        count = read(fd, question + size_bytes, CONTROL_WRITE_MAX + 1 - size_bytes);
        if (count < 0 && errno != EINTR)
            return -1;
        size_bytes += count > 0 ? (size_t)count : 0;
    }
    return size_bytes <= CONTROL_WRITE_MAX ? (ssize_t)size_bytes : -1;
}

/* Who asks may be gone already: that is no reason to end by SIGPIPE. */
static void send_all(int fd, const char *text, size_t size_bytes) {
    while (size_bytes > 0) {
        ssize_t count = send(fd, text, size_bytes, MSG_NOSIGNAL);
        if (count < 0)
            return;
        text += count;
        size_bytes -= (size_t)count;
    }
}

static void answer_line(int fd, int error, const char *reason) {
    char line[CONTROL_REASON_SIZE + 16];
    int length = snprintf(line, sizeof(line), "%d%s%s\n", -error, error ? " " : "", error ? reason : "");
    send_all(fd, line, (size_t)length);
}

static void show(const struct fuse_control *control, int fd) {
    struct control_text text;
    int error = control_read(control->control, &view_text, true, &text);
    answer_line(fd, error, strerror(-error));
    if (error)
        return;
    send_all(fd, text.text, text.size_bytes);
    free(text.text);
}

static void answer(const struct fuse_control *control, int fd) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    char question[CONTROL_WRITE_MAX + 1];
    char reason[CONTROL_REASON_SIZE] = "";
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    ssize_t size_bytes = read_question(fd, question);
    if (size_bytes < 0)
        return;
    control->before(control->context);
    if (size_bytes == 0) {
        answer_line(fd, 0, "");
        return;
    }
    if (size_bytes == (ssize_t)strlen(SHOW) && memcmp(question, SHOW, strlen(SHOW)) == 0) {
        show(control, fd);
        return;
    }
    int error = control_write(control->control, question, (size_t)size_bytes, reason);
    answer_line(fd, error, reason);
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
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return negative_errno();
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    const mode_t mask = umask(0177);
    int error = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? negative_errno() : 0;
    umask(mask);
    if (error == 0 && listen(fd, 8) < 0)
        error = negative_errno();
    if (error == 0)
        *ret_fd = steal_fd(&fd);
    return error;
}

int fuse_control_start(struct fuse_control *ret_control, const char *path, const struct control *control,
                       void (*before)(void *context), void *context) {
    *ret_control =
        (struct fuse_control){.fd = -1, .control = control, .before = before, .context = context, .path = strdup(path)};
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

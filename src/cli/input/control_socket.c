/* An answer is a line, "0" or an error number and its reason, and what was asked for behind it. */
#include "control_socket.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base.h"
#include "unix_address.h"

#define PATIENCE_S 5    /* without anything happening */
#define ANSWER_MAX_S 20 /* of waiting for the whole answer */
#define NS_PER_S INT64_C(1000000000)
#define CHUNK_BYTES 65536

static int timed_out_or_errno(void) {
    return errno == EAGAIN ? -ETIMEDOUT : negative_errno();
}

static int connect_to(const char *path, int *ret_fd) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address;
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? negative_errno() : unix_address(path, &dir_fd, &address);
    if (error)
        return error;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return timed_out_or_errno();
    *ret_fd = steal_fd(&fd);
    return 0;
}

static int send_all(int fd, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t count = send(fd, text, left, MSG_NOSIGNAL);
        if (count < 0)
            return timed_out_or_errno();
        text += count;
        left -= (size_t)count;
    }
    return shutdown(fd, SHUT_WR) < 0 ? negative_errno() : 0;
}

static int read_all(int fd, char **ret_text, size_t *ret_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ANSWER_MAX_S * NS_PER_S;
    for (;;) {
        char *grown = realloc(text, size_bytes + CHUNK_BYTES + 1);
        if (!grown)
            return -ENOMEM;
        text = grown;
        const ssize_t count = read(fd, text + size_bytes, CHUNK_BYTES);
        if (count < 0)
            return timed_out_or_errno();
        size_bytes += (size_t)count;
        text[size_bytes] = '\0';
        if (count == 0)
            break;
        if (read_clock_ns(CLOCK_MONOTONIC) > end_ns)
            return -ETIMEDOUT;
    }
    *ret_text = steal_pointer(&text);
    *ret_bytes = size_bytes;
    return 0;
}

/* Takes the first line off. Without one, whoever answered has ended meanwhile. */
static int take_line(char *text, size_t *bytes) {
    char *end = text ? memchr(text, '\n', *bytes) : NULL;
    if (!end)
        return -ECONNRESET;
    const long number = strtol(text, NULL, 10);
    *bytes -= (size_t)(end + 1 - text);
    memmove(text, end + 1, *bytes + 1);
    return number > 0 && number < 4096 ? -(int)number : number == 0 ? 0 : -EIO;
}

bool control_socket_is_at(const char *path) {
    struct stat attributes;
    return lstat(path, &attributes) == 0 && S_ISSOCK(attributes.st_mode);
}

int control_socket_ask(const char *path, const char *question, char **ret_text, size_t *ret_bytes) {
    CLEANUP_FD int fd = -1;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = connect_to(path, &fd);
    if (error == 0)
        error = send_all(fd, question);
    if (error == 0)
        error = read_all(fd, &text, &size_bytes);
    if (error == 0)
        error = take_line(text, &size_bytes);
    if (error == 0) {
        *ret_text = steal_pointer(&text);
        *ret_bytes = size_bytes;
    }
    return error;
}

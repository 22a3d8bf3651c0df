/* An answer is a line, "0" or an error number and its reason, and what was asked for behind it. */
#include "control_socket.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base.h"

#define PATIENCE_S 5
#define CHUNK_BYTES 65536

static int connect_to(const char *path, int *ret_fd) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (fd < 0)
        return negative_errno();
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return errno == EAGAIN ? -ETIMEDOUT : negative_errno();
    *ret_fd = steal_fd(&fd);
    return 0;
}

static int send_all(int fd, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t count = send(fd, text, left, MSG_NOSIGNAL);
        if (count < 0)
            return negative_errno();
        text += count;
        left -= (size_t)count;
    }
    return shutdown(fd, SHUT_WR) < 0 ? negative_errno() : 0;
}

static int read_all(int fd, char **ret_text, size_t *ret_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    for (;;) {
        char *grown = realloc(text, size_bytes + CHUNK_BYTES + 1);
        if (!grown)
            return -ENOMEM;
        text = grown;
        const ssize_t count = read(fd, text + size_bytes, CHUNK_BYTES);
        if (count < 0)
            return errno == EAGAIN ? -ETIMEDOUT : negative_errno();
        size_bytes += (size_t)count;
        text[size_bytes] = '\0';
        if (count == 0)
            break;
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

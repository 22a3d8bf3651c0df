/* An answer is a line, "0" or an error number and its reason, followed by the requested data. */
#include "control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base.h"
#include "str.h"

#define PATIENCE_S 5    /* without progress */
#define ANSWER_MAX_S 20 /* for the whole answer */
#define FILE_MAX_S 60   /* for a command that writes a file */
#define ASK_ATTEMPTS 8
#define NAME_IT "name\n"
#define WITH_FILE "file\n"
#define CHUNK_BYTES 65536
#define ANSWER_BYTES_MAX (UINT64_C(1) << 28)

static int timed_out_or_errno(void) {
    return errno == EAGAIN ? -ETIMEDOUT : negative_errno();
}

static void set_patience(int fd, int seconds) {
    const struct timeval patience = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* An address has room for a path of 107 bytes. A longer path is replaced by one through a descriptor of its directory,
 * which the caller closes once the address has been used.
 * Errors: of opening the directory; -ENAMETOOLONG: the name alone is too long */
static int address_of(const char *path, int *ret_dir_fd, struct sockaddr_un *ret_address) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    int error = open_parent(AT_FDCWD, path, &dir_fd, &name);
    if (error)
        return error;
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (length >= (int)sizeof(address.sun_path))
        length = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
    if (length >= (int)sizeof(address.sun_path))
        return -ENAMETOOLONG;
    *ret_dir_fd = steal_fd(&dir_fd);
    *ret_address = address;
    return 0;
}

static int connect_to(const char *path, int *ret_fd) {
    struct sockaddr_un address;
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? negative_errno() : address_of(path, &dir_fd, &address);
    if (error)
        return error;
    set_patience(fd, PATIENCE_S);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return timed_out_or_errno();
    *ret_fd = steal_fd(&fd);
    return 0;
}

/* ---- The question ------------------------------------------------------------------------------- */

/* Sends one message with something attached. */
static ssize_t send_with(int fd, struct iovec text, int type, const void *data, size_t size_bytes) {
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } room = {.bytes = {0}};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = CMSG_SPACE(size_bytes)};
    room.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(size_bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = type};
    memcpy(CMSG_DATA(&room.align), data, size_bytes);
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* Sends credentials with the number of the server's process, which only its administrators can send; the kernel tells the
 * server who others are. The NUL byte ends the question. */
static int send_question(int fd, const char *question) {
    const struct iovec text = {.iov_base = (void *)(uintptr_t)question, .iov_len = strlen(question) + 1};
    struct ucred shown;
    socklen_t size_bytes = sizeof(shown);
    ssize_t count = -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &shown, &size_bytes) == 0) {
        shown.uid = getuid();
        shown.gid = getgid();
        count = send_with(fd, text, SCM_CREDENTIALS, &shown, sizeof(shown));
    }
    if (count < 0 && errno == EPERM)
        count = send(fd, text.iov_base, text.iov_len, MSG_NOSIGNAL);
    if (count < 0)
        return timed_out_or_errno();
    return (size_t)count == text.iov_len ? 0 : -EMSGSIZE;
}

/* The server hangs up on a client that sends nothing for a while, as may happen on a busy machine: the question was not
 * received then. */
static int connect_and_ask(const char *path, const char *question, int *ret_fd) {
    int error = -EPIPE;
    for (unsigned attempt = 0; error == -EPIPE && attempt < ASK_ATTEMPTS; attempt++) {
        CLEANUP_FD int fd = -1;
        error = connect_to(path, &fd);
        if (error == 0)
            error = send_question(fd, question);
        if (error == 0)
            *ret_fd = steal_fd(&fd);
    }
    return error;
}

/* ---- The answer --------------------------------------------------------------------------------- */

/* Answers a question of the server before the final answer: passes the file, for the server knows by now that we may ask; or
 * gives the complete file its name, and reports that. Returns 1 if there is none, and the text is the answer */
static int go_on(int fd, const struct control_passed *passed, const char *text) {
    const struct iovec byte = {.iov_base = (char[]){0}, .iov_len = 1};
    char line[16];
    ssize_t sent;
    if (strcmp(text, WITH_FILE) == 0) {
        if (!passed)
            return -EPROTO;
        sent = send_with(fd, byte, SCM_RIGHTS, &passed->fd, sizeof(passed->fd));
    } else if (strcmp(text, NAME_IT) == 0) {
        const int error = passed ? passed->give_name(passed->context) : -EPROTO;
        const int length = snprintf(line, sizeof(line), "%d\n", -error);
        sent = send(fd, line, (size_t)length, MSG_NOSIGNAL);
    } else {
        return 1;
    }
    return sent < 0 ? timed_out_or_errno() : 0;
}

static int read_all(int fd, const struct control_passed *passed, char **ret_text, size_t *ret_bytes) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + (passed ? FILE_MAX_S : ANSWER_MAX_S) * NS_PER_S;
    CLEANUP_STR struct str text = {0};
    char chunk[CHUNK_BYTES];
    ssize_t count;
    while ((count = read(fd, chunk, sizeof(chunk))) > 0) {
        str_add_bytes(&text, chunk, (size_t)count);
        if (text.failed || text.length > ANSWER_BYTES_MAX)
            return text.failed ? -ENOMEM : -EFBIG;
        const int step = go_on(fd, passed, str_text(&text));
        if (step < 0)
            return step;
        if (step == 0)
            str_cut(&text, 0);
        if (read_clock_ns(CLOCK_MONOTONIC) > end_ns)
            return -ETIMEDOUT;
    }
    if (count < 0)
        return timed_out_or_errno();
    *ret_bytes = text.length;
    *ret_text = str_steal(&text);
    return *ret_text ? 0 : -ENOMEM;
}

bool control_socket_is_at(const char *path) {
    struct stat attributes;
    return lstat(path, &attributes) == 0 && S_ISSOCK(attributes.st_mode);
}

int control_socket_ask(const char *path, const char *question, const struct control_passed *passed, char **ret_text,
                       size_t *ret_bytes) {
    CLEANUP_FD int fd = -1;
    CLEANUP_FREE char *text = NULL;
    CLEANUP_FREE char *with_file = NULL;
    size_t size_bytes = 0;
    if (passed && asprintf(&with_file, WITH_FILE "%s", question) < 0)
        return -ENOMEM;
    int error = connect_and_ask(path, with_file ? with_file : question, &fd);
    if (error == 0 && passed)
        set_patience(fd, FILE_MAX_S);
    if (error == 0)
        error = read_all(fd, passed, &text, &size_bytes);
    if (error)
        return error;
    char *end = memchr(text, '\n', size_bytes);
    const long number = strtol(text, NULL, 10);
    if (!end) /* the server has ended meanwhile */
        return -ECONNRESET;
    if (number != 0) {
        const char *reason = text + strcspn(text, " \n");
        reason += reason < end;
        *end = '\0';
        memmove(text, reason, strlen(reason) + 1);
        *ret_text = steal_pointer(&text);
        return number > 0 && number < 4096 ? -(int)number : -EIO;
    }
    *ret_bytes = size_bytes - (size_t)(end + 1 - text);
    memmove(text, end + 1, *ret_bytes + 1);
    *ret_text = steal_pointer(&text);
    return 0;
}

int control_socket_await_end(const char *path, int *ret_fd) {
    CLEANUP_FD int fd = -1;
    char line[2];
    int error = connect_to(path, &fd);
    if (error == 0)
        error = send_question(fd, "final");
    if (error)
        return error;
    const ssize_t count = recv(fd, line, sizeof(line), MSG_WAITALL);
    if (count != sizeof(line))
        return count < 0 ? timed_out_or_errno() : -ECONNRESET;
    if (memcmp(line, "0\n", sizeof(line)) != 0)
        return -EACCES;
    *ret_fd = steal_fd(&fd);
    return 0;
}

int control_socket_outcome(int fd, int timeout_ms, char **ret_outcome) {
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int count;
    do
        count = poll(&answer, 1, timeout_ms);
    while (count < 0 && errno == EINTR);
    if (count <= 0)
        return count == 0 ? -EAGAIN : negative_errno();
    int error = read_all(fd, NULL, &text, &size_bytes);
    char *end = error || !text ? NULL : strchr(text, '\n');
    if (!end)
        return error ? error : -ECONNRESET;
    *end = '\0';
    *ret_outcome = steal_pointer(&text);
    return 0;
}

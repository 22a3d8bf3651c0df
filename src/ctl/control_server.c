/* One thread answers one connection at a time, and waits for no client longer than the limits below. A client is
 * trusted when its credentials prove it, and before that no descriptor is received. */
#include "control_server.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base.h"
#include "quiet_thread.h"
#include "waiting.h"

#define PATIENCE_S 2        /* with a client that stops sending or receiving, */
#define ANSWERING_MAX_S 5   /* and with a slow client: others wait */
#define NAMING_MAX_MS 1500  /* with a client that names a file: less than the wait at the end */
#define STRANGER_MAX_MS 250 /* with a client that has connected, but sent nothing */
#define STOPPING_MAX_S 2
#define WAITING_MAX 128 /* connections that nobody has accepted yet */
#define SHOW "show"
#define HANDED_OVER "handed_over"
#define FINAL "final"
#define NAME_IT "name\n"
#define WITH_FILE "file\n"

#if !defined SO_PASSRIGHTS && SOL_SOCKET == 1
#define SO_PASSRIGHTS 83 /* Linux 6.16; a few architectures have another number */
#endif

/* ---- A question --------------------------------------------------------------------------------- */

struct question {
    int fd;      /* the connection */
    int file_fd; /* received with the question; -1: none */
    bool is_trusted;
    size_t size_bytes;
    char text[CONTROL_WRITE_MAX + 2];
};

static bool is_past(int64_t end_ns) {
    return read_clock_ns(CLOCK_MONOTONIC) > end_ns;
}

static void set_patience(int fd, int option, int64_t ms) {
    const struct timeval patience = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, option, &patience, sizeof(patience));
}

/* Descriptors are received only from trusted clients: closing one can take as long as its sender likes. So the kernel
 * lets nobody send any before. An older kernel drops those without room, and then waits where it drops the last one. */
static void let_pass_files(int fd, bool is_let) {
#ifdef SO_PASSRIGHTS
    const int value = is_let;
    setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof(value));
#else
    (void)fd, (void)is_let;
#endif
}

static void take_control(struct question *question, struct msghdr *message) {
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET)
            continue;
        if (head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int))) {
            close_fd(&question->file_fd);
            memcpy(&question->file_fd, CMSG_DATA(head), sizeof(int));
        } else if (head->cmsg_type == SCM_CREDENTIALS) {
            struct ucred shown;
            memcpy(&shown, CMSG_DATA(head), sizeof(shown));
            question->is_trusted |= shown.pid == getpid() || (getuid() != 0 && shown.uid == getuid());
        }
    }
}

union ancillary {
    char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* Returns how many bytes; 0: the end; -1: the client is too slow */
static ssize_t receive_message(struct question *question, struct iovec room, size_t control_bytes) {
    union ancillary control;
    struct msghdr message = {
        .msg_iov = &room, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = control_bytes};
    ssize_t count;
    do
        count = recvmsg(question->fd, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count >= 0)
        take_control(question, &message);
    return count;
}

/* Reads the whole question, without its end. Returns false if the client is too slow, or the question too long. */
static bool read_question(struct question *question) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NS_PER_S;
    ssize_t count = 1;
    set_patience(question->fd, SO_RCVTIMEO, PATIENCE_S * INT64_C(1000));
    while (count > 0) {
        if (question->size_bytes > CONTROL_WRITE_MAX || is_past(end_ns))
            return false;
        const struct iovec room = {.iov_base = question->text + question->size_bytes,
                                   .iov_len = CONTROL_WRITE_MAX + 1 - question->size_bytes};
        count = receive_message(question, room, CMSG_SPACE(sizeof(struct ucred)));
        if (count < 0)
            return false;
        question->size_bytes += (size_t)count;
        if (count > 0 && question->text[question->size_bytes - 1] == '\0') {
            question->size_bytes--;
            break;
        }
        if (!question->is_trusted)
            break;
    }
    question->text[question->size_bytes] = '\0';
    return true;
}

/* ---- Answers ------------------------------------------------------------------------------------ */

/* The client may have gone: this must not end us by SIGPIPE. */
static bool send_all(int fd, const char *text, size_t size_bytes, int64_t end_ns) {
    while (size_bytes > 0 && !is_past(end_ns)) {
        ssize_t count = send(fd, text, size_bytes, MSG_NOSIGNAL);
        if (count < 0)
            return false;
        text += count;
        size_bytes -= (size_t)count;
    }
    return size_bytes == 0;
}

static void answer_line(int fd, int error, const char *reason, int64_t end_ns) {
    char line[CONTROL_REASON_SIZE + 16];
    int length = snprintf(line, sizeof(line), "%d%s%s\n", -error, error ? " " : "", error ? reason : "");
    send_all(fd, line, (size_t)length, end_ns);
}

static void show(const struct control_server *server, int fd) {
    struct control_text text;
    int error = control_read(server->control, &view_text, true, &text);
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ANSWERING_MAX_S * NS_PER_S;
    answer_line(fd, error, strerror(-error), end_ns);
    if (error)
        return;
    send_all(fd, text.text, text.size_bytes, end_ns);
    free(text.text);
}

static void tell_handed_over(const struct control_server *server, int fd) {
    char line[32];
    const uint64_t count = __atomic_load_n(server->handed_over, __ATOMIC_RELAXED);
    const int length = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)count);
    answer_line(fd, 0, "", INT64_MAX);
    send_all(fd, line, (size_t)length, INT64_MAX);
}

/* A client that has disconnected needs no answer any more. */
static void drop_waiters_gone(struct control_server *server) {
    unsigned kept = 0;
    for (unsigned i = 0; i < server->waiter_count; i++) {
        char byte;
        if (recv(server->waiters[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            close_fd(&server->waiters[i]);
        else
            server->waiters[kept++] = server->waiters[i];
    }
    server->waiter_count = kept;
}

/* Keeps the connection. */
static void let_wait(struct control_server *server, struct question *question) {
    drop_waiters_gone(server);
    const bool has_room = server->waiter_count < CONTROL_WAITERS_MAX;
    answer_line(question->fd, has_room ? 0 : -EAGAIN, "too many wait for the end", INT64_MAX);
    if (has_room)
        server->waiters[server->waiter_count++] = steal_fd(&question->fd);
}

static int read_outcome(int fd) {
    char outcome[16];
    ssize_t count;
    do
        count = recv(fd, outcome, sizeof(outcome) - 1, 0);
    while (count < 0 && errno == EINTR);
    if (count <= 0)
        return count == 0 ? -EPIPE : -ETIMEDOUT;
    outcome[count] = '\0';
    const long number = strtol(outcome, NULL, 10);
    return number == 0 ? 0 : number > 0 && number < 4096 ? -(int)number : -EIO;
}

/* Asks the client to give the file its name, and reads the result. A client that is killed before its answer may have
 * named the file. If a file gets its name too late, the file is empty, since its calls are still in the profile. */
static int have_name_given(void *context) {
    const struct question *question = context;
    struct control_file_name before;
    control_file_note_name(question->file_fd, &before);
    set_patience(question->fd, SO_RCVTIMEO, NAMING_MAX_MS);
    int error = send_all(question->fd, NAME_IT, strlen(NAME_IT), INT64_MAX) ? read_outcome(question->fd) : -EPIPE;
    if (error && control_file_is_renamed(question->file_fd, &before))
        return 0;
    if (error)
        (void)!ftruncate(question->file_fd, 0);
    return error;
}

static bool asks_for(const struct question *question, const char *what) {
    const size_t length = strlen(what);
    return strncmp(question->text, what, length) == 0 &&
           (question->text[length] == '\0' || strcmp(question->text + length, "\n") == 0);
}

/* Asks for the file: the client is known to be trusted by now. */
static bool take_promised_file(struct question *question) {
    char byte;
    const struct iovec room = {.iov_base = &byte, .iov_len = sizeof(byte)};
    question->size_bytes -= strlen(WITH_FILE);
    memmove(question->text, question->text + strlen(WITH_FILE), question->size_bytes + 1);
    let_pass_files(question->fd, true);
    return send_all(question->fd, WITH_FILE, strlen(WITH_FILE), INT64_MAX) &&
           receive_message(question, room, sizeof(union ancillary)) > 0 && question->file_fd >= 0;
}

static void answer(struct control_server *server, struct question *question) {
    char reason[CONTROL_REASON_SIZE] = "";
    if (strncmp(question->text, WITH_FILE, strlen(WITH_FILE)) == 0 && !take_promised_file(question)) {
        answer_line(question->fd, -EBADF, "the file has not come", INT64_MAX);
        return;
    }
    const struct control_asker asker = {.fd = question->file_fd, .give_name = have_name_given, .context = question};
    if (server->before)
        server->before(server->context);
    if (question->size_bytes == 0) {
        answer_line(question->fd, 0, "", INT64_MAX);
    } else if (asks_for(question, SHOW)) {
        show(server, question->fd);
    } else if (server->handed_over && asks_for(question, HANDED_OVER)) {
        tell_handed_over(server, question->fd);
    } else if (asks_for(question, FINAL)) {
        let_wait(server, question);
    } else {
        int error = control_write(server->control, &asker, question->text, question->size_bytes, reason);
        answer_line(question->fd, error, reason, INT64_MAX);
    }
}

/* fd: taken over */
static void serve(struct control_server *server, int fd) {
    struct question question = {.fd = fd, .file_fd = -1};
    set_patience(fd, SO_SNDTIMEO, PATIENCE_S * INT64_C(1000));
    if (read_question(&question) && question.is_trusted)
        answer(server, &question);
    else if (!question.is_trusted)
        answer_line(
            fd, -EACCES,
            "only who has mounted may ask, unless that is root, and who has CAP_SYS_ADMIN in the user namespace "
            "of the process that profiles the mount",
            INT64_MAX);
    close_fd(&question.file_fd);
    close_fd(&question.fd);
}

/* ---- Strangers: clients that have connected and not asked yet ---------------------------------- */

#define STRANGERS_MAX 16 /* descriptors that others may want */

/* In the order of their connection. */
struct strangers {
    unsigned count;
    struct pollfd connections[STRANGERS_MAX + 1]; /* and the listening socket behind the last */
    int64_t came_ns[STRANGERS_MAX];
};

static void remove_stranger(struct strangers *strangers, unsigned index) {
    const unsigned behind = --strangers->count - index;
    memmove(&strangers->connections[index], &strangers->connections[index + 1], behind * sizeof(struct pollfd));
    memmove(&strangers->came_ns[index], &strangers->came_ns[index + 1], behind * sizeof(int64_t));
}

/* A question that has arrived by now is answered. A client that sends one later gets an error, and can try again. */
static void give_up_stranger(struct control_server *server, struct strangers *strangers, unsigned index) {
    const int fd = strangers->connections[index].fd;
    char byte;
    remove_stranger(strangers, index);
    shutdown(fd, SHUT_RD);
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        serve(server, fd);
    else
        close(fd);
}

/* Nobody waits for a client that sends nothing. */
static void serve_strangers(struct control_server *server, struct strangers *strangers) {
    for (unsigned i = 0; i < strangers->count;) {
        const struct pollfd *connection = &strangers->connections[i];
        const int fd = connection->fd;
        if (connection->revents) {
            remove_stranger(strangers, i);
            serve(server, fd);
        } else if (is_past(strangers->came_ns[i] + STRANGER_MAX_MS * NS_PER_MS)) {
            give_up_stranger(server, strangers, i);
        } else {
            i++;
        }
    }
}

/* Returns whether a new connection waits at the socket. */
static bool wait_for_strangers(const struct control_server *server, struct strangers *strangers) {
    struct pollfd *own = &strangers->connections[strangers->count];
    *own = (struct pollfd){.fd = server->fd, .events = POLLIN};
    const int count = poll(strangers->connections, strangers->count + 1, strangers->count > 0 ? STRANGER_MAX_MS : -1);
    for (unsigned i = 0; count < 0 && i < strangers->count; i++)
        strangers->connections[i].revents = 0;
    return count > 0 && own->revents;
}

static void *run(void *argument) {
    struct control_server *server = argument;
    struct strangers strangers = {.count = 0};
    for (;;) {
        bool is_somebody_new = wait_for_strangers(server, &strangers);
        serve_strangers(server, &strangers);
        int fd = is_somebody_new ? accept4(server->fd, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0) {
            if (strangers.count == STRANGERS_MAX)
                give_up_stranger(server, &strangers, 0);
            strangers.connections[strangers.count] = (struct pollfd){.fd = fd, .events = POLLIN};
            strangers.came_ns[strangers.count++] = read_clock_ns(CLOCK_MONOTONIC);
        } else if (is_somebody_new && errno == EINVAL) /* it has been shut down */
            break;
        else if (is_somebody_new && errno != EINTR && errno != ECONNABORTED)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* no descriptors, or no memory */
    }
    for (unsigned i = 0; i < strangers.count; i++)
        close(strangers.connections[i].fd);
    return NULL;
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

static void close_socket(struct control_server *server) {
    if (server->name)
        unlinkat(server->dir_fd, server->name, 0);
    free(steal_pointer(&server->name));
    close_fd(&server->fd);
    close_fd(&server->dir_fd);
}

/* By a path that no mount can be mounted over. */
static int listen_in(struct control_server *server) {
    const int yes = 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0 || setsockopt(server->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0)
        return negative_errno();
    let_pass_files(server->fd, false);
    int length =
        snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", server->dir_fd, server->name);
    if (length >= (int)sizeof(address.sun_path))
        return -ENAMETOOLONG;
    unlinkat(server->dir_fd, server->name, 0);
    const mode_t mask = umask(0177);
    int error = bind(server->fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? negative_errno() : 0;
    umask(mask);
    return error == 0 && listen(server->fd, WAITING_MAX) < 0 ? negative_errno() : error;
}

int control_server_listen(struct control_server *ret_server, const char *path) {
    struct control_server server = CONTROL_SERVER_NONE;
    const char *name;
    int error = open_parent(AT_FDCWD, path, &server.dir_fd, &name);
    if (error == 0 && !(server.name = strdup(name)))
        error = -ENOMEM;
    if (error == 0)
        error = listen_in(&server);
    if (error)
        close_socket(&server);
    *ret_server = server;
    return error;
}

int control_server_start(struct control_server *server, const struct control *control, void (*before)(void *context),
                         void *context, const uint64_t *handed_over) {
    if (!server->name)
        return 0;
    server->control = control;
    server->before = before;
    server->context = context;
    server->handed_over = handed_over;
    int error = quiet_thread_start(&server->thread, run, server);
    server->has_thread = error == 0;
    if (error)
        close_socket(server);
    return error;
}

void control_server_tell_end(struct control_server *server, const char *outcome) {
    for (unsigned i = 0; i < server->waiter_count; i++) {
        send_all(server->waiters[i], outcome, strlen(outcome), INT64_MAX);
        close_fd(&server->waiters[i]);
    }
    server->waiter_count = 0;
}

bool control_server_stop(struct control_server *server) {
    if (server->name)
        unlinkat(server->dir_fd, server->name, 0);
    if (server->has_thread) {
        shutdown(server->fd, SHUT_RDWR);
        if (!join_within(server->thread, STOPPING_MAX_S))
            return false;
        server->has_thread = false;
    }
    close_socket(server);
    return true;
}

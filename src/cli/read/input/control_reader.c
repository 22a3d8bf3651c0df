/* The child sends a header, and the text behind it: if it is killed in between, it has sent less than it announced. */
#include "control_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base.h"
#include "control_socket.h"

#define CHUNK_BYTES 65536

struct header {
    int error; /* 0 or -errno */
    size_t text_bytes;
};

/* Appends what can be read at once, at most a chunk.
 * Returns how many bytes; 0: it has ended; or -errno */
static ssize_t append_chunk(int fd, struct str *text) {
    char chunk[CHUNK_BYTES];
    const ssize_t count = read(fd, chunk, sizeof(chunk));
    if (count < 0)
        return negative_errno();
    str_add_bytes(text, chunk, (size_t)count);
    return text->failed ? -ENOMEM : count;
}

/* ---- The child ---------------------------------------------------------------------------------- */

/* Makes no request that the mount would count or pass on to the lower directory. */
static int read_whole(const char *path, char **ret_text, size_t *ret_bytes) {
    if (control_socket_is_at(path))
        return control_socket_ask(path, "show\n", NULL, ret_text, ret_bytes);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat attributes;
    if (fd < 0 || fstat(fd, &attributes) < 0)
        return negative_errno();
    if (!S_ISREG(attributes.st_mode))
        return -ENOENT;
    CLEANUP_STR struct str text = {0};
    ssize_t count;
    do
        count = append_chunk(fd, &text);
    while (count > 0 || count == -EINTR);
    *ret_bytes = text.length;
    *ret_text = str_steal(&text);
    return (int)count;
}

/* It may outlive its parent: so it keeps neither the terminal nor a pipe that somebody reads. */
static _Noreturn void be_child(control_read_fn read_name, const char *name, int pipe_fd, pid_t parent,
                               const sigset_t *mask_before) {
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    char *text = NULL;
    struct header header = {.error = 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    dup2(pipe_fd, 0);
    close_range(1, ~0U, 0); /* before Linux 5.9 open files stay open */
    reserve_standard_fds();
    /* The handlers are the parent's, and so is the state that they would restore. */
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &by_default, NULL);
    sigprocmask(SIG_SETMASK, mask_before, NULL);
    if (getppid() != parent)
        _exit(1);
    header.error = read_name(name, &text, &header.text_bytes);
    if (write_all(0, &header, sizeof(header)) == 0 && header.error == 0)
        write_all(0, text, header.text_bytes);
    _exit(0);
}

/* ---- The parent --------------------------------------------------------------------------------- */

int control_reader_begin_with(struct control_reader *reader, control_read_fn read_name, const char *name) {
    const pid_t parent = getpid();
    sigset_t all, before;
    int ends[2];
    if (reader->pid > 0)
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return negative_errno();
    CLEANUP_FD int read_fd = ends[0];
    CLEANUP_FD int write_fd = ends[1];
    if (fcntl(read_fd, F_SETFL, O_NONBLOCK) < 0)
        return negative_errno();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0)
        be_child(read_name, name, write_fd, parent, &before);
    const int error = pid < 0 ? negative_errno() : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!error)
        *reader =
            (struct control_reader){.pid = pid, .fd = steal_fd(&read_fd), .began_ns = read_clock_ns(CLOCK_MONOTONIC)};
    return error;
}

int control_reader_begin(struct control_reader *reader, const char *path) {
    return control_reader_begin_with(reader, read_whole, path);
}

static int parse_answer(const struct control_reader *reader, struct aggstats_profile *ret_profile) {
    struct header header;
    if (reader->answer.length < sizeof(header))
        return -EIO;
    memcpy(&header, reader->answer.text, sizeof(header));
    if (header.error)
        return header.error;
    if (reader->answer.length != sizeof(header) + header.text_bytes)
        return -EIO;
    if (header.text_bytes == 0)
        return -EBADMSG; /* fmemopen() may fail for 0 bytes */
    CLEANUP_STREAM FILE *stream = fmemopen(reader->answer.text + sizeof(header), header.text_bytes, "r");
    if (!stream)
        return negative_errno();
    struct aggstats_parse_error why;
    return aggstats_profile_parse(stream, ret_profile, &why);
}

/* A child that still runs may hang for good. */
static void forget(struct control_reader *reader, bool is_running) {
    if (is_running) {
        kill(reader->pid, SIGKILL);
        waitpid(reader->pid, NULL, WNOHANG);
    }
    close(reader->fd);
    str_finish(&reader->answer);
    *reader = (struct control_reader){.pid = 0};
}

int control_reader_collect(struct control_reader *reader, struct aggstats_profile *ret_profile) {
    if (reader->pid == 0)
        return -EAGAIN;
    ssize_t count;
    do
        count = append_chunk(reader->fd, &reader->answer);
    while (count > 0 || count == -EINTR);
    if (count == -EAGAIN)
        return -EAGAIN;
    if (count == 0)
        waitpid(reader->pid, NULL, 0); /* does not hang: the child closes the pipe last */
    int error = count < 0 ? (int)count : parse_answer(reader, ret_profile);
    forget(reader, count < 0);
    return error;
}

void control_reader_wait(const struct control_reader *reader, int64_t timeout_ns) {
    const struct timespec timeout = timespec_of(timeout_ns);
    struct pollfd answer = {.fd = reader->fd, .events = POLLIN};
    if (reader->pid > 0 && timeout_ns > 0)
        ppoll(&answer, 1, &timeout, NULL);
}

int64_t control_reader_age_ns(const struct control_reader *reader) {
    return reader->pid > 0 ? read_clock_ns(CLOCK_MONOTONIC) - reader->began_ns : 0;
}

void control_reader_finish(struct control_reader *reader) {
    if (reader->pid > 0)
        forget(reader, true);
}

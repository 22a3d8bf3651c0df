/* The process that starts those that read programs.
 *
 * It was forked before anything was counted, so it and its children have no memory in common with osprof, and there are no
 * threads in it. A reader that waits for a file system that hangs cannot be killed: it is left, another one is started, and
 * the whole device is noted as unreadable. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "proc.h"
#include "protocol.h"
#include "reader_rights.h"

#define CHILDREN_MAX 8 /* of which all but READERS hang */
#define ENDS_MS 50     /* a process that was killed, unless it hangs */
#define NS_PER_MS 1000000
#define STATE_FIELD 3

struct starter {
    int control;
    struct unreadable *unreadable;
    pid_t readers[READERS]; /* the latest of each number; 0: none */
    unsigned child_count;
};

/* It lives as long as its parent, which signals of the terminal end. */
static void keep_away_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        signal(signals[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Returns -1 when the other end is closed. */
static int receive_socket(int control, unsigned *ret_number) {
    unsigned char byte = 0;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } memory;
    struct iovec data = {.iov_base = &byte, .iov_len = sizeof(byte)};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &memory, .msg_controllen = sizeof(memory)};
    int socket = -1;
    ssize_t length;
    do
        length = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    const struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(&socket, CMSG_DATA(header), sizeof(socket));
    *ret_number = byte % READERS;
    return socket;
}

static bool hangs(pid_t process) {
    struct proc_stat stat;
    const char *state = proc_stat_read((uint64_t)process, &stat) ? proc_stat_field(&stat, STATE_FIELD) : NULL;
    return state && state[0] == 'D';
}

static void end_reader(struct starter *starter, unsigned number) {
    struct file_place *at = &starter->unreadable->at[number];
    const pid_t reader = starter->readers[number];
    pid_t ended = 0;
    if (reader > 0)
        kill(reader, SIGKILL);
    for (int i = 0; i < ENDS_MS && reader > 0 && ended == 0; i++) {
        ended = waitpid(reader, NULL, WNOHANG);
        if (ended == 0)
            nanosleep(&(const struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    }
    if (ended > 0)
        starter->child_count--;
    else if (reader > 0 && hangs(reader))
        at->inode = 0;
    starter->readers[number] = 0;
    unreadable_note(starter->unreadable, at);
    *at = (struct file_place){.inode = 0};
}

/* Those that have ended by themselves, or hang no more. */
static void reap(struct starter *starter) {
    for (pid_t ended; (ended = waitpid(-1, NULL, WNOHANG)) > 0; starter->child_count--)
        for (unsigned i = 0; i < READERS; i++)
            if (starter->readers[i] == ended)
                starter->readers[i] = 0;
}

static void start_reader(struct starter *starter, unsigned number, int socket) {
    static const char *const names[READERS] = {"osprof-stacks-1", "osprof-stacks-2"};
    const pid_t parent = getpid();
    const pid_t reader = fork();
    if (reader == 0) {
        close(starter->control);
        prctl(PR_SET_NAME, names[number], 0, 0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() == parent)
            reader_run(socket, number, starter->unreadable);
        _exit(0);
    }
    if (reader > 0) {
        starter->readers[number] = reader;
        starter->child_count++;
    }
}

void starter_run(int control) {
    struct starter starter = {.control = control, .unreadable = unreadable_create()};
    unsigned number;
    int socket;
    keep_away_signals();
    prctl(PR_SET_NAME, "osprof-stacks", 0, 0, 0);
    const int error = starter.unreadable ? reader_rights_give_up() : -ENOMEM;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* giving up rights undoes it */
    if (send(control, &error, sizeof(error), MSG_NOSIGNAL) < 0 || error)
        return;
    while ((socket = receive_socket(control, &number)) >= 0) {
        end_reader(&starter, number);
        reap(&starter);
        if (starter.child_count < CHILDREN_MAX)
            start_reader(&starter, number, socket);
        close(socket);
    }
    for (unsigned i = 0; i < READERS; i++)
        if (starter.readers[i] > 0)
            kill(starter.readers[i], SIGKILL);
}

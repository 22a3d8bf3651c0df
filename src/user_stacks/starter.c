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

#define CHILDREN_MAX 8 /* of which all but one hang */
#define ENDS_MS 50     /* a process that was killed, unless it hangs */
#define NS_PER_MS 1000000
#define STATE_FIELD 3

struct starter {
    int control;
    struct unreadable *unreadable;
    pid_t reader; /* the latest; 0: none */
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
static int receive_socket(int control) {
    char byte;
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
    return socket;
}

static bool hangs(pid_t process) {
    struct proc_stat stat;
    const char *state = proc_stat_read((uint64_t)process, &stat) ? proc_stat_field(&stat, STATE_FIELD) : NULL;
    return state && state[0] == 'D';
}

static void end_reader(struct starter *starter) {
    struct file_place *at = &starter->unreadable->at;
    pid_t ended = 0;
    if (starter->reader > 0)
        kill(starter->reader, SIGKILL);
    for (int i = 0; i < ENDS_MS && starter->reader > 0 && ended == 0; i++) {
        ended = waitpid(starter->reader, NULL, WNOHANG);
        if (ended == 0)
            nanosleep(&(const struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    }
    if (ended > 0)
        starter->child_count--;
    else if (starter->reader > 0 && hangs(starter->reader))
        at->inode = 0;
    starter->reader = 0;
    unreadable_note(starter->unreadable, at);
    *at = (struct file_place){.inode = 0};
}

static void start_reader(struct starter *starter, int socket) {
    const pid_t parent = getpid();
    starter->reader = fork();
    if (starter->reader == 0) {
        close(starter->control);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() == parent)
            reader_run(socket, starter->unreadable);
        _exit(0);
    }
    if (starter->reader > 0)
        starter->child_count++;
    else
        starter->reader = 0;
}

void starter_run(int control) {
    struct starter starter = {.control = control, .unreadable = unreadable_create()};
    int socket;
    keep_away_signals();
    prctl(PR_SET_NAME, "osprof-stacks", 0, 0, 0);
    const int error = starter.unreadable ? reader_rights_give_up() : -ENOMEM;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* giving up rights undoes it */
    if (send(control, &error, sizeof(error), MSG_NOSIGNAL) < 0 || error)
        return;
    while ((socket = receive_socket(control)) >= 0) {
        end_reader(&starter);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            starter.child_count--;
        if (starter.child_count < CHILDREN_MAX)
            start_reader(&starter, socket);
        close(socket);
    }
    if (starter.reader > 0)
        kill(starter.reader, SIGKILL);
}

/* The starter: the process that starts the readers.
 *
 * The starter is forked before anything is counted, so the starter and its children share no memory with osprof, and
 * the starter has no threads. A reader that waits for a hanging file system cannot be killed. Such a reader is
 * abandoned, and another reader is started. The whole device is noted as unreadable for as long as the reader hangs. */
#include <errno.h>
#include <poll.h>
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

#define CHILDREN_MAX 4 /* for each reader number; all but the latest child hang */
#define NOTE_MS 20000  /* until they are noted again, which unreadable.h forgets after a minute */
#define ENDS_MS 50     /* in which a killed process ends, unless it hangs */

struct child {
    pid_t process; /* 0: none */
    struct file_place hangs_at;
};

struct starter {
    int control;
    struct unreadable *unreadable;
    struct child children[READERS][CHILDREN_MAX];
    struct child *readers[READERS]; /* the latest of each number; NULL: none */
};

/* Frees the places of children that have ended. Renews the notes of files at which other children hang. */
static void look_after_children(struct starter *starter) {
    for (unsigned number = 0; number < READERS; number++)
        for (unsigned i = 0; i < CHILDREN_MAX; i++) {
            struct child *child = &starter->children[number][i];
            if (child->process > 0 && waitpid(child->process, NULL, WNOHANG) == 0) {
                unreadable_note(starter->unreadable, &child->hangs_at);
                continue;
            }
            *child = (struct child){.process = 0};
            if (starter->readers[number] == child)
                starter->readers[number] = NULL;
        }
}

/* Returns -1 when the other end is closed. */
static int receive_socket(struct starter *starter, unsigned *ret_number) {
    unsigned char byte = 0;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } memory;
    struct iovec data = {.iov_base = &byte, .iov_len = sizeof(byte)};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &memory, .msg_controllen = sizeof(memory)};
    struct pollfd asked = {.fd = starter->control, .events = POLLIN};
    int socket = -1;
    ssize_t length;
    while (poll(&asked, 1, NOTE_MS) <= 0)
        look_after_children(starter);
    do
        length = recvmsg(starter->control, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    const struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(&socket, CMSG_DATA(header), sizeof(socket));
    *ret_number = byte % READERS;
    return socket;
}

static void end_reader(struct starter *starter, unsigned number) {
    struct file_place *at = &starter->unreadable->at[number];
    struct child *reader = starter->readers[number];
    struct proc_stat stat;
    pid_t ended = 0;
    if (reader)
        kill(reader->process, SIGKILL);
    for (int i = 0; i < ENDS_MS && reader && ended == 0; i++) {
        ended = waitpid(reader->process, NULL, WNOHANG);
        if (ended == 0)
            nanosleep(&(const struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    }
    if (ended > 0) {
        reader->process = 0;
    } else if (reader && proc_stat_read((uint64_t)reader->process, &stat) && stat.state[0] == 'D') {
        at->inode = 0;
        reader->hangs_at = *at;
    }
    starter->readers[number] = NULL;
    unreadable_note(starter->unreadable, at);
    *at = (struct file_place){.inode = 0};
}

static void start_reader(struct starter *starter, unsigned number, int socket) {
    static const char *const names[READERS] = {"osprof-stacks-1", "osprof-stacks-2"};
    const pid_t parent = getpid();
    struct child *child = NULL;
    for (unsigned i = 0; i < CHILDREN_MAX && !child; i++)
        if (starter->children[number][i].process == 0)
            child = &starter->children[number][i];
    const pid_t reader = child ? fork() : -1;
    if (reader == 0) {
        close(starter->control);
        prctl(PR_SET_NAME, names[number], 0, 0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() == parent)
            reader_run(socket, number, starter->unreadable);
        _exit(0);
    }
    if (reader > 0) {
        *child = (struct child){.process = reader};
        starter->readers[number] = child;
    }
}

void starter_run(int control) {
    struct starter starter = {.control = control, .unreadable = unreadable_create()};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
    unsigned number;
    int socket;
    sigset_t none;
    /* It lives as long as its parent, which signals of the terminal end. */
    sigemptyset(&none);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        signal(signals[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_NAME, "osprof-stacks", 0, 0, 0);
    const int error = starter.unreadable ? reader_rights_give_up() : -ENOMEM;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* giving up rights undoes it */
    if (send(control, &error, sizeof(error), MSG_NOSIGNAL) < 0 || error)
        return;
    while ((socket = receive_socket(&starter, &number)) >= 0) {
        end_reader(&starter, number);
        look_after_children(&starter);
        start_reader(&starter, number, socket);
        close(socket);
    }
    for (unsigned i = 0; i < READERS; i++)
        if (starter.readers[i])
            kill(starter.readers[i]->process, SIGKILL);
}

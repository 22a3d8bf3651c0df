/* The process that reads programs, from outside. */
#include "user_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "proc.h"
#include "protocol.h"
#include "reader_rights.h"
#include "time_share.h"

#define QUESTION_NS (1000 * NS_PER_MS) /* a reader that takes longer is ended */
#define USUAL_NS (2 * NS_PER_MS)       /* time of a question that does not count against its user */
#define START_NS (50 * NS_PER_MS)      /* between two starts of a reader */
#define ASKED_MAX 16                   /* questions that are not answered */
#define USERS_MAX 64                   /* the users that took least time are forgotten */
#define NAMESPACED_MAX 1024            /* processes that are remembered, a place each */

/* For waiting for answers, of each reader separately. */
static const struct time_share_limits wait_limits[READERS] = {{.at_once_ns = 200 * NS_PER_MS, .divisor = 2},
                                                              {.at_once_ns = 50 * NS_PER_MS, .divisor = 8}};
static const struct time_share_limits user_limits = {.at_once_ns = 2000 * NS_PER_MS, .divisor = 10};
#define FAST_NS (50 * NS_PER_MS) /* of user_limits: if a user's programs took longer, the second reader reads them */

struct user_time {
    uint64_t user;
    struct time_share share;
};

struct reader {
    unsigned number;
    int socket; /* -1: there is none */
    int64_t started_ns;
    uint64_t asked;
    uint64_t answered;
    int64_t begun_ns;           /* when the reader could begin with the first unanswered question */
    uint64_t askers[ASKED_MAX]; /* users of the programs in unanswered questions, in order of the questions' numbers */
    struct time_share waited;
};

struct user_stacks {
    pid_t starter;
    int control;                         /* of it; -1: it has ended */
    struct reader readers[READERS];      /* the second reader serves users whose programs take long */
    struct user_time users[USERS_MAX];   /* time for reading the programs of each user */
    uint32_t namespaced[NAMESPACED_MAX]; /* processes of other user namespaces, also when they have ended */
};

/* ---- The processes ------------------------------------------------------------------------------ */

__attribute__((noreturn)) static void run(int control, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent || dup2(control, STDERR_FILENO + 1) < 0)
        _exit(1);
    close_range(STDERR_FILENO + 2, ~0U, 0);
    starter_run(STDERR_FILENO + 1);
    _exit(0);
}

/* Errors:  those of fork(2), and why it cannot give up its rights */
static int start_starter(struct user_stacks *stacks) {
    int sockets[2];
    int error = 0;
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return negative_errno();
    fflush(NULL);
    stacks->starter = fork();
    if (stacks->starter == 0)
        run(sockets[1], parent);
    error = stacks->starter < 0 ? negative_errno() : 0;
    stacks->control = sockets[0];
    close(sockets[1]);
    if (error == 0 && recv(stacks->control, &error, sizeof(error), 0) != (ssize_t)sizeof(error))
        error = -ECHILD;
    return error;
}

static int send_socket(int control, unsigned char byte, int socket) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } memory = {.bytes = ""};
    struct iovec data = {.iov_base = &byte, .iov_len = sizeof(byte)};
    const struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &memory, .msg_controllen = sizeof(memory)};
    memory.header =
        (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(socket))};
    memcpy(CMSG_DATA(&memory.header), &socket, sizeof(socket));
    return sendmsg(control, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? negative_errno() : 0;
}

/* In place of the one before, which is killed. */
static void start_reader(struct user_stacks *stacks, struct reader *reader, int64_t now_ns) {
    int sockets[2];
    if (stacks->control < 0 || (reader->started_ns > 0 && now_ns < reader->started_ns + START_NS) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return;
    const int error = send_socket(stacks->control, (unsigned char)reader->number, sockets[1]);
    close(sockets[1]);
    if (error == -EPIPE)
        close_fd(&stacks->control);
    if (error)
        close(sockets[0]);
    else
        reader->socket = sockets[0];
    reader->started_ns = now_ns;
}

int user_stacks_start(struct user_stacks **ret_stacks, char ret_why[USER_STACKS_WHY_SIZE]) {
    if (!reader_rights_are_there()) {
        snprintf(ret_why, USER_STACKS_WHY_SIZE,
                 "this takes CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH, CAP_SETUID and CAP_SETGID, "
                 "as root has");
        return -EPERM;
    }
    struct user_stacks *stacks = calloc(1, sizeof(*stacks));
    for (unsigned i = 0; i < READERS && stacks; i++)
        stacks->readers[i] = (struct reader){.number = i, .socket = -1};
    if (stacks)
        stacks->control = -1;
    int error = stacks ? start_starter(stacks) : -ENOMEM;
    if (error) {
        snprintf(ret_why, USER_STACKS_WHY_SIZE, "the process for it cannot give up root's rights: %s",
                 strerror(-error));
        user_stacks_finish(stacks);
        return error;
    }
    start_reader(stacks, &stacks->readers[0], read_clock_ns(CLOCK_MONOTONIC));
    *ret_stacks = stacks;
    return 0;
}

uint32_t user_stacks_parent(const struct user_stacks *stacks) {
    return (uint32_t)stacks->starter;
}

/* A reader that waits for a file system ends when that answers; nobody waits for it. */
void user_stacks_finish(struct user_stacks *stacks) {
    if (!stacks)
        return;
    for (unsigned i = 0; i < READERS; i++)
        close_fd(&stacks->readers[i].socket);
    close_fd(&stacks->control);
    for (int i = 0; i < 50 && stacks->starter > 0 && waitpid(stacks->starter, NULL, WNOHANG) == 0; i++)
        nanosleep(&(const struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    free(stacks);
}

/* ---- Users -------------------------------------------------------------------------------------- */

static struct time_share *share_of(struct user_stacks *stacks, uint64_t user) {
    struct user_time *least = &stacks->users[0];
    for (size_t i = 0; i < USERS_MAX; i++) {
        if (stacks->users[i].user == user)
            return &stacks->users[i].share;
        if (stacks->users[i].share.empty_ns < least->share.empty_ns)
            least = &stacks->users[i];
    }
    *least = (struct user_time){.user = user};
    return &least->share;
}

/* The second one for users whose programs take long, and for processes of other user namespaces: root there may mount
 * file systems that hang a reader. NULL: the user's programs have taken too long. */
static struct reader *reader_for(struct user_stacks *stacks, uint64_t user, uint32_t process) {
    const int64_t left_ns = time_share_left_ns(share_of(stacks, user), &user_limits, read_clock_ns(CLOCK_MONOTONIC));
    uint32_t *namespaced = &stacks->namespaced[process % NAMESPACED_MAX];
    char path[32];
    struct stat own;
    struct stat other;
    if (left_ns <= 0)
        return NULL;
    if (left_ns < user_limits.at_once_ns - FAST_NS)
        return &stacks->readers[1];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/user", process);
    if (stat("/proc/self/ns/user", &own) == 0 && stat(path, &other) == 0) {
        if (other.st_ino != own.st_ino)
            *namespaced = process;
        else if (*namespaced == process)
            *namespaced = 0;
    }
    return &stacks->readers[*namespaced == process];
}

/* ---- Questions ---------------------------------------------------------------------------------- */

/* What became of the last question. */
enum outcome {
    ANSWERED, /* or nothing was asked */
    NOT_YET,
    TOO_LONG, /* the reader is ended */
    ENDED,    /* the reader has */
};

/* spent_ns: from a reader, so it may be wrong */
static void charge_asker(struct user_stacks *stacks, const struct reader *reader, int64_t now_ns, int64_t spent_ns) {
    const int64_t bounded_ns = spent_ns >= 0 && spent_ns < QUESTION_NS ? spent_ns : QUESTION_NS;
    struct time_share *share = share_of(stacks, reader->askers[(reader->answered + 1) % ASKED_MAX]);
    if (bounded_ns > USUAL_NS)
        time_share_take(share, &user_limits, now_ns, bounded_ns - USUAL_NS);
}

static enum outcome end_reader(struct user_stacks *stacks, struct reader *reader, enum outcome outcome,
                               int64_t now_ns) {
    charge_asker(stacks, reader, now_ns, now_ns - reader->begun_ns);
    reader->answered = reader->asked;
    close_fd(&reader->socket);
    start_reader(stacks, reader, now_ns);
    return outcome;
}

/* Takes answers until the last one, or until then. */
static enum outcome take_answer(struct user_stacks *stacks, struct reader *reader, int64_t until_ns,
                                struct answer *ret_answer) {
    while (reader->answered < reader->asked) {
        const ssize_t length = recv(reader->socket, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);
        const bool is_there_none = length < 0 && (errno == EAGAIN || errno == EINTR);
        const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
        const int64_t end_ns = reader->begun_ns + QUESTION_NS;
        if (length >= (ssize_t)offsetof(struct answer, functions) && ret_answer->number == reader->answered + 1) {
            charge_asker(stacks, reader, now_ns, ret_answer->spent_ns);
            reader->answered++;
            reader->begun_ns = now_ns;
            continue;
        }
        if (!is_there_none)
            return end_reader(stacks, reader, ENDED, now_ns);
        if (now_ns >= end_ns)
            return end_reader(stacks, reader, TOO_LONG, now_ns);
        if (now_ns >= until_ns)
            return NOT_YET;
        const int64_t left_ns = (until_ns < end_ns ? until_ns : end_ns) - now_ns;
        struct pollfd event = {.fd = reader->socket, .events = POLLIN};
        poll(&event, 1, (int)(left_ns / NS_PER_MS) + 1);
    }
    return ANSWERED;
}

/* A reader may be anybody's by now: its answer must be text that terminals and profiles can take. */
static bool is_text(const char *text, size_t size_bytes) {
    const char *character;
    if (!memchr(text, '\0', size_bytes))
        return false;
    for (size_t length; (length = next_character(&text, &character)) > 0;)
        if (is_obeyed_by_terminals(character, length))
            return false;
    return true;
}

static bool send_question(const struct reader *reader, const struct question *question, size_t size_bytes) {
    return reader->socket >= 0 && send(reader->socket, question, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool ask(struct user_stacks *stacks, struct reader *reader, uint64_t user, struct question *question,
                size_t size_bytes) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    question->number = reader->asked + 1;
    if (!send_question(reader, question, size_bytes)) {
        if (reader->answered < reader->asked)
            return false;
        close_fd(&reader->socket); /* it has ended */
        start_reader(stacks, reader, now_ns);
        if (!send_question(reader, question, size_bytes))
            return false;
    }
    if (reader->answered == reader->asked)
        reader->begun_ns = now_ns;
    reader->asked = question->number;
    reader->askers[reader->asked % ASKED_MAX] = user;
    return true;
}

void user_stacks_note(struct user_stacks *stacks, uint32_t process, uint64_t start_stack) {
    struct question question = {.process = process, .start_stack = start_stack};
    struct answer answer;
    uint64_t user = 0;
    struct reader *reader = proc_status_number(process, "Uid", 10, &user) ? reader_for(stacks, user, process) : NULL;
    if (!reader)
        return;
    take_answer(stacks, reader, 0, &answer);
    if (reader->asked - reader->answered < ASKED_MAX)
        ask(stacks, reader, user, &question, offsetof(struct question, op));
}

/* Returns NULL, or why there is no answer. */
static const char *find(struct user_stacks *stacks, struct reader *reader, uint64_t user, struct question *question,
                        int64_t until_ns, struct answer *ret_answer) {
    static const char *const why[] = {
        [NOT_YET] = "its program could not be read in time",
        [TOO_LONG] = "its program could not be read in time",
        [ENDED] = "its program cannot be read",
    };
    const enum outcome before = take_answer(stacks, reader, until_ns, ret_answer);
    if (before == NOT_YET || read_clock_ns(CLOCK_MONOTONIC) >= until_ns)
        return why[NOT_YET];
    if (!ask(stacks, reader, user, question, sizeof(*question)))
        return stacks->control >= 0 ? why[NOT_YET] : "what reads programs has ended";
    *ret_answer = (struct answer){.number = 0};
    const enum outcome outcome = take_answer(stacks, reader, until_ns, ret_answer);
    const struct user_functions *functions = &ret_answer->functions;
    const bool is_valid = outcome != ANSWERED || (is_text(functions->caller, sizeof(functions->caller)) &&
                                                  is_text(functions->stack, sizeof(functions->stack)));
    return is_valid ? why[outcome] : why[ENDED];
}

void user_stacks_find(struct user_stacks *stacks, const char *op, const struct collected_slow *call,
                      const struct collected_user_stack *from, struct user_functions *ret_functions) {
    struct question question = {
        .process = call->process, .start_stack = call->start_stack, .has_stack = true, .from = *from};
    struct answer answer;
    const char *why = "its user's programs take too long to read";
    struct reader *reader = reader_for(stacks, call->uid, call->process);
    snprintf(question.op, sizeof(question.op), "%s", op);
    if (reader) {
        const struct time_share_limits *limits = &wait_limits[reader->number];
        const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
        const int64_t until_ns = begin_ns + time_share_left_ns(&reader->waited, limits, begin_ns);
        why = find(stacks, reader, call->uid, &question, until_ns, &answer);
        time_share_take(&reader->waited, limits, begin_ns, read_clock_ns(CLOCK_MONOTONIC) - begin_ns);
    }
    *ret_functions = why ? (struct user_functions){.stack = ""} : answer.functions;
    if (why)
        snprintf(ret_functions->caller, sizeof(ret_functions->caller), "(not known: %s)", why);
}

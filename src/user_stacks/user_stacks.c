/* The process that reads programs, from outside. */
#include "user_stacks.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "proc.h"
#include "protocol.h"

#define ANSWER_NS INT64_C(500000000)
#define NS_PER_MS 1000000
#define MEMORY_BYTES (UINT64_C(1) << 30) /* of the process, without the files that it has mapped */

struct user_stacks {
    pid_t process;
    int socket; /* -1: it has ended */
    uint64_t asked;
    uint64_t answered;
};

/* ---- The process -------------------------------------------------------------------------------- */

/* It lives as long as its parent, which signals of the terminal end. */
static void keep_away_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        signal(signals[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Programs may be hostile. */
static void set_limits(void) {
    __attribute__((unused)) const struct rlimit memory = {.rlim_cur = MEMORY_BYTES, .rlim_max = MEMORY_BYTES};
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
#if !defined(__SANITIZE_ADDRESS__) /* which counts what it maps for itself */
    setrlimit(RLIMIT_DATA, &memory);
#endif
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NPROC, &none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

__attribute__((noreturn)) static void run(int socket, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(0);
    prctl(PR_SET_NAME, "osprof-stacks", 0, 0, 0);
    keep_away_signals();
    if (dup2(socket, STDERR_FILENO + 1) < 0)
        _exit(1);
    close_range(STDERR_FILENO + 2, ~0U, 0);
    set_limits();
    reader_run(STDERR_FILENO + 1);
    _exit(0);
}

static int start(struct user_stacks *stacks) {
    int sockets[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return negative_errno();
    fflush(NULL);
    stacks->process = fork();
    if (stacks->process == 0)
        run(sockets[1], parent);
    const int error = stacks->process < 0 ? negative_errno() : 0;
    close(sockets[1]);
    if (error)
        close(sockets[0]);
    else
        stacks->socket = sockets[0];
    return error;
}

/* Without them all programs would look as if they had ended. */
static bool has_rights(void) {
    uint64_t has = 0;
    proc_status_number((uint64_t)getpid(), "CapEff", 16, &has);
    const bool opens_mapped = has & (UINT64_C(1) << CAP_CHECKPOINT_RESTORE | UINT64_C(1) << CAP_SYS_ADMIN);
    return opens_mapped && has & UINT64_C(1) << CAP_SYS_PTRACE;
}

int user_stacks_start(struct user_stacks **ret_stacks, char ret_why[USER_STACKS_WHY_SIZE]) {
    if (!has_rights()) {
        snprintf(ret_why, USER_STACKS_WHY_SIZE, "this takes CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE, as root has");
        return -EPERM;
    }
    struct user_stacks *stacks = calloc(1, sizeof(*stacks));
    int error = stacks ? start(stacks) : -ENOMEM;
    if (error) {
        snprintf(ret_why, USER_STACKS_WHY_SIZE, "%s", strerror(-error));
        free(stacks);
        return error;
    }
    *ret_stacks = stacks;
    return 0;
}

uint32_t user_stacks_process(const struct user_stacks *stacks) {
    return (uint32_t)stacks->process;
}

/* One that waits for a file system ends when that answers; nobody waits for it. */
void user_stacks_finish(struct user_stacks *stacks) {
    if (!stacks)
        return;
    close_fd(&stacks->socket);
    kill(stacks->process, SIGKILL);
    for (int i = 0; i < 50 && waitpid(stacks->process, NULL, WNOHANG) == 0; i++)
        nanosleep(&(const struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    free(stacks);
}

/* ---- Questions ---------------------------------------------------------------------------------- */

static bool ask(struct user_stacks *stacks, const struct question *question, size_t size_bytes) {
    if (stacks->socket >= 0 && send(stacks->socket, question, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EAGAIN)
            close_fd(&stacks->socket);
        return false;
    }
    return stacks->socket >= 0;
}

void user_stacks_note(struct user_stacks *stacks, uint32_t process, uint64_t start_stack) {
    const struct question question = {.process = process, .start_stack = start_stack};
    if (stacks->asked == stacks->answered)
        ask(stacks, &question, offsetof(struct question, op));
}

/* Takes answers until the last one, or until then. Returns whether it was there. */
static bool take_answer(struct user_stacks *stacks, int64_t until_ns, struct answer *ret_answer) {
    while (stacks->socket >= 0 && stacks->answered < stacks->asked) {
        struct pollfd event = {.fd = stacks->socket, .events = POLLIN};
        const int64_t left_ns = until_ns - read_clock_ns(CLOCK_MONOTONIC);
        const int ready = poll(&event, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0);
        if (ready == 0)
            return false;
        const ssize_t length = ready > 0 ? recv(stacks->socket, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT) : -1;
        if (length == (ssize_t)sizeof(*ret_answer))
            stacks->answered = ret_answer->number;
        else if (length >= 0 || (errno != EAGAIN && errno != EINTR))
            close_fd(&stacks->socket);
    }
    return stacks->socket >= 0;
}

static bool find(struct user_stacks *stacks, const struct question *question, struct answer *ret_answer) {
    if (!take_answer(stacks, 0, ret_answer) || !ask(stacks, question, sizeof(*question)))
        return false;
    stacks->asked = question->number;
    return take_answer(stacks, read_clock_ns(CLOCK_MONOTONIC) + ANSWER_NS, ret_answer);
}

static void be_unknown(const char *why, struct user_functions *ret_functions) {
    *ret_functions = (struct user_functions){.stack = ""};
    snprintf(ret_functions->caller, sizeof(ret_functions->caller), "(not known: %s)", why);
}

void user_stacks_find(struct user_stacks *stacks, const char *op, const struct collected_slow *call,
                      const struct collected_user_stack *from, struct user_functions *ret_functions) {
    struct question question = {.number = stacks->asked + 1,
                                .process = call->process,
                                .start_stack = call->start_stack,
                                .has_stack = true,
                                .from = *from};
    struct answer answer;
    snprintf(question.op, sizeof(question.op), "%s", op);
    if (find(stacks, &question, &answer))
        *ret_functions = answer.functions;
    else
        be_unknown(stacks->socket >= 0 ? "its program could not be read in time" : "what reads programs has ended",
                   ret_functions);
}

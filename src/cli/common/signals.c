/* Signals as data. */
#include "signals.h"

#include <poll.h>
#include <string.h>

#include "base.h"
#include "command.h"

/* SIGTTIN and SIGTTOU are not among them: they are sent to the whole process group, and stop this process with CMD.
 * SIGPIPE and SIGXFSZ are only blocked, so that a closed standard error, and a limit of file sizes, are errors. */
static const int taken[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2};

int signals_init(struct signals *ret_signals) {
    struct signals signals = {.fd = -1};
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
        sigaddset(&mask, taken[i]);
    signals.fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals.fd < 0) {
        int error = negative_errno();
        complain("cannot take signals: %s", strerror(-error));
        return error;
    }
    sigaddset(&mask, SIGPIPE);
    sigaddset(&mask, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &mask, &signals.mask_before);
    sigaction(SIGCHLD, &by_default, &signals.child_before);
    *ret_signals = signals;
    return 0;
}

void signals_finish(struct signals *signals) {
    close_fd(&signals->fd);
}

void signals_restore(const struct signals *signals) {
    sigaction(SIGCHLD, &signals->child_before, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

int signals_take(const struct signals *signals, int timeout_ms, struct signalfd_siginfo *ret_info) {
    struct pollfd come = {.fd = signals->fd, .events = POLLIN};
    if (poll(&come, 1, timeout_ms) <= 0)
        return 0;
    return read(signals->fd, ret_info, sizeof(*ret_info)) == sizeof(*ret_info) ? (int)ret_info->ssi_signo : 0;
}

bool signals_ends(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

int signals_take_ending(const struct signals *signals) {
    struct signalfd_siginfo info;
    int ending = 0;
    for (int signal; (signal = signals_take(signals, 0, &info)) != 0;)
        if (ending == 0 && signals_ends(signal))
            ending = signal;
    return ending;
}

/* Not by SIGSTOP: in an orphaned process group, where nobody could continue us, the kernel ignores these signals. */
void signals_stop_self(int signal) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    sigprocmask(SIG_BLOCK, &mask, NULL);
}

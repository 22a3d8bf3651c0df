/* The signals of osprof run: all that matter are blocked and come as data, so that nothing happens at a bad moment.
 * Children get back what osprof was started with. */
#ifndef RUN_SIGNALS_H
#define RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

struct run_signals {
    int fd; /* signalfd, does not block */
    sigset_t mask_before;
    struct sigaction child_before; /* SIGCHLD ignored would keep exit statuses from us */
};

/* Errors: -errno. Threads: no other may exist */
int run_signals_init(struct run_signals *ret_signals);
void run_signals_finish(struct run_signals *signals);

/* In a child, before exec. */
void run_signals_restore(const struct run_signals *signals);

/* Takes one signal that has come. Returns its number, or 0 if there is none.
 * timeout_ms: how long to wait for one; -1: as long as it takes */
int run_signals_take(const struct run_signals *signals, int timeout_ms, struct signalfd_siginfo *ret_info);

/* Whether a signal asks to end what is done: SIGINT, SIGTERM, SIGHUP, SIGQUIT. */
bool run_signals_ends(int signal);

/* Takes all signals that have come. Returns the first that asks to end, 0 if none does */
int run_signals_take_ending(const struct run_signals *signals);

/* Stops this process as the signal would have, had it not been blocked; returns when it is continued. */
void run_signals_stop_self(int signal);

#endif

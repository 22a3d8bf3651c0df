/* The signals of osprof run: all that matter are blocked and come as data, so that nothing happens at a bad moment.
 * Children get back what osprof was started with. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

struct signals {
    int fd; /* signalfd, does not block */
    sigset_t mask_before;
    struct sigaction child_before; /* SIGCHLD ignored would keep exit statuses from us */
};

/* Errors: -errno. Threads: no other may exist */
int signals_init(struct signals *ret_signals);
void signals_finish(struct signals *signals);

/* In a child, before exec. */
void signals_restore(const struct signals *signals);

/* Takes one signal that has come. Returns its number, or 0 if there is none.
 * timeout_ms: how long to wait for one; -1: as long as it takes */
int signals_take(const struct signals *signals, int timeout_ms, struct signalfd_siginfo *ret_info);

/* Whether a signal asks to end what is done: SIGINT, SIGTERM, SIGHUP, SIGQUIT. */
bool signals_ends(int signal);

/* Takes all signals that have come. Returns the first that asks to end, 0 if none does */
int signals_take_ending(const struct signals *signals);

/* Stops this process as the signal would have, had it not been blocked; returns when it is continued. */
void signals_stop_self(int signal);

#endif

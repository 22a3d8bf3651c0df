/* The signals of osprof run: all that matter are blocked and read as data, so that none interrupts at a bad moment.
 * Children get the original state back. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

struct signals {
    int fd; /* of signalfd(2), non-blocking */
    sigset_t mask_before;
    struct sigaction child_before; /* if SIGCHLD were ignored, there would be no exit statuses */
};

/* Errors: reported to the user. Threads: no other may exist */
int signals_init(struct signals *ret_signals);
void signals_finish(struct signals *signals);

/* Call in a child, before exec. */
void signals_restore(const struct signals *signals);

/* Takes one pending signal. Returns its number, or 0 if there is none.
 * timeout_ms: how long to wait for one; -1: for ever */
int signals_take(const struct signals *signals, int timeout_ms, struct signalfd_siginfo *ret_info);

/* True for signals that ask to end: SIGINT, SIGTERM, SIGHUP, SIGQUIT. */
bool signals_ends(int signal);

/* Takes all pending signals. Returns the first that asks to end, 0 if none does */
int signals_take_ending(const struct signals *signals);

/* Stops this process as the signal would have, if it were not blocked; returns when it is continued. */
void signals_stop_self(int signal);

#endif

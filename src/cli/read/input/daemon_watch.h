/* Whether the daemon of a mount serves anybody. A daemon that is stopped, or hangs before it has begun a call, has no
 * calls in flight: its live file looks like that of an idle one. But the kernel knows how many requests have no answer,
 * and that a process is stopped.
 *
 * Invariants:
 *   - Neither the mount nor the daemon is asked anything.
 *   - Any progress of its counters shows that a daemon works, however busy. */
#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include "aggstats.h"
#include "input.h"
#include "wide_count.h"

#define DAEMON_STUCK_NS INT64_C(300000000) /* how long requests must wait without progress */
#define DAEMON_TEXT_SIZE 320

enum daemon_trouble {
    DAEMON_WORKS,   /* as far as is known */
    DAEMON_STOPPED, /* by a signal or a debugger */
    DAEMON_STUCK,   /* requests wait, besides calls in flight, and it takes none */
    DAEMON_UNSEEN,  /* it works, but the process that counts its calls ('osprof fuse') is stopped */
};

struct daemon_state {
    enum daemon_trouble trouble;
    int64_t stopped_pid;   /* valid if it is stopped */
    int64_t stuck_ns;      /* time without progress; valid if it is stuck */
    bool knows_unanswered; /* the next two are valid */
    uint64_t unanswered;   /* requests */
    uint64_t waiting;      /* the part of these that are no calls in flight: they wait for the daemon */
};

/* The results of earlier looks. Zeroed: none. */
struct daemon_watch {
    wide_count progress; /* a sum of counters that changes with each call that begins or ends */
    int64_t since_ns;    /* CLOCK_MONOTONIC, when requests began to wait with that progress; 0: none do */
};

/* Looks once. Hangs are noticed from the second look on, DAEMON_STUCK_NS after the first.
 * profile: of a live file that this process records to
 * own:     requests of our own, which count as answered */
struct daemon_state daemon_watch_look(struct daemon_watch *watch, const struct aggstats_profile *profile, int64_t pid,
                                      uint64_t own);

/* Looks until the state is certain, for a little more than DAEMON_STUCK_NS at most. An input that is no live file of a
 * recording process has no daemon, which counts as working. */
struct daemon_state daemon_state_find(const struct input *input);

/* For a daemon in trouble, also in the past. */
#define DAEMON_NOT_COUNTED "What requests wait for the daemon is in no latency."

/* "The daemon (process 4711) is stopped: 3 requests wait for it." Returns false, with an empty text, if it works */
bool daemon_state_format(const struct daemon_state *state, char ret_text[DAEMON_TEXT_SIZE]);

/* That, followed by DAEMON_NOT_COUNTED. */
bool daemon_state_warn(const struct daemon_state *state, char ret_text[DAEMON_TEXT_SIZE]);

/* The same for programs: the profile's label "daemon", "stopped", "stuck" or "unseen", and its waiting_requests.
 * profile: NULL: does nothing
 * Errors:  -ENOMEM */
int daemon_state_add_labels(const struct daemon_state *state, struct aggstats_profile *profile);

#endif

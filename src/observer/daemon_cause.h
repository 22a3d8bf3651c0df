/* What a request to a FUSE daemon waits for: what the thread waits for that has taken it, or if that waits for another
 * thread of the daemon, as those of sshfs do, what this one waits for. */
#ifndef DAEMON_CAUSE_H
#define DAEMON_CAUSE_H

#include "thread_cause.h"

struct daemon_causes {
    struct thread_causes threads;
    pid_t process;                   /* the daemon; 0: not known yet */
    void (*catch_up)(void *context); /* counts all answers that there are; NULL: nobody does */
    void *catch_up_context;
};

/* An aggstats_cause_fn; context: a struct daemon_causes. Of a request that has been answered meanwhile nothing is
 * found, since that is counted before. */
bool daemon_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

#endif

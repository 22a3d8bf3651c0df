/* What a request to a FUSE daemon waits for: what the thread that took it waits for; or if that waits for another
 * thread of the daemon, as in sshfs, what that one waits for. */
#ifndef DAEMON_CAUSE_H
#define DAEMON_CAUSE_H

#include "aggstats/slow.h"
#include "slow_holders.h"

struct daemon_causes {
    struct slow_holders holders;     /* its own */
    pid_t process;                   /* the daemon; 0: unknown yet */
    void (*catch_up)(void *context); /* counts all answers so far; NULL: nobody does */
    void *catch_up_context;
};

/* An aggstats_cause_fn; context: a struct daemon_causes. Finds nothing for a request that has been answered meanwhile:
 * the answer is counted first. */
bool daemon_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

#endif

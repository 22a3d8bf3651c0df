/* The profile of a mount that another daemon serves: its session, filled from the records of the daemon's preloaded
 * object. */
#ifndef OBSERVED_H
#define OBSERVED_H

#include "fuse_mount.h"
#include "holders.h"
#include "requests.h"
#include "session.h"

struct observed {
    struct session session; /* its source says how all answers so far are counted */
    struct fuse_mount mount;
    struct requests requests;
    struct slow_holders holders;
    pid_t process; /* the daemon; 0: unknown */
};

/* Begins to record.
 * causes:   of threads; must exist until observed_finish()
 * around:   the live file; catch_up, which counts all answers so far through requests_take(), and tell
 * process:  of the daemon; 0: unknown
 * Owner:    takes *mount over
 * Errors:   -errno; nothing is left behind */
int observed_start(struct observed *observed, const struct session_options *options, const struct thread_causes *causes,
                   struct fuse_mount *mount, const struct session_source *around, pid_t process);

/* Ends recording: see session_finish(). */
void observed_finish(struct observed *observed);

#endif

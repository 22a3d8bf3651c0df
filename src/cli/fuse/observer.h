/* The process that stays beside a FUSE daemon: it starts it, reads what its preloaded object tells, and saves the
 * profile when the mount, or the daemon, is gone. The daemon may go into the background: it is this process's child
 * then. Nothing here touches the mount, so that nothing can hang. */
#ifndef OBSERVER_H
#define OBSERVER_H

#include "session.h"

/* What comes of starting the daemon, for who waits for it. */
struct observer_started {
    pid_t command;
    bool has_ended;  /* what follows is known */
    int exec_error;  /* 0: it was executed */
    int wait_status; /* of the command, as waitpid(2) has it */
    bool is_unsaved; /* it was over with the command, and its profile cannot be written, which has been said */
};

struct observer_options {
    struct session_options session;
    char *const *command;
    const char *library; /* that is preloaded */
};

/* In a child of the process that waits: does all of it.
 * status_fd: gets a struct observer_started when the command has been started, and one when it has ended: once its
 *            mount can be used or, if that has ended too, its profile has been saved; then it is closed
 * Returns the exit status. */
int observer_run(const struct observer_options *options, int status_fd);

#endif

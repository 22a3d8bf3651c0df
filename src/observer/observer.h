/* The process beside a FUSE daemon: it starts the daemon, reads the ring of its preloaded object (request_ring.h),
 * counts each request in a lane of a recorder, and saves the profile when the mount, or the daemon, is gone. The daemon
 * may go into the background: it is this process's child then (PR_SET_CHILD_SUBREAPER). If this process is killed, a
 * program that waits for a daemon in the foreground goes on. A daemon that runs already is counted in the kernel
 * instead (attach.h). The live file lags by 5 ms; so a program that reads it first asks at the control socket, which
 * also takes the commands of control files. Nothing here touches the mount, so nothing can hang. */
#ifndef OBSERVER_H
#define OBSERVER_H

#include "observed.h"

/* The outcome of starting the daemon, for the process that waits for it. */
struct observer_started {
    pid_t command;
    bool has_ended;  /* the rest is known */
    int exec_error;  /* 0: it was executed */
    int wait_status; /* of the command, as from waitpid(2) */
    bool is_unsaved; /* the mount ended with the command, and its profile was not saved, as reported */
};

/* What another process needs to go on after an observer was killed: in memory that both share. */
#define OBSERVER_PATH_SIZE 1024 /* longer ones are not stored, and nobody goes on */
struct observer_state {
    bool is_recording; /* atomic; the rest is complete, except for the last three */
    pid_t process;     /* of the daemon; 0: its number is unknown here */
    struct request_record first;
    dev_t device; /* of the mount; its path, type and source are "" if unknown */
    char mount[OBSERVER_PATH_SIZE];
    char type[OBSERVER_PATH_SIZE];
    char source[OBSERVER_PATH_SIZE];
    char ring[OBSERVER_PATH_SIZE]; /* paths of the files */
    char live[OBSERVER_PATH_SIZE];
    char socket[OBSERVER_PATH_SIZE];
    bool has_second;
    bool has_left;
    bool is_taking; /* atomic; a record is neither in the ring nor counted */
};

struct observer_options {
    struct session_options session;
    struct thread_causes causes;
    char *const *command;
    const char *library;          /* to preload */
    struct observer_state *state; /* of this run, zeroed */
};

/* Call in a child of the process that waits: does all of it.
 * status_fd: gets a struct observer_started when the command has been started, and another when it has ended and its
 *   mount can be used; or, if the mount has ended too, when its profile has been saved. Then it is closed
 * Returns the exit status. */
int observer_run(const struct observer_options *options, int status_fd);

/* Goes on after an observer was killed, in the process that waits for it, which must be a subreaper: the daemon is its
 * child now. The profile until then is saved beside the one that begins. Returns when the mount, or the daemon, is
 * gone. started: how the command has ended
 * Errors:  -ESRCH the mount was not known yet, or the daemon has ended too; others have been reported: nobody goes
 *          on */
int observer_take_over(const struct observer_options *options, pid_t command, struct observer_started *ret_started);

#endif

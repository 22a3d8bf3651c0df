/* The process beside a FUSE daemon: it starts the daemon, reads the ring of its preloaded object (request_ring.h),
 * counts each request in a lane of a recorder, and saves the profile when the mount, or the daemon, is gone. The daemon
 * may go into the background: it is this process's child then (PR_SET_CHILD_SUBREAPER). If this process is killed, a
 * program that waits for a daemon in the foreground goes on. A daemon that runs already is counted by bpftrace's output
 * instead (trace_counts.c). The live file lags by 5 ms, or by one output of bpftrace; so a program that reads it first
 * asks at the control socket, which also takes the commands of control files. Nothing here touches the mount, so
 * nothing can hang. */
#ifndef OBSERVER_H
#define OBSERVER_H

#include "observed.h"

/* What comes of starting the daemon, for who waits for it. */
struct observer_started {
    pid_t command;
    bool has_ended;  /* what follows is known */
    int exec_error;  /* 0: it was executed */
    int wait_status; /* of the command, as waitpid(2) has it */
    bool is_unsaved; /* it was over with the command, and its profile cannot be written, which has been said */
};

/* What another process has to know to go on where an observer was killed: in memory that both share. */
#define OBSERVER_PATH_SIZE 1024 /* of longer ones nothing is told, and nobody goes on */
struct observer_state {
    bool is_recording; /* atomic; what follows is whole, but for the last three */
    pid_t process;     /* of the daemon; 0: its number is not known here */
    struct request_record first;
    dev_t device; /* of the mount; its path, type and source are "" where they are not known */
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
    char *const *command;
    const char *library;          /* that is preloaded */
    struct observer_state *state; /* of this run, zeroed */
};

/* In a child of the process that waits: does all of it.
 * status_fd: gets a struct observer_started when the command has been started, and one when it has ended: once its
 *            mount can be used or, if that has ended too, its profile has been saved; then it is closed
 * Returns the exit status. */
int observer_run(const struct observer_options *options, int status_fd);

/* Goes on where an observer was killed, in the process that waits for it, which must be a subreaper: the daemon is its
 * child now. The profile until then is saved beside the one that begins. Returns when the mount, or the daemon, is
 * gone. started: how it has ended
 * Errors:  -ESRCH the mount was not known yet, or the daemon has ended too; others have been told: nobody goes on */
int observer_take_over(const struct observer_options *options, pid_t command, struct observer_started *ret_started);

#endif

/* One osproffs of osprof run, a child of ours. */
#ifndef RUN_DAEMON_H
#define RUN_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

#include "input.h"
#include "signals.h"

/* ---- Options for osproffs ----------------------------------------------------------------------- */

/* Common to all daemons of a run. */
struct run_osproffs {
    const char *given;       /* for -o; NULL: none */
    const char *labels;      /* the same, with the labels of --label */
    bool has_groups_unasked; /* of files, directories and programs: the user has not mentioned groups */
    char *program;           /* path of osproffs, or a name for PATH */
    char *control_name;      /* of control files */
    int live_dir_fd;         /* the directory of live files; -1: none */
};

/* given, labels: must stay valid; NULL: none. wants_groups: unless the given options mention groups
 * Owner:   the caller finishes *ret_options, which must be zeroed before, except live_dir_fd = -1
 * Errors:  reported to the user */
int run_osproffs_init(struct run_osproffs *ret_options, const char *given, const char *labels, bool wants_groups);
void run_osproffs_finish(struct run_osproffs *options);

/* ---- A daemon ----------------------------------------------------------------------------------- */

struct run_daemon {
    const char *name; /* the directory as given by the user */
    char *path;       /* absolute, without symbolic links */
    int lower_fd;     /* the directory itself, below all mounts */
    pid_t pid;        /* 0: not started */
    bool was_mounted;
    bool has_ended;
    int wait_status; /* if it has ended */
    int profile_fd;  /* memory for the final profile */
    int root_fd;     /* of the mount, O_PATH */
    int control_fd;  /* its control file, O_PATH */
    int live_fd;     /* -1: none */
    char live_name[48];
};

/* Opens the directory. Errors: reported to the user */
int run_daemon_open(struct run_daemon *ret_daemon, const char *name);

/* Opens it again, in a mount namespace entered meanwhile: a directory opened outside has no path in there if the root
 * is not that of the system.
 * Errors:  reported to the user */
int run_daemon_reopen(struct run_daemon *daemon);
void run_daemon_finish(struct run_daemon *daemon);

/* Makes one that has ended, and whose profile has been taken, as if just opened. */
void run_daemon_renew(struct run_daemon *daemon);

/* Mounts, and returns when the mount works.
 * Errors: reported to the user; -EINTR: a signal came, *ret_signal */
int run_daemon_start(struct run_daemon *daemon, const struct run_osproffs *options, const struct signals *signals,
                     int *ret_signal);

/* Writes a command to the control file. Errors: -errno */
int run_daemon_command(const struct run_daemon *daemon, const char *command);

/* Asks the daemon for the control file's attributes, which is not counted: when the answer comes, earlier requests have
 * at least begun. Waits as long as that takes */
void run_daemon_wait_for_answer(const struct run_daemon *daemon);

/* Reads the live file. Errors: -errno; -ENOENT there is none */
int run_daemon_read_live(const struct run_daemon *daemon, struct input *ret_input);

/* Returns true once, after it has ended. */
bool run_daemon_reap(struct run_daemon *daemon);

/* Detaches the mount. Mount and daemon end when nobody uses the mount any more. */
void run_daemon_detach(struct run_daemon *daemon);

/* The final profile of a daemon that has ended: its own, or if it was killed that in its live file, which is removed
 * then.
 * Owner:   the caller finishes *ret_input
 * Errors:  reported to the user */
int run_daemon_profile(struct run_daemon *daemon, const struct run_osproffs *options, struct input *ret_input);

#endif

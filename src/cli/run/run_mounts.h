/* The directories that osprof run profiles, each with an osproffs mounted over it in our mount namespace.
 *
 * All descriptors that are needed of a mount are opened when it is made: afterwards nothing here walks a path, since
 * that could lead through a mount and be counted there. */
#ifndef RUN_MOUNTS_H
#define RUN_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "namespace.h"
#include "run_daemon.h"
#include "signals.h"

#define RUN_ASKING_NAME "osprof-ask" /* of who asks osproffs for something; fuse.bt has it too */
#define RUN_FILES 2                  /* standard input and output */

struct run_mounts {
    struct run_daemon *daemons;   /* as they were given */
    struct run_daemon **by_depth; /* those that lie within others after them */
    size_t count;
    struct run_osproffs options;
    off_t positions[RUN_FILES]; /* of standard files that lie in the directories; -1: it does not */
    bool are_ending;            /* that daemons end is no surprise any more */
};

/* Opens the directories and refuses what cannot be profiled.
 * directories, options, labels: must stay; options and labels may be NULL. wants_groups: as for run_osproffs_init()
 * Owner:   the caller finishes *ret_mounts, also after an error
 * Errors:  told to the user */
int run_mounts_open(struct run_mounts *ret_mounts, const char *const *directories, size_t count, const char *options,
                    const char *labels, bool wants_groups);
void run_mounts_finish(struct run_mounts *mounts);

/* Standard input and output may lie in the directories, and are open already, below the mounts to be. Before the
 * command runs, and afterwards, to tell of those that it has used. */
void run_mounts_note_files(struct run_mounts *mounts);
void run_mounts_tell_files(const struct run_mounts *mounts);

/* After run_mounts_end(), for another start. */
void run_mounts_renew(struct run_mounts *mounts);

/* After a mount namespace was entered, and before anything is mounted there. Errors: told to the user */
int run_mounts_enter(struct run_mounts *mounts);

/* Mounts them all, and goes to the current directory as seen through them.
 * Errors:  told to the user; -EINTR: a signal came, *ret_signal. What is mounted then must be ended */
int run_mounts_start(struct run_mounts *mounts, const struct signals *signals, int *ret_signal);

/* Waits, a fifth of a second at most, until what was closed last has been counted: the kernel does not wait for it;
 * but not for calls that processes still make. Of a mount that does not answer within two seconds, nothing is waited
 * for. */
void run_mounts_settle(struct run_mounts *mounts);

/* The same, and the profiles, and the time that they cover, end here, whatever goes on in the mounts. */
void run_mounts_stop(struct run_mounts *mounts);

/* Forgets what has been counted so far. Errors: told to the user */
int run_mounts_reset(struct run_mounts *mounts);

/* After SIGCHLD: says which daemons have ended. */
void run_mounts_notice_ends(struct run_mounts *mounts);

/* Unmounts, and ends all daemons: those whose mount somebody still uses within some seconds. Afterwards their profiles
 * can be read.
 * Returns the first signal that came meanwhile and asks to end, 0 if none did */
int run_mounts_end(struct run_mounts *mounts, const struct signals *signals);

#endif

/* The directories that osprof run profiles, each with an osproffs mounted over it in our mount namespace.
 *
 * All descriptors on a mount are opened when it is made. Afterwards nothing here walks a path, because the path could
 * lead through a mount and be counted there. */
#ifndef RUN_MOUNTS_H
#define RUN_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "namespace.h"
#include "run_daemon.h"
#include "run_outside.h"
#include "signals.h"

#define RUN_ASKING_NAME "osprof-ask" /* name of our threads that send requests to osproffs; fuse.bpf.c has it too */
#define RUN_FILES 2                  /* standard input and output */

struct run_mounts {
    struct run_daemon *daemons;   /* in the order given by the user */
    struct run_daemon **by_depth; /* outer directories before inner ones */
    size_t count;
    struct run_osproffs options;
    struct run_outside outside;
    off_t positions[RUN_FILES]; /* of standard files that are in the directories; -1: of others */
    bool are_ending;            /* daemons may end from now on */
};

/* Opens the directories and refuses what cannot be profiled.
 * directories, options, labels: must stay valid; options and labels may be NULL. wants_groups: as for
 *   run_osproffs_init()
 * Owner:   the caller finishes *ret_mounts, also after an error
 * Errors:  reported to the user */
int run_mounts_open(struct run_mounts *ret_mounts, const char *const *directories, size_t count, const char *options,
                    const char *labels, bool wants_groups);
void run_mounts_finish(struct run_mounts *mounts);

/* Standard input and output may be files in the directories, and were opened before anything was mounted over them.
 * Call before and after the command runs, to report those that it has used. */
void run_mounts_note_files(struct run_mounts *mounts);
void run_mounts_tell_files(const struct run_mounts *mounts);

/* Call after run_mounts_end(), for another start. */
void run_mounts_renew(struct run_mounts *mounts);

/* Call after a mount namespace was entered, and before anything is mounted there. Errors: reported to the user */
int run_mounts_enter(struct run_mounts *mounts);

/* Mounts them all, and changes to the current directory as seen through them.
 * Errors:  reported to the user; -EINTR: a signal came, *ret_signal. What is mounted then must be ended */
int run_mounts_start(struct run_mounts *mounts, const struct signals *signals, int *ret_signal);

/* Waits, at most a fifth of a second, until the latest closes have been counted, since the kernel does not wait for
 * them; but not for calls that processes still make. If a mount does not answer within two seconds, it is not waited
 * for. */
void run_mounts_settle(struct run_mounts *mounts);

/* The same; then the profiles, and their elapsed time, end here, whatever goes on in the mounts. */
void run_mounts_stop(struct run_mounts *mounts);

/* Forgets what has been counted so far. Errors: reported to the user */
int run_mounts_reset(struct run_mounts *mounts);

/* Call after SIGCHLD: reports which daemons have ended. */
void run_mounts_notice_ends(struct run_mounts *mounts);

/* Unmounts, and ends all daemons; if a mount is still in use, within some seconds. Afterwards their profiles can be
 * read.
 * Returns the first signal meanwhile that asks to end, 0 if none did */
int run_mounts_end(struct run_mounts *mounts, const struct signals *signals);

#endif

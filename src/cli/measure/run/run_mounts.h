/* The directories that osprof run profiles, each with an osproffs mounted over it in our mount namespace.
 *
 * All descriptors on a mount are opened when it is made. Afterwards nothing here walks a path, because the path could
 * lead through a mount and be counted there. */
#ifndef RUN_MOUNTS_H
#define RUN_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "namespace.h"
#include "run_daemon.h"
#include "run_options.h"
#include "signals.h"

#define RUN_ASKING_NAME "osprof-ask" /* name of our threads that send requests to osproffs; fuse.bpf.c has it too */
#define RUN_FILES 2                  /* standard input and output */

/* Mounts of osproffs outside of the mount namespace of a run, which has copies of them: where / is mounted private, the
 * kernel does not unmount a copy with its mount, and a daemon that has a mount does not end. So what is unmounted outside is
 * unmounted here too. Not in a user namespace: the kernel lets nobody unmount copies there. Zeroed, there are none. */
struct run_outside {
    int table_fd;   /* the table of mounts outside */
    dev_t *devices; /* [count], of file systems that are mounted there still; with none the descriptor is not valid */
    size_t count;
};

struct run_mounts {
    struct run_daemon *daemons;   /* in the order given by the user */
    struct run_daemon **by_depth; /* outer directories before inner ones */
    size_t count;
    struct run_osproffs options;
    struct run_outside outside;
    off_t positions[RUN_FILES]; /* of standard files that are in the directories; -1: of others */
    bool are_ending;            /* daemons may end from now on */
};

/* Opens the directories and refuses what cannot be profiled. wants_groups: as for run_osproffs_init()
 * Owner:   the caller finishes *ret_mounts, also after an error; borrows the options
 * Errors:  reported to the user */
int run_mounts_open(struct run_mounts *ret_mounts, const struct run_options *options, bool wants_groups);
void run_mounts_finish(struct run_mounts *mounts);

/* Standard input and output may be files in the directories, and were opened before anything was mounted over them.
 * Call before and after the command runs, to report which of the two it has used. */
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

/* Waits until fd can be read, or mounts outside change: then those that have gone there are unmounted here. A mount stays if
 * it is below a mount of the run or one that may hang, or has a mount of the run below it. timeout_ms: -1: for ever */
void run_mounts_wait(struct run_mounts *mounts, int fd, int timeout_ms);

/* Unmounts, and ends all daemons; if a mount is still in use, within some seconds. Afterwards their profiles can be
 * read.
 * Returns the first signal meanwhile that asks to end, 0 if none did */
int run_mounts_end(struct run_mounts *mounts, const struct signals *signals);

#endif

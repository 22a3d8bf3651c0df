/* Mounts of osproffs outside of the mount namespace of a run, which has copies of them: where / is mounted private, the
 * kernel does not unmount a copy with its mount, and a daemon that has a mount does not end. So what is unmounted outside is
 * unmounted here too. Not in a user namespace: the kernel lets nobody unmount copies there. */
#ifndef RUN_OUTSIDE_H
#define RUN_OUTSIDE_H

#include <stddef.h>
#include <sys/types.h>

struct run_daemon;

/* Zeroed, there are none. */
struct run_outside {
    int table_fd;   /* the table of mounts outside */
    dev_t *devices; /* [count], of file systems that are mounted there still; with none the descriptor is not valid */
    size_t count;
};

/* Call before the mount namespace is entered. What fails is as if there were no such mounts. */
void run_outside_open(struct run_outside *ret_outside);
void run_outside_finish(struct run_outside *outside);

/* Waits until fd can be read, or mounts outside change: then those that have gone there are unmounted here. A mount stays if
 * it is below a mount of the run or one that may hang, or has a mount of the run below it.
 * own:        [own_count] the mounts of the run
 * timeout_ms: -1: for ever */
void run_outside_wait(struct run_outside *outside, const struct run_daemon *own, size_t own_count, int fd,
                      int timeout_ms);

#endif

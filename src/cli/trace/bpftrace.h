/* A bpftrace process: of osprof run, started before the command, and stopped after it; or of osprof fuse --attach. */
#ifndef BPFTRACE_H
#define BPFTRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "signals.h"

/* The environment in which osprof was started: bpftrace runs there, whatever is mounted for the command. */
struct bpftrace_place {
    int namespace_fd;       /* of mounts */
    int root_fd;            /* the root directory in there */
    char program[PATH_MAX]; /* path of bpftrace, */
    char cat[PATH_MAX];     /* and of cat(1), which shows when bpftrace is ready */
};

/* Call before another mount namespace is entered.
 * Owner:   the caller finishes *ret_place, also after an error
 * Errors:  -ENOENT there is no bpftrace; others: the failed call's; not reported yet */
int bpftrace_find(struct bpftrace_place *ret_place);
void bpftrace_place_finish(struct bpftrace_place *place);

#define BPFTRACE_ARGUMENTS_MAX 16
#define BPFTRACE_STOP_MS 60000 /* how long it may take to end */

/* What to run. */
struct bpftrace_task {
    const char *layer; /* for messages */
    const char *script;
    const char *live_probe; /* prints while it runs, into a pipe; NULL: into memory, at the end */
    const char *tracepoint; /* one that the script needs, "block/block_rq_issue" */
    const char *since;      /* kernels that have it */
    char *arguments[BPFTRACE_ARGUMENTS_MAX];
    size_t argument_count;
};

struct bpftrace {
    const struct bpftrace_place *place;
    const struct bpftrace_task *task;
    pid_t pid;       /* 0: it does not run */
    int hold_fd;     /* it ends when this is closed */
    int ready_fd;    /* says that it traces */
    int output_fd;   /* memory for its output, or a non-blocking pipe; */
    int messages_fd; /* and for its messages */
    bool has_ended;  /* by itself */
    int wait_status; /* if it has ended */
    uint64_t missed; /* events that the kernel could not deliver; after bpftrace_stop(), only since bpftrace_begin() */
};

/* Does not start it. place, task: must stay valid */
void bpftrace_init(struct bpftrace *ret_bpftrace, const struct bpftrace_place *place, const struct bpftrace_task *task);

/* Kills it if it runs. */
void bpftrace_finish(struct bpftrace *bpftrace);

/* Begins to start it. Errors: reported to the user */
int bpftrace_start(struct bpftrace *bpftrace, const struct signals *signals);

/* Waits until it traces, which takes seconds.
 * Errors:  reported to the user: it does not run; -EINTR: a signal came, *ret_signal */
int bpftrace_wait(struct bpftrace *bpftrace, const struct signals *signals, int *ret_signal);

/* Call when it traces: events missed before do not matter. */
void bpftrace_begin(struct bpftrace *bpftrace);

/* The number of events missed since then, as far as the kernel counts them. */
uint64_t bpftrace_count_missed(const struct bpftrace *bpftrace);

/* True if it has ended by itself. */
bool bpftrace_has_ended(struct bpftrace *bpftrace);

/* Stops tracing: later events do not count. */
void bpftrace_stop(struct bpftrace *bpftrace);

/* Call then: waits for its end, at most a minute.
 * what:    consequence for the layer if it has not ended properly: "has no profile"
 * Errors:  reported to the user */
int bpftrace_wait_for_end(struct bpftrace *bpftrace, const struct signals *signals, const char *what);

/* Call instead, if it is not live: its output, as JSON.
 * Owner:   the caller frees *ret_text
 * Errors:  reported to the user */
int bpftrace_read(struct bpftrace *bpftrace, const struct signals *signals, char **ret_text, size_t *ret_size_bytes);

#endif

/* A bpftrace: of osprof run, started before the command, and stopped after it; or of osprof fuse --attach. */
#ifndef BPFTRACE_H
#define BPFTRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "signals.h"

/* Where it runs, whatever is mounted for the command: where osprof was started. */
struct bpftrace_place {
    int namespace_fd;       /* of mounts */
    int root_fd;            /* the root directory in there */
    char program[PATH_MAX]; /* bpftrace, */
    char cat[PATH_MAX];     /* and cat(1), which tells when it is ready */
};

/* Before another mount namespace is entered.
 * Owner:   the caller finishes *ret_place, also after an error
 * Errors:  -ENOENT there is no bpftrace; what failed otherwise; not told yet */
int bpftrace_find(struct bpftrace_place *ret_place);
void bpftrace_place_finish(struct bpftrace_place *place);

#define BPFTRACE_ARGUMENTS_MAX 16
#define BPFTRACE_STOP_MS 60000 /* how long it may take to end */

/* What it is to do. */
struct bpftrace_task {
    const char *layer; /* for messages */
    const char *script;
    const char *live_probe; /* one more, by which it prints as it goes, into a pipe; NULL: into memory, in the end */
    const char *tracepoint; /* one that the script needs, "block/block_rq_issue" */
    const char *since;      /* which kernels have it */
    char *arguments[BPFTRACE_ARGUMENTS_MAX];
    size_t argument_count;
};

struct bpftrace {
    const struct bpftrace_place *place;
    const struct bpftrace_task *task;
    pid_t pid;       /* 0: it does not run */
    int hold_fd;     /* what it lives as long as */
    int ready_fd;    /* tells that it traces */
    int output_fd;   /* memory that gets what it prints, or where that is read, without waiting; */
    int messages_fd; /* and its messages */
    bool has_ended;  /* before it was to */
    int wait_status; /* then */
    uint64_t missed; /* events that the kernel has not given it; after bpftrace_stop() since bpftrace_begin() */
};

/* Not started yet. place, task: must stay */
void bpftrace_init(struct bpftrace *ret_bpftrace, const struct bpftrace_place *place, const struct bpftrace_task *task);

/* Kills it if it runs. */
void bpftrace_finish(struct bpftrace *bpftrace);

/* Begins to start it. Errors: told to the user */
int bpftrace_start(struct bpftrace *bpftrace, const struct signals *signals);

/* Waits until it traces, which takes seconds.
 * Errors:  told to the user: it does not run; -EINTR: a signal came, *ret_signal */
int bpftrace_wait(struct bpftrace *bpftrace, const struct signals *signals, int *ret_signal);

/* When it traces: what was missed before does not matter. */
void bpftrace_begin(struct bpftrace *bpftrace);

/* How many events it has missed since then, as far as the kernel tells. */
uint64_t bpftrace_count_missed(const struct bpftrace *bpftrace);

/* Whether it has ended by itself. */
bool bpftrace_has_ended(struct bpftrace *bpftrace);

/* Has it stop to trace: what happens from here on does not count. */
void bpftrace_stop(struct bpftrace *bpftrace);

/* Then: waits for its end, for a minute at most.
 * what:    of the layer, if it has not ended as it should: "has no profile"
 * Errors:  told to the user */
int bpftrace_wait_for_end(struct bpftrace *bpftrace, const struct signals *signals, const char *what);

/* Instead, if it is not live: what it has printed, as JSON.
 * Owner:   the caller frees *ret_text
 * Errors:  told to the user */
int bpftrace_read(struct bpftrace *bpftrace, const struct signals *signals, char **ret_text, size_t *ret_size_bytes);

#endif

/* A bpftrace of osprof run: started before the command, and stopped after it. */
#ifndef RUN_BPFTRACE_H
#define RUN_BPFTRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run_signals.h"

/* Where it runs, whatever is mounted for the command: where osprof was started. */
struct run_bpftrace_place {
    int namespace_fd;       /* of mounts */
    int root_fd;            /* the root directory in there */
    char program[PATH_MAX]; /* bpftrace, */
    char cat[PATH_MAX];     /* and cat(1), which tells when it is ready */
};

/* Before another mount namespace is entered.
 * Owner:   the caller finishes *ret_place, also after an error
 * Errors:  -ENOENT there is no bpftrace; what failed otherwise; not told yet */
int run_bpftrace_find(struct run_bpftrace_place *ret_place);
void run_bpftrace_place_finish(struct run_bpftrace_place *place);

#define RUN_BPFTRACE_ARGUMENTS_MAX 16

/* What it is to do. */
struct run_bpftrace_task {
    const char *layer; /* for messages */
    const char *script;
    const char *tracepoint; /* one that the script needs, "block/block_rq_issue" */
    const char *since;      /* which kernels have it */
    char *arguments[RUN_BPFTRACE_ARGUMENTS_MAX];
    size_t argument_count;
};

struct run_bpftrace {
    const struct run_bpftrace_place *place;
    const struct run_bpftrace_task *task;
    pid_t pid;       /* 0: it does not run */
    int hold_fd;     /* what it lives as long as */
    int ready_fd;    /* tells that it traces */
    int output_fd;   /* memory that gets what it prints, */
    int messages_fd; /* and its messages */
    bool has_ended;  /* before it was to */
    int wait_status; /* then */
    uint64_t missed; /* events that the kernel has not given it; after run_bpftrace_stop() since run_bpftrace_begin() */
};

/* Not started yet. place, task: must stay */
void run_bpftrace_init(struct run_bpftrace *ret_bpftrace, const struct run_bpftrace_place *place,
                       const struct run_bpftrace_task *task);

/* Kills it if it runs. */
void run_bpftrace_finish(struct run_bpftrace *bpftrace);

/* Begins to start it. Errors: told to the user */
int run_bpftrace_start(struct run_bpftrace *bpftrace, const struct run_signals *signals);

/* Waits until it traces, which takes seconds.
 * Errors:  told to the user: it does not run; -EINTR: a signal came, *ret_signal */
int run_bpftrace_wait(struct run_bpftrace *bpftrace, const struct run_signals *signals, int *ret_signal);

/* When it traces: what was missed before does not matter. */
void run_bpftrace_begin(struct run_bpftrace *bpftrace);

/* Has it stop to trace: what happens from here on does not count. */
void run_bpftrace_stop(struct run_bpftrace *bpftrace);

/* Then: what it has printed, as JSON.
 * Owner:   the caller frees *ret_text
 * Errors:  told to the user */
int run_bpftrace_read(struct run_bpftrace *bpftrace, const struct run_signals *signals, char **ret_text,
                      size_t *ret_size_bytes);

#endif

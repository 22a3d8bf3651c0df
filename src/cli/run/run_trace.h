/* The layers "fuse" and "block" of osprof run, which bpftrace takes from tracepoints of the kernel: requests to the
 * FUSE file systems that the directories are, and to the disks that they lie on. What cannot be traced is told, and
 * left out. */
#ifndef RUN_TRACE_H
#define RUN_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_devices.h"
#include "recording.h"
#include "run_bpftrace.h"
#include "run_signals.h"

enum run_trace_layer { RUN_TRACE_FUSE, RUN_TRACE_BLOCK, RUN_TRACE_LAYERS };

/* One of them. */
struct run_trace {
    bool is_wanted; /* and nothing has failed yet */
    struct run_bpftrace_task task;
    struct run_bpftrace bpftrace;
};

struct run_traces {
    struct run_trace layers[RUN_TRACE_LAYERS];
    struct run_bpftrace_place place;
    struct block_devices devices;
    const char *const *directories;
    size_t directory_count;
    const char *const *labels;
    size_t label_count;
    char *lower;      /* paths of the directories, for headers; NULL: no memory */
    int64_t start_ns; /* Unix time at which the profiles begin, */
    int64_t begin_ns; /* and by the monotonic clock */
    int64_t end_ns;
    uint64_t disk_requests; /* by the disks' own count, in that time */
};

/* Looks for bpftrace and for disks; before anything is mounted.
 * wanted:      by enum run_trace_layer
 * directories: as they were given; labels: KEY=VALUE, for headers; both must stay
 * Owner:       the caller finishes *ret_traces */
void run_traces_open(struct run_traces *ret_traces, const bool wanted[RUN_TRACE_LAYERS], const char *const *directories,
                     size_t directory_count, const char *const *labels, size_t label_count);
void run_traces_finish(struct run_traces *traces);

/* After all is mounted: returns when all that can be traced is traced.
 * Errors:  -EINTR: a signal came, *ret_signal */
int run_traces_start(struct run_traces *traces, const struct run_signals *signals, int *ret_signal);

/* The time that the profiles cover begins here. */
void run_traces_begin(struct run_traces *traces);

/* The profiles end here, and are added to the layers. Errors: told to the user; the other layer is added nevertheless
 */
void run_traces_stop(struct run_traces *traces, const struct run_signals *signals, struct recording *layers);

#endif

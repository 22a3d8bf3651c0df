/* The layers "fuse" (with "queue") and "block" of osprof run, which are counted in the kernel: requests to the FUSE file
 * systems over the directories, and to the disks below them. What cannot be counted is reported, and left out. */
#ifndef TRACES_H
#define TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_devices.h"
#include "collector.h"
#include "recording.h"
#include "session.h"

enum trace_layer { TRACE_FUSE, TRACE_BLOCK, TRACE_LAYERS };

/* One of them. */
struct trace {
    bool is_wanted; /* and nothing has failed yet */
    struct collector *collector;
    struct session sessions[COLLECTOR_LANES_MAX];
    struct counting_lane lanes[COLLECTOR_LANES_MAX];
};

struct traces {
    struct trace layers[TRACE_LAYERS];
    struct block_devices devices;
    const char *const *directories;
    size_t directory_count;
    struct session_options options;
    bool has_workers; /* the daemon's threads answer the requests that they take: so waits for a worker can be seen */
    char *lower;      /* paths of the directories, for headers; NULL: no memory */
    uint64_t disk_requests; /* by the disks' own counters, at the beginning */
};

/* Looks for privileges and for disks; call before anything is mounted.
 * wanted:      by enum trace_layer
 * directories: as given by the user; labels: KEY=VALUE, for headers; both must stay valid
 * Owner:   the caller finishes *ret_traces */
void traces_open(struct traces *ret_traces, const bool wanted[TRACE_LAYERS], const char *const *directories,
                 size_t directory_count, const struct option_list *labels);
void traces_finish(struct traces *traces);

/* Call then, after all is mounted: attaches what can be counted. */
void traces_start(struct traces *traces);

/* The time that the profiles cover begins here. */
void traces_begin(struct traces *traces);

/* The profiles end here, and are added to the layers.
 * Errors:  reported to the user; the other layer is added nevertheless */
void traces_stop(struct traces *traces, struct recording *layers);

#endif

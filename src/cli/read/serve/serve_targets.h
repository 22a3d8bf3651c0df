/* What is served: the given mounts, or all existing ones, each read anew for each scrape.
 *
 * Invariants:
 *   - A mount is identified by its path and read from its live file, so that no mount is accessed. An argument without
 *     a live file is read by a child process: if it hangs, it delays a single scrape by a second, and no later one.
 *   - No two targets have the same layer, host and mount, which distinguish their series.
 *   - The clock rate is the first one read, for as long as the process runs: the bounds of buckets, and with them the
 *     series, depend on it. */
#ifndef SERVE_TARGETS_H
#define SERVE_TARGETS_H

#include <limits.h>

#include "control_reader.h"
#include "daemon_watch.h"
#include "serve_why.h"
#include "views.h"

#define SERVE_CLOCKS (AGGSTATS_CLOCK_MONOTONIC + 1)

/* An argument: a mount, or a file. */
struct serve_argument {
    const char *text; /* borrowed */
    char *path;       /* the same, normalised */
    struct control_reader reader;
};

/* What earlier scrapes have seen of a daemon. */
struct serve_watched {
    char *live; /* the path of its live file */
    struct daemon_watch watch;
    bool is_seen; /* by the latest scrape */
};

struct serve_source {
    struct serve_argument *arguments;
    size_t count; /* 0: all mounts that have a live file */
    struct serve_watched *watched;
    size_t watched_count;
    uint64_t rates_hz[SERVE_CLOCKS];
    char host[HOST_NAME_MAX + 1]; /* for targets that are down, and have no header */
};

/* Owner:   the caller finishes *ret_source, which borrows the texts
 * Errors:  -ENOMEM */
int serve_source_init(struct serve_source *ret_source, char *const *arguments, size_t count);
void serve_source_finish(struct serve_source *source);

struct serve_target {
    struct aggstats_profile profile; /* if it is down, only its labels are valid */
    bool is_up;
    struct daemon_state daemon;
};

struct serve_targets {
    struct serve_target *targets;
    size_t count;
};

/* Reads all of them.
 * Owner:   the caller finishes *ret_targets
 * Errors:  -ENOMEM */
int serve_source_read(struct serve_source *source, struct serve_targets *ret_targets);
void serve_targets_finish(struct serve_targets *targets);

/* As view_format_all(). why: NULL: profiles only */
int serve_targets_format(const struct serve_source *source, const struct serve_targets *targets, struct serve_why *why,
                         const struct view *view, char **ret_text, size_t *ret_size_bytes);

#endif

/* Other views of a profile: the same numbers in formats of other systems, described in osprof(5). Pure functions of a
 * profile. */
#ifndef VIEWS_H
#define VIEWS_H

#include "aggstats.h"

/* Waits of threads of the machine, summed for one cause and one program. */
struct view_wait {
    const char *cause;
    const char *class; /* "held up", "cpu" or "work" */
    const char *program;
    uint64_t waits; /* that have ended */
    double seconds;
};

/* A profile, as part of a view of several profiles. */
struct view_target {
    const struct aggstats_profile *profile; /* if it is down, only the labels are written */
    bool is_up;                             /* it is being recorded */
    bool is_stuck;                          /* it is up, but serves nobody: osprof_up is 0, and the rest is written */
    bool knows_waiting;                     /* the next one is valid */
    uint64_t waiting;                       /* requests that wait for the daemon */
    const struct view_wait *waits; /* [wait_count] only these, and no profile but its labels; NULL: a profile */
    size_t wait_count;
};

struct view {
    const char *name;

    /* Writes the profile and flushes the stream.
     * Errors:  the stream's -errno, -ENOMEM, -EINVAL an invalid profile, -EDOM the view needs seconds and the profile's
     *          clock rate is unknown, -EOVERFLOW the view has no room for a count that large, -ENOTSUP it is not built
     *          in */
    int (*write)(const struct aggstats_profile *profile, FILE *stream);

    /* The same for several profiles together, with metrics of which are up; NULL: this view has only one. */
    int (*write_all)(const struct view_target *targets, size_t count, FILE *stream);

    /* Readers identify buckets by their bounds in seconds: improving a measured clock rate must not change them. */
    bool needs_steady_rate;
};

extern const struct view view_text;     /* osprof(5) itself */
extern const struct view view_json;     /* docs/profile.schema.json */
extern const struct view view_csv;      /* a row per non-empty bucket */
extern const struct view view_metrics;  /* Prometheus' text format, which is OpenMetrics too */
extern const struct view view_protobuf; /* the same as protobuf, with native histograms; no text */

/* Advice (src/analysis/include/advice.h). Strings: NULL: unknown, or none */
struct view_advice {
    const char *rule;
    const char *op;
    const char *program;
    const char *place;
    uint64_t calls;
    uint64_t of_calls;
    double busy_seconds; /* 0: unknown */
    double bound;        /* shares of the elapsed time */
    double between;
};

/* As view_json, with advice. */
int view_write_advised_json(const struct aggstats_profile *profile, const struct view_advice *advice, size_t count,
                            FILE *stream);

/* A view in memory, NUL-terminated.
 * Owner:   the caller frees *ret_text
 * Errors:  as view->write(); *ret_text untouched */
int view_format(const struct view *view, const struct aggstats_profile *profile, char **ret_text,
                size_t *ret_size_bytes);

/* The same with several profiles, for a view that supports them. */
int view_format_all(const struct view *view, const struct view_target *targets, size_t count, char **ret_text,
                    size_t *ret_size_bytes);

/* True if two values of a label are equal in metrics, where characters that a terminal obeys, and invalid UTF-8, are
 * replaced. NULL: there is no such label, which counts as empty */
bool view_is_same_in_metrics(const char *a, const char *b);

#endif

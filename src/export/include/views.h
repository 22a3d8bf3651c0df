/* Other views of a profile: the same numbers as texts that other systems read, described in osprof(5). Pure functions
 * of a profile. */
#ifndef VIEWS_H
#define VIEWS_H

#include "aggstats.h"

/* One of several profiles that are told together. */
struct view_target {
    const struct aggstats_profile *profile; /* of one that is down only the labels are told */
    bool is_up;                             /* somebody records it */
    bool is_stuck;                          /* it is up, but serves nobody: osprof_up is 0, and the rest is told */
    bool knows_waiting;                     /* the next one is meaningful */
    uint64_t waiting;                       /* requests that wait for the daemon */
};

struct view {
    const char *name;

    /* Writes the profile and flushes the stream.
     * Errors:  the stream's -errno, -ENOMEM, -EINVAL no valid profile, -EDOM the view tells seconds and the profile's
     *          clock rate is not known, -EOVERFLOW the view has no room for a count that large */
    int (*write)(const struct aggstats_profile *profile, FILE *stream);

    /* The same with several profiles in one, and which of them are up; NULL: this view has one only. */
    int (*write_all)(const struct view_target *targets, size_t count, FILE *stream);

    /* Readers know buckets by their bounds in seconds: a clock rate that is measured better and better must not change
     * them. */
    bool needs_steady_rate;
};

extern const struct view view_text;     /* osprof(5) itself */
extern const struct view view_json;     /* docs/profile.schema.json */
extern const struct view view_csv;      /* a row per bucket that is not empty */
extern const struct view view_metrics;  /* Prometheus' text format, which is OpenMetrics too */
extern const struct view view_protobuf; /* the same as protobuf, with native histograms; no text */

/* A view in memory, NUL-terminated.
 * Owner:   the caller frees *ret_text
 * Errors:  as view->write(); *ret_text untouched */
int view_format(const struct view *view, const struct aggstats_profile *profile, char **ret_text,
                size_t *ret_size_bytes);

/* The same with several profiles, of a view that can have them. */
int view_format_all(const struct view *view, const struct view_target *targets, size_t count, char **ret_text,
                    size_t *ret_size_bytes);

/* Whether two values of a label are one in metrics, where what a terminal obeys is replaced, and so is what is no
 * UTF-8. NULL: there is no such label, which is as if it were empty */
bool view_is_same_in_metrics(const char *a, const char *b);

#endif

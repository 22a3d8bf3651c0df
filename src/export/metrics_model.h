/* Private: the metrics of profiles, which the text format and protobuf share: which families there are, and their
 * samples and labels.
 *
 * Invariants:
 *   - The samples of a family are together, those of one profile in the order of its ops.
 *   - To Prometheus a bound is part of the name of a series. So the metrics of a mount have the same bounds for all ops
 *     at all times, and keep the clock rate known at mount (osprof serve: the first one read): a measured rate changes
 *     with every snapshot, which would move all bounds, and sums backwards. Bounds are those of the profile's own
 *     buckets: counts below round numbers of seconds would be guesses.
 *   - Labels are UTF-8 without anything that a terminal obeys, except newlines: people look at metrics too. */
#ifndef METRICS_MODEL_H
#define METRICS_MODEL_H

#include "views.h"
#include "wide_count.h"

/* Causes of one profile that have series of their own, as many as a recorder keeps. All others of an op are added up,
 * so that the number of series is bounded. */
#define METRICS_CAUSES_MAX 128

/* The series of an op and a cause. */
struct metrics_cause {
    const char *op; /* owned by the profile */
    char *text;     /* as in a label */
    wide_count calls;
    double total_cycles;
};

struct metrics_causes {
    struct metrics_cause *causes; /* in the order of the profile */
    size_t count;
};

struct metrics_label {
    char *name;
    char *value;
};

struct metrics_labels {
    struct metrics_label *labels;
    size_t count;
};

struct metrics_wait {
    struct metrics_labels labels;
    uint64_t waits;
    double seconds;
};

/* A profile with its labels; or waits of a machine. */
struct metrics_subject {
    const struct aggstats_profile *profile;
    struct metrics_labels common; /* of all its samples */
    struct metrics_labels info;   /* of the info only */
    struct metrics_causes causes;
    bool is_up; /* false: osprof_up, with value 0, is the only metric */
    bool is_stuck;
    bool knows_waiting;
    uint64_t waiting;
    struct metrics_wait *waits; /* [wait_count]; NULL: a profile */
    size_t wait_count;
};

struct metrics_model {
    struct metrics_subject *subjects;
    size_t count;
    bool tells_up; /* has the families of targets */
    bool has_waits;
};

enum metrics_type {
    METRICS_GAUGE,
    METRICS_COUNTER,
    METRICS_SUM,       /* a counter that is no integer */
    METRICS_HISTOGRAM, /* of the latencies of an op */
};

/* A row has one of the three functions, unless it is a histogram, of causes, or of targets. */
struct metrics_family {
    const char *name;
    const char *help;
    enum metrics_type type;
    bool (*known)(const struct aggstats_profile *profile); /* NULL: known of all profiles */
    double (*of_profile)(const struct aggstats_profile *profile);
    bool (*known_of_op)(const struct aggstats_op_profile *op); /* NULL: known of all ops */
    double (*of_op)(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);
    /* the count of series 0, 1, ... of an op. Returns the value of its label; NULL: there is no such series */
    const char *(*of_series)(const struct aggstats_op_profile *op, unsigned series, uint64_t *ret_count);
    unsigned series_count;    /* the maximum */
    const char *series_label; /* name of the label */
    bool is_of_causes;        /* counts the calls of each cause, or sums up their seconds, by type */
    bool is_of_waits;         /* counts the waits of each cause and program, or sums up their seconds, by type */
    bool has_info;            /* its samples also have the info's labels */
    bool is_up;               /* which targets are up: a sample for each, if there are several */
    bool is_waiting;          /* the requests that wait for each target, if known */
};

#define METRICS_FAMILIES 18
extern const struct metrics_family metrics_families[METRICS_FAMILIES];

struct metrics_sample {
    const struct metrics_family *family;
    const struct metrics_subject *subject;
    const struct aggstats_op_profile *op; /* NULL: of the whole profile, or of a cause */
    const char *op_name;                  /* value of the label "op"; NULL: none */
    const char *series;                   /* value of the label of its series; NULL: none */
    const struct metrics_labels *own;     /* its other labels; NULL: none */
    double value;                         /* valid for gauges and sums */
    wide_count count;                     /* valid for counters */
};

/* A model of several profiles, and of a single one, which has no family of targets.
 * Errors:  -EINVAL a profile is invalid, -EDOM a clock rate is unknown, -ENOMEM; nothing to finish then
 * Owner:   the caller finishes *ret_model, which borrows the profiles */
int metrics_model_init(struct metrics_model *ret_model, const struct view_target *targets, size_t count);
int metrics_model_init_one(struct metrics_model *ret_model, const struct aggstats_profile *profile);
void metrics_model_finish(struct metrics_model *model);

#define CLEANUP_METRICS __attribute__((cleanup(metrics_model_finish)))

/* Called for each sample of a family, in order. Returns 0, or -errno to stop. */
typedef int (*metrics_visit_fn)(void *context, const struct metrics_sample *sample);
bool metrics_has_family(const struct metrics_model *model, const struct metrics_family *family);
int metrics_visit(const struct metrics_model *model, const struct metrics_family *family, metrics_visit_fn visit,
                  void *context);

#endif

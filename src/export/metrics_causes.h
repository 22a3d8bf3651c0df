/* Private: causes of slow calls, as metrics. */
#ifndef METRICS_CAUSES_H
#define METRICS_CAUSES_H

#include "aggstats.h"
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

/* label_of: turns a text into a label, which the caller frees; NULL: no memory is left. Causes with equal labels are
 * added up.
 * Errors:  -ENOMEM; metrics_causes_finish() frees what was allocated */
int metrics_causes_init(struct metrics_causes *causes, const struct aggstats_profile *profile,
                        char *(*label_of)(const char *text));
void metrics_causes_finish(struct metrics_causes *causes);

#endif

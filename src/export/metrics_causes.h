/* Private: what slow calls have waited for, as metrics have it. */
#ifndef METRICS_CAUSES_H
#define METRICS_CAUSES_H

#include "aggstats.h"
#include "wide_count.h"

/* Of one profile with a name of their own, the same as a recorder keeps; all others of an op are one, so that there are
 * never more series. */
#define METRICS_CAUSES_MAX 128

/* The series of an op and a cause. */
struct metrics_cause {
    const char *op; /* the profile's */
    char *text;     /* as a label has it */
    wide_count calls;
    double total_cycles;
};

struct metrics_causes {
    struct metrics_cause *causes; /* in the order of the profile */
    size_t count;
};

/* label_of: gives a text as a label has it, which the caller frees; NULL: no memory is left. Causes whose labels are
 * the same are one.
 * Errors:  -ENOMEM; metrics_causes_finish() frees what there is */
int metrics_causes_init(struct metrics_causes *causes, const struct aggstats_profile *profile,
                        char *(*label_of)(const char *text));
void metrics_causes_finish(struct metrics_causes *causes);

#endif

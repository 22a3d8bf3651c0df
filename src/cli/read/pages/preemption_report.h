/* What preemption may have done to a profile, in words. */
#ifndef PREEMPTION_REPORT_H
#define PREEMPTION_REPORT_H

#include "aggstats.h"
#include "command.h"

struct preemption_options {
    double quantum_seconds; /* 0: from the calibration of the profile's host */
    unsigned threads;       /* threads that take turns on a CPU, at least 2 */
};

/* Prints the estimate for each op. name: of the profile
 * Returns STATUS_TROUBLE if data for an estimate is missing, which has been reported */
enum status preemption_report_print(const char *name, const struct aggstats_profile *profile,
                                    const struct preemption_options *options);

#endif

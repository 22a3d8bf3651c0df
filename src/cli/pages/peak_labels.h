/* What peaks may be, in words, and why: peak_cause.h decides. */
#ifndef PEAK_LABELS_H
#define PEAK_LABELS_H

#include "calibration.h"
#include "peak_cause.h"
#include "screen.h"
#include "units.h"

/* What peaks of a profile are held against. Owner: calibration */
struct peak_times peak_labels_times(const struct aggstats_profile *profile, const struct calibration *calibration);

/* A line below a histogram for each peak that has a name: "  peak at 75.7 us: one disk read". */
void peak_labels_print(const struct aggstats_op_profile *op, const struct peak_times *times, const struct units *units,
                       const struct screen *screen);

/* A sentence for a peak: its name and the evidence, or how far the evidence falls short. */
void peak_labels_explain(const struct aggstats_op_profile *op, const struct peak *peak, const struct peak_times *times,
                         const struct units *units, const struct screen *screen);

/* Why no peak of the profile has a name: there are no times. */
void peak_labels_explain_none(const struct screen *screen);

/* The same for all peaks of an op. */
void peak_labels_explain_all(const struct aggstats_op_profile *op, const struct peak_times *times,
                             const struct units *units, const struct screen *screen);

#endif

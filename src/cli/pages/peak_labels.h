/* Lines about the peaks of an op: their probable cause, and the evidence (peak_cause.h decides); what their calls
 * waited for; and where they are. */
#ifndef PEAK_LABELS_H
#define PEAK_LABELS_H

#include "calibration.h"
#include "peak_cause.h"
#include "screen.h"
#include "units.h"

/* The times to compare a profile's peaks with. Owner: calibration */
struct peak_times peak_labels_times(const struct aggstats_profile *profile, const struct calibration *calibration);

/* A line below a histogram for each peak that has a name: "  peak at 75.7 us: may be one disk read". */
void peak_labels_print(const struct aggstats_op_profile *op, const struct peak_times *times, const struct units *units,
                       const struct screen *screen);

/* A sentence for a peak: its name and the evidence, or what is missing for that. */
void peak_labels_explain(const struct aggstats_op_profile *op, const struct peak *peak, const struct peak_times *times,
                         const struct units *units, const struct screen *screen);

/* Says why no peak of the profile has a name: there are no times. */
void peak_labels_explain_none(const struct screen *screen);

/* The same for all peaks of an op. */
void peak_labels_explain_all(const struct aggstats_op_profile *op, const struct peak_times *times,
                             const struct units *units, const struct screen *screen);

/* A line below a histogram for each peak with known causes:
 *     "  peak at 30.1 ms: 94.0 % waiting for the ext4 journal to commit"
 * Shares are of its calls. If some were not slow, or not watched, it says how many calls the shares are of:
 *     "  peak at 30.1 ms: of 85 slow calls 94.0 % waiting for the ext4 journal to commit" */
void peak_labels_print_waits(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                             const struct units *units, const struct screen *screen);

/* A line for a peak: its bounds, its calls, its part of the latency. */
void peak_labels_print_place(const struct peak *peak, unsigned resolution, const struct units *units,
                             const struct screen *screen);

/* Prints the distribution of a value over the calls of each peak of an op, as in thesis Figure 7.4.
 * op: of the joint profile; its buckets have the peaks */
void peak_labels_print_joint(const struct aggstats_joint_profile *joint, const struct aggstats_op_profile *op,
                             unsigned resolution, const struct units *units, const struct screen *screen);

#endif

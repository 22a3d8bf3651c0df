/* Lines about the peaks of an op: their probable cause, and the evidence (peak_cause.h decides); what their calls
 * waited for; and where they are. */
#ifndef PEAK_LABELS_H
#define PEAK_LABELS_H

#include "calibration.h"
#include "peak_cause.h"
#include "sheet.h"

/* The times to compare a profile's peaks with. Owner: calibration */
struct peak_times peak_labels_times(const struct aggstats_profile *profile, const struct calibration *calibration);

/* The name of a peak; "": unknown, or the peak has no calls. */
const char *peak_labels_name(const struct aggstats_profile *profile, const struct calibration *calibration,
                             const struct aggstats_op_profile *op, const struct peak *peak);

/* Puts a line below a histogram for each peak that has a name: "  peak at 75.7 us: may be one disk read". */
void peak_labels_put(struct sheet *sheet, const struct aggstats_op_profile *op, const struct peak_times *times);

/* Puts a sentence for a peak: its name and the evidence, or what is missing for that. */
void peak_labels_explain(struct sheet *sheet, const struct aggstats_op_profile *op, const struct peak *peak,
                         const struct peak_times *times);

/* Says why no peak of the profile has a name, or none but those explained: there are no times. */
void peak_labels_explain_none(struct sheet *sheet, bool are_others);

/* The same for all peaks of an op. */
void peak_labels_explain_all(struct sheet *sheet, const struct aggstats_op_profile *op, const struct peak_times *times);

/* Puts a line below a histogram for each peak with known causes:
 *     "  peak at 30.1 ms: 94.0 % waiting for the ext4 journal to commit"
 * Shares are of its calls. If some were not slow, or not watched, it says how many calls the shares are of:
 *     "  peak at 30.1 ms: of 85 slow calls 94.0 % waiting for the ext4 journal to commit" */
void peak_labels_put_waits(struct sheet *sheet, const struct aggstats_profile *profile,
                           const struct aggstats_op_profile *op);

/* Puts a line for a peak: its bounds, its calls, its part of the latency. */
void peak_labels_put_place(struct sheet *sheet, const struct peak *peak, unsigned resolution);

/* Puts the distribution of a value over the calls of each peak of an op, as in thesis Figure 7.4.
 * op: of the joint profile; its buckets have the peaks */
void peak_labels_put_joint(struct sheet *sheet, const struct aggstats_joint_profile *joint,
                           const struct aggstats_op_profile *op, unsigned resolution);

#endif

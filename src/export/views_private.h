/* Private: functions that the views share. */
#ifndef VIEWS_PRIVATE_H
#define VIEWS_PRIVATE_H

#include "views.h"

/* Flushes what was written. Returns 0 or the stream's -errno */
int view_finish(FILE *stream);

#define REAL_TEXT_SIZE 32

/* The shortest decimal that is read back as the same number, without an exponent if it is whole and up to 2^53. For
 * finite numbers; the locale must have the decimal point. */
void format_real(double value, char ret_text[REAL_TEXT_SIZE]);

/* Calls of an op that have ended. */
static inline uint64_t view_finished(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
        finished += op->buckets[bucket];
    return finished;
}

/* The lower bound of a bucket: bucket 0 also holds latencies of 0 cycles. */
static inline double view_bucket_lower(const struct aggstats_profile *profile, unsigned bucket) {
    return bucket == 0 ? 0 : aggstats_bucket_lower(bucket, profile->resolution);
}

static inline bool view_has_seconds(const struct aggstats_profile *profile) {
    return profile->clock.frequency_hz > 0;
}

static inline double view_seconds(const struct aggstats_profile *profile, double cycles) {
    return cycles / (double)profile->clock.frequency_hz;
}

#endif

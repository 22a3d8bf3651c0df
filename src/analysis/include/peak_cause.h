/* What most calls of a peak waited for, if characteristic times are strong evidence for it. All pages that name peaks
 * use this one rule, so no two contradict each other. Pure functions. */
#ifndef PEAK_CAUSE_H
#define PEAK_CAUSE_H

#include "characteristic.h"
#include "peaks.h"

enum peak_cause {
    PEAK_CAUSE_NOT_KNOWN,
    PEAK_CAUSE_MEMORY, /* too fast for the device below */
    PEAK_CAUSE_DEVICE_READ,
    PEAK_CAUSE_DEVICE_WRITE,
    PEAK_CAUSE_DEVICE_FLUSH,
    PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH, /* both take about as long */
    PEAK_CAUSE_ROUND_TRIP,
};

#define PEAK_CAUSE_NEAR_MIN 0.5   /* of a peak's calls */
#define PEAK_CAUSE_MEMORY_MIN 0.9 /* likewise */
#define PEAK_CAUSE_MEMORY_FACTOR 4

/* What the peaks of a profile are compared with. */
struct peak_times {
    unsigned resolution;
    uint64_t frequency_hz;              /* of the profile's clock; 0: unknown, then no cause is found */
    const struct characteristic *times; /* times that apply to the profile, as found by calibration_for_profile() */
    size_t count;
};

/* A cause, and the evidence for it. */
struct peak_reason {
    enum peak_cause cause;
    const struct characteristic *time; /* the time of the cause; without a cause, the one of those that the op may wait
                                        * for that most calls are near. NULL: there is none. Owner: times */
    double near_part;                  /* share of the peak's calls near it; PEAK_CAUSE_MEMORY: of those much faster */
};

/* The cause of most of the peak's calls:
 * - a device, or a round trip: PEAK_CAUSE_NEAR_MIN of the calls take between a half and twice its median, and the op
 *   waits for such (READ does not wait for writes);
 * - memory: the times of reads of the device below are known, and PEAK_CAUSE_MEMORY_MIN of the calls take less than the
 *   lower quartile divided by PEAK_CAUSE_MEMORY_FACTOR; for WRITE, FSYNC and FSYNCDIR also less than that of writes,
 *   for the latter two also less than that of flushes.
 *
 * A machine's own times (sleep, quantum) are near so many latencies that they are no evidence.
 * Source:  thesis §3.1.2 (differs: nearness alone names no peak) */
struct peak_reason peak_reason_of(const struct aggstats_op_profile *op, const struct peak *peak,
                                  const struct peak_times *times);

/* In words: "one disk read", "from memory"; "": unknown. */
const char *peak_cause_text(enum peak_cause cause, const struct aggstats_op_profile *op);

#endif

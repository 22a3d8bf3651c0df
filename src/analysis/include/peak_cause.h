/* What most calls of a peak have waited for, told only where characteristic times are strong evidence. All that names
 * peaks asks this one rule, so no two pages contradict each other. Pure functions. */
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

/* What peaks of a profile are held against. */
struct peak_times {
    unsigned resolution;
    uint64_t frequency_hz;              /* of the profile's clock; 0: not known, then nothing is */
    const struct characteristic *times; /* that may explain the profile, as calibration_for_profile() finds them */
    size_t count;
};

/* A cause, and why it is one. */
struct peak_reason {
    enum peak_cause cause;
    const struct characteristic *time; /* what the calls were held against: of those that the op may wait for, without
                                        * a cause, the one most of them are near. NULL: there is none. Owner: times */
    double near_part;                  /* of the peak's calls, those near it; PEAK_CAUSE_MEMORY: those much faster */
};

/* A cause holds for most of the peak's calls:
 * - a device, or a round trip: PEAK_CAUSE_NEAR_MIN of the calls take between a half and twice its median, and the op
 *   asks for such (READ does not wait for writes);
 * - memory: of the device below the times for reads are known, and PEAK_CAUSE_MEMORY_MIN of the calls take less than
 *   the lower quartile divided by PEAK_CAUSE_MEMORY_FACTOR; of WRITE, FSYNC and FSYNCDIR also than that of writes, of
 *   the latter two also than that of flushes.
 * Machines' own times (sleep, quantum) are near too many things to be evidence.
 * Source:  thesis §3.1.2 (differs: nearness alone names no peak) */
struct peak_reason peak_reason_of(const struct aggstats_op_profile *op, const struct peak *peak,
                                  const struct peak_times *times);

/* As people say it: "one disk read", "from memory"; "": not known. */
const char *peak_cause_text(enum peak_cause cause, const struct aggstats_op_profile *op);

#endif

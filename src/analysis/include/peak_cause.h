/* The cause of the latency of most calls of a peak. Characteristic times give possible causes; bytes read from storage,
 * or stacks of the calls, confirm or exclude a cause. One cause needs no times: page cache hits. All pages that name peaks use this rule, so pages do not
 * contradict each other. Pure functions. */
#ifndef PEAK_CAUSE_H
#define PEAK_CAUSE_H

#include "characteristic.h"
#include "peaks.h"
#include "wide_count.h"

enum peak_cause {
    PEAK_CAUSE_NOT_KNOWN,
    PEAK_CAUSE_MEMORY,     /* too fast for the device below */
    PEAK_CAUSE_PAGE_CACHE, /* READs, while nothing was read from storage */
    PEAK_CAUSE_DEVICE_READ,
    PEAK_CAUSE_DEVICE_WRITE,
    PEAK_CAUSE_DEVICE_FLUSH,
    PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH, /* both take about as long */
    PEAK_CAUSE_ROUND_TRIP,
};

#define PEAK_CAUSE_NEAR_MIN 0.5   /* of a peak's calls */
#define PEAK_CAUSE_MEMORY_MIN 0.9 /* likewise */
#define PEAK_CAUSE_MEMORY_FACTOR 4
#define PEAK_CAUSE_COPY_NS 100000.0       /* the latency of a page cache hit, at most: so much, */
#define PEAK_CAUSE_COPY_BYTES_PER_NS 0.25 /* and its bytes at this rate, a slow machine's */
#define PEAK_CAUSE_SECTOR_BYTES 512       /* a call that reads from a disk reads as much, or more */
#define PEAK_CAUSE_OTHERS_BYTES                                                                                        \
    262144 /* that a call of another op, as slow as a disk, is taken to have read: ext4 reads
                                        * 128 KiB of inodes ahead, and as much of a directory */

/* What the peaks of a profile are compared with. */
struct peak_times {
    const struct aggstats_profile *profile; /* without its clock's rate no cause is found */
    const struct characteristic *times;     /* times that apply to the profile, as found by calibration_for_profile() */
    size_t count;
    bool is_off; /* no cause is wanted */
};

/* What was seen of a disk. The last three say that the cause found from times is none. BELOW and ENDS are doubts about
 * page cache hits. */
enum peak_witness {
    PEAK_WITNESS_NONE, /* nothing: the name is what the calls may have waited for */
    PEAK_WITNESS_STORAGE, /* as much was read from storage as these calls and others need; or, of calls in memory, hardly anything */
    PEAK_WITNESS_STACKS, /* of most of these calls the stack was seen, and where it was */
    PEAK_WITNESS_BLOCK,  /* it is a request to the disk */
    PEAK_WITNESS_OTHERS, /* so much was read, but maybe for something else: they may have waited for it */
    PEAK_WITNESS_BELOW, /* a FUSE daemon or a server may have answered: not all file systems below are known to read disks */
    PEAK_WITNESS_ENDS,          /* some may have read no bytes: programs see ends of files by themselves (cache=none) */
    PEAK_WITNESS_TOO_FEW_BYTES, /* less was read from storage than they need: they have not */
    PEAK_WITNESS_NOTHING_MOVED, /* the calls read no bytes: they have not */
    PEAK_WITNESS_OTHER_STACKS,  /* most of these calls were seen to wait for something else: they have not */
};

/* A cause, and the evidence for it. PEAK_CAUSE_PAGE_CACHE has no time. */
struct peak_reason {
    enum peak_cause cause;
    const struct characteristic *time; /* the time of the cause; without a cause, the time with most calls near it, of
                                        * the times that the op may wait for. NULL: there is none. Owner: times */
    double near_part;                  /* share of the peak's calls near `time`; PEAK_CAUSE_MEMORY: much faster calls;
                                        * PEAK_CAUSE_PAGE_CACHE: calls that take no longer than a copy may */
    double copy_ns;                    /* PEAK_CAUSE_PAGE_CACHE: how long that is */
    enum peak_witness witness;
};

/* The cause of most of the peak's calls:
 * - a device, or a round trip: PEAK_CAUSE_NEAR_MIN of the calls take between a half and twice its median, and the op
 *   waits for such (READ does not wait for writes);
 * - memory: the times of reads of the device below are known, and PEAK_CAUSE_MEMORY_MIN of the calls take less than the
 *   lower quartile divided by PEAK_CAUSE_MEMORY_FACTOR; for ops that write or flush also less than that of writes,
 *   for those that flush also less than that of flushes;
 * - the page cache, without any times: the calls are READs of the layer fs, its process read nothing from storage
 *   (storage_read_bytes is known and 0), the calls moved bytes, and PEAK_CAUSE_MEMORY_MIN of them take no longer than
 *   PEAK_CAUSE_COPY_NS and the mean number of bytes at PEAK_CAUSE_COPY_BYTES_PER_NS. Certain if the profile says that
 *   the file systems below read disks (label fstype), or a disk's time is known, and the kernel knows where files end
 *   (cache is not none), or no READ was short.
 *
 * The cause is a possible cause. It is certain in three cases:
 * - for requests at the layer block;
 * - if the stacks of most calls show the wait for the disk;
 * - for READ, if the profile has the bytes read from storage (storage_read_bytes), and they suffice for a sector for
 *   each of these calls, plus PEAK_CAUSE_OTHERS_BYTES for each call of another op that takes as long.
 * For other ops that read, such as LOOKUP, the cause is not certain, as it is unknown which of their calls read. At the
 * layer user the cause is not certain either, as programs and mapped files are read without a call. If less than a
 * sector was read for each of these calls, or the calls moved no bytes, a disk read is not the cause. The cause memory
 * is certain if at most a tenth of the calls can have read a sector.
 *
 * A machine's own times (sleep, quantum) are near so many latencies that they are no evidence.
 * Source:  thesis §3.1.2 (differs: nearness alone names no peak) */
struct peak_reason peak_reason_of(const struct aggstats_op_profile *op, const struct peak *peak,
                                  const struct peak_times *times);

/* True if the cause was seen, rather than found from times alone. */
bool peak_reason_is_seen(const struct peak_reason *reason);

/* In words: "may be one disk read", or "one disk read" if that was seen; "": unknown. */
const char *peak_reason_text(const struct peak_reason *reason, const struct aggstats_op_profile *op);

/* The name alone, for where something else says whether it was seen. */
const char *peak_reason_name(const struct peak_reason *reason, const struct aggstats_op_profile *op);

/* ---- What the calls of a peak waited for, if slow calls were watched ---------------------------- */

#define PEAK_WAITS_MAX 3
#define PEAK_WAITS_SHARE_MIN 0.05

struct peak_wait {
    const struct aggstats_cause *cause; /* Owner: the profile */
    uint64_t calls;                     /* calls of the peak with this main cause */
    double share;                       /* of the peak's known calls, from 0 to 1 */
};

struct peak_waits {
    struct peak_wait waits[PEAK_WAITS_MAX]; /* those with most calls first; each has at least PEAK_WAITS_SHARE_MIN */
    size_t count;
    wide_count known_calls; /* calls of the peak with a known cause: the others were not slow, or not watched. Not more
                             * than the peak's calls, even if causes have calls from before a rotation */
};

/* Assigns causes to a peak by latency: a cause has its calls in the buckets of its operation. */
struct peak_waits peak_waits_find(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                                  const struct peak *peak);

#endif

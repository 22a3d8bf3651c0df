/* What somebody with a slow job wants to know of a profile first: is it the file system at all, which peaks cost most,
 * how many bytes, what failed. Pure functions; answer_page.h prints it. */
#ifndef ANSWER_MODEL_H
#define ANSWER_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats.h"
#include "figures.h"
#include "peak_cause.h"
#include "peak_waits.h"

#define ANSWER_PEAKS_MAX 5
#define ANSWER_PEAKS_MIN 3
#define ANSWER_SHARE_MIN 0.01
#define ANSWER_SHARE_NONE 0.0005 /* less than this is 0.0 % */
#define ANSWER_PLACE_MIN 0.5
#define ANSWER_WAIT_MIN 0.5
#define ANSWER_FAILURES_MAX 5
#define ANSWER_TRANSFERS_MAX 3

/* A peak of an op. */
struct answer_peak {
    const struct aggstats_op_profile *op; /* Owner: the profile */
    struct peak peak;
    double cost_share;                  /* of all latency, from 0 to 1 */
    double typical_cycles;              /* the geometric mean of its latencies */
    struct peak_reason reason;          /* what its calls have waited for; its time is of those given */
    const struct aggstats_cause *wait;  /* what ANSWER_WAIT_MIN of its calls, at least, were seen to wait for; NULL:
                                         * nothing,  as far as is known. Owner: the profile */
    const struct aggstats_group *place; /* the file, or else the directory, that has most of it; NULL: none surely has.
                                         * Owner: the profile */
};

struct answer_failure {
    const struct aggstats_op_profile *op; /* Owner: the profile */
    unsigned failure;                     /* failure.h */
    uint64_t calls;
};

/* What an op has moved. */
struct answer_transfer {
    const struct aggstats_op_profile *op; /* READ, WRITE or COPY_FILE_RANGE. Owner: the profile */
    double per_elapsed_second;            /* bytes; 0: not known, as the next */
    double per_call_second;               /* bytes for each second that a caller waited */
};

struct answer_model {
    struct figures_sum sum;
    double elapsed_share; /* of the elapsed time that calls took, summed over callers, so maybe above 1; 0: not known */
    bool has_busy;        /* the next three are known well enough to be told instead of the sum */
    double busy_share;    /* of the elapsed time in which at least one call was in flight */
    double busy_error;    /* half of its confidence interval of 95 % */
    uint64_t busy_most;   /* calls in flight at one look */

    struct answer_peak peaks[ANSWER_PEAKS_MAX]; /* the most expensive first */
    size_t peak_count;
    struct answer_transfer transfers[ANSWER_TRANSFERS_MAX];
    size_t transfer_count;
    struct answer_failure
        failures[ANSWER_FAILURES_MAX]; /* the commonest first; none that programs ask for, see below */
    size_t failure_count;
    wide_count failed_calls;                      /* by these and others that there was no room for */
    wide_count asked_for;                         /* calls that failed as programs ask for */
    bool knows_outcomes;                          /* what is not told of bytes and failures has not happened */
    const struct aggstats_call_in_flight *oldest; /* NULL: none in flight. Owner: the profile */
};

/* Peaks beyond ANSWER_PEAKS_MIN are those that cost ANSWER_SHARE_MIN at least; beyond the first, those that cost
 * anything that can be seen. Not counted as failures are ENOENT of LOOKUP and ENODATA of GETXATTR: that is how programs
 * find out what is there.
 * A file or directory has most of a peak if its own calls are ANSWER_PLACE_MIN of its latency, at least: what it may
 * have missed would only be more. It is told by a path, which there is for root and the owner alone.
 * times:   those that may explain this profile, as calibration_for_profile() finds them */
void answer_model_make(const struct aggstats_profile *profile, const struct characteristic *times, size_t time_count,
                       struct answer_model *ret_model);

/* Whether calls of an op are the kernel's own, made since the directory is behind a mount, and not what programs asked
 * for: those do not count as peaks. */
bool answer_is_kernels(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

#endif

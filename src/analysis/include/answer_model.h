/* The first answers for a user with a slow job: is the file system the reason at all, which peaks cost most, how many
 * bytes were moved, what failed. Pure functions; answer_page.h prints them. */
#ifndef ANSWER_MODEL_H
#define ANSWER_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "advice.h"
#include "aggstats.h"
#include "bytes.h"
#include "figures.h"
#include "groups.h"
#include "peak_cause.h"

#define ANSWER_PEAKS_MAX 5
#define ANSWER_PEAKS_MIN 3
#define ANSWER_SHARE_MIN 0.01
#define ANSWER_SHARE_NONE 0.0005 /* a smaller share is printed as 0.0 % */
#define ANSWER_PLACE_MIN 0.5
#define ANSWER_BELOW_MIN 0.8 /* of the latency: what a common directory of many has */
#define ANSWER_BELOW_FEW 3   /* directories that replace the common one if their sum reaches ANSWER_BELOW_MIN */
#define ANSWER_WAIT_MIN 0.5
#define ANSWER_UNEVEN_MIN 2.0 /* the mean of a peak, in medians: from here on p50 does not explain the total */
#define ANSWER_FAILURES_MAX 5

/* A peak of an op. */
struct answer_peak {
    const struct aggstats_op_profile *op; /* Owner: the profile */
    struct peak peak;
    double cost_share;                 /* of all latency, from 0 to 1 */
    wide_count op_calls;               /* that have ended, of all peaks of the op */
    double mean_cycles;                /* estimated: the total of an operation is exact, its share is not */
    double longest_cycles;             /* of its calls */
    bool is_longest_exact;             /* else it is the upper bound of the peak's last bucket */
    bool is_uneven;                    /* its mean is at least ANSWER_UNEVEN_MIN times its p50 */
    struct peak_reason reason;         /* cause of the calls' latency; reason.time points into the given times */
    const struct aggstats_cause *wait; /* observed cause of waiting of at least ANSWER_WAIT_MIN of the calls; NULL:
                                         * unknown.
                                         * Owner:   the profile */
    bool is_file_unknown; /* for syncs: only the directory of the synced file is known; place is NULL then */
    const struct aggstats_group *place; /* the file, or else the directory, with most of the latency; NULL: uncertain.
                                         * Owner:   the profile */
    struct groups_prefix below; /* without a place: the directory that has ANSWER_BELOW_MIN of the latency below it */
};

struct answer_failure {
    const struct aggstats_op_profile *op; /* Owner: the profile */
    unsigned failure;                     /* failure.h */
    uint64_t calls;
    bool is_search; /* a program looked for a file that is not there, as all do that search directories in turn */
};

/* Bytes that were read, written or copied. */
struct answer_transfer {
    enum bytes_way way;
    struct bytes_moved moved;
    double per_elapsed_second; /* bytes; 0: unknown; like the next */
    double per_call_second;    /* bytes for each second that a caller waited */
};

/* Where a command was while it was in no call, as far as that is known. */
enum answer_rest_kind {
    ANSWER_REST_UNKNOWN,
    ANSWER_REST_SEVERAL, /* maybe several threads or processes: what one did may be while another was in a call */
    ANSWER_REST_ONE,     /* one thread: the rest of the elapsed time is what is below */
};

/* In cycles. The system time may be within calls or beside them, the time in the queue too: so some are bounds. */
struct answer_rest {
    enum answer_rest_kind kind;
    double cpu;          /* user and system time of all, within calls too */
    double within_least; /* on a CPU within calls; of one thread, like the next */
    double computing_least;
    double computing_most;
    double queued_most;
    double others_least; /* neither in a call, nor on a CPU, nor waiting for one */
    double others_most;
    double idle_least; /* of several: what neither the calls nor the CPU time have of the elapsed time; 0: unknown */
};

/* What a mount of osproffs adds to what its operations take. */
struct answer_fuse {
    bool is_between;           /* the operations are those of a mount */
    bool has_local_locks;      /* and programs may have waited for locks of files that it does not forward */
    bool is_known;             /* the next are */
    double added_most;         /* by FUSE, the page cache and copying, summed over callers; in cycles, like the next */
    bool is_added_close;       /* that bound is not much larger than what FUSE can have added */
    bool has_hidden_locks;     /* the next matters */
    double hidden_lock_cycles; /* programs waited for locks of files that the mount does not forward */
};

/* What the kernel read from storage for a command, and what its calls read. */
struct answer_disk {
    bool is_known;        /* and one of them is at least ANSWER_DISK_MIN_BYTES */
    double storage_bytes; /* with read-ahead, metadata, and pages of programs and mapped files */
    double called_bytes;  /* by read calls, wherever they were read from */
    bool is_local;        /* none of these from a FUSE daemon or a server, which read for themselves */
    uint64_t major_faults;
    double fault_most_cycles; /* at most so much for each of these; 0: unknown */
};

#define ANSWER_DISK_MIN_BYTES 1048576

struct answer_model {
    struct figures_sum sum;
    double elapsed_share; /* sum over callers of the time in calls, as a share of the elapsed time; 0: unknown */
    bool has_busy;        /* the next three are accurate enough to be reported instead of the sum */
    double busy_share;    /* share of the elapsed time in which at least one call was in flight */
    double busy_error;    /* half of its confidence interval of 95 % */
    uint64_t busy_most;   /* calls in flight in one sample */
    bool is_one_by_one;   /* never were two calls in flight: elapsed_share is the share of time with a call in flight */
    double lock_cycles;   /* in calls that wait for locks of files, summed over callers */
    struct answer_rest rest;
    struct answer_fuse fuse;
    struct bytes_witness witness;
    struct answer_disk disk;
    uint64_t major_faults; /* that may be of mapped files, and may have taken time that matters; else 0 */

    struct advice advice[ADVICE_MAX]; /* the one that can save most first */
    size_t advice_count;

    struct answer_peak peaks[ANSWER_PEAKS_MAX]; /* the most expensive first */
    size_t peak_count;
    struct groups_prefix below; /* see below; path NULL: none */
    struct answer_transfer transfers[BYTES_WAY_COUNT];
    size_t transfer_count;
    struct answer_failure
        failures[ANSWER_FAILURES_MAX]; /* the most frequent first, then searches; without expected failures, see
                                        * asked_for */
    size_t failure_count;
    wide_count failed_calls;            /* calls of all failures, also of failures that did not fit */
    wide_count asked_for;               /* calls that failed as programs expect */
    bool knows_outcomes;                /* bytes and failures were counted: 0 means none */
    const struct aggstats_call *oldest; /* NULL: none in flight. Owner: the profile */
};

/* Peaks beyond the first ANSWER_PEAKS_MIN must cost at least ANSWER_SHARE_MIN. All peaks but the first must cost a
 * share that is not printed as 0.
 *
 * ENOENT of LOOKUP and ENODATA of GETXATTR are not counted as failures: programs look for files and attributes that
 * way. Such calls of the layer user are counted as failures, but listed behind all others.
 *
 * A file or directory has most of a peak if its own calls are at least ANSWER_PLACE_MIN of the peak's latency; missed
 * calls would only add to this share. Programs sync files, not directories: so for FSYNC and FDATASYNC a directory is
 * named only if its files are known, and there are several. It is named by its path, which only root and the owner see.
 *
 * Where the time scatters over directories, `below` is the deepest one with ANSWER_BELOW_MIN of all latency below it: if
 * no directory has ANSWER_PLACE_MIN itself, and ANSWER_BELOW_FEW of them have less than ANSWER_BELOW_MIN together. Neither
 * "/" nor the profile's own directory is named.
 * times:   the times that apply to this profile, from calibration_for_profile() */
void answer_model_make(const struct aggstats_profile *profile, const struct characteristic *times, size_t time_count,
                       struct answer_model *ret_model);

/* True for calls that the kernel itself makes because the directory is a FUSE mount, and no program has asked for: they
 * do not count as peaks. */
bool answer_is_kernels(const struct aggstats_profile *profile, const struct aggstats_op_profile *op);

#endif

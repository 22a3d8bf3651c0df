/* Advice: what a job can do better with its files, and how much of its time that saves at most. Pure functions.
 *
 * Each rule is a condition on the profile, and a bound that follows from it. Calls that are not made save at most the
 * union of the time in which one of them was in flight. That is known of each operation from looks (busy_ops in
 * osprof(5)); of several operations together it is at most the sum of theirs, and no more than that of all operations.
 * Looks are a sample: the bound is the upper end of the confidence interval of 95 %. A rule that cannot bound its gain
 * is not here; without looks there is no advice but that of a mount, whose bound is a sum. */
#ifndef ADVICE_H
#define ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats.h"
#include "wide_count.h"

#define ADVICE_MAX 3
#define ADVICE_SHARE_MIN 0.1 /* of the elapsed time, that these calls take: for less nobody changes a program */
#define ADVICE_LOOKS_MIN 100

enum advice_rule {
    ADVICE_COMMITS,     /* much is synced, a little at a time */
    ADVICE_TINY_READS,  /* a file is read in order, in small pieces */
    ADVICE_TINY_WRITES, /* the same of writing */
    ADVICE_MISSING,     /* most look-ups are of what is not there */
    ADVICE_REOPENED,    /* one file is opened again and again */
    ADVICE_FUSE,        /* the files are on a FUSE file system: place */
    ADVICE_MOUNT,       /* the profile is of a mount of osproffs, which adds much */
    ADVICE_RULES,
};

/* Pointers: Owner: the profile */
struct advice {
    enum advice_rule rule;
    const struct aggstats_op_profile *op; /* of the operations it is about, the one with most latency; NULL: all */
    wide_count calls;                     /* it is about so many */
    wide_count of_calls;                  /* of so many */
    double bytes;                         /* of tiny ones: what a call asked for, on average */
    const struct aggstats_group *program; /* that makes most of them; NULL: none, or unknown, like the next */
    const struct aggstats_group *place;   /* the file, directory or file system of most of them */
    double busy_cycles;                   /* how long at least one of them was in flight */
    bool is_exact;                        /* busy_cycles is exact; otherwise an estimate */
    bool is_one_at_a_time;                /* the calls hardly overlapped */
    double bound; /* share of the elapsed time that is saved in calls at most, those that go with them included */
    /* The same beside calls, since programs work for each call too, and a FUSE daemon takes CPUs: that is not told apart
     * from other work. All time in which the job was on a CPU, or waited for one, if that is known; else all the rest. */
    double between;
};

/* What is known of the profile already. */
struct advice_known {
    double total_cycles;   /* of all calls, added up */
    bool is_one_by_one;    /* no two calls overlapped: a sum of latencies is a union */
    double between_cycles; /* not in calls, on a CPU or waiting for one; the elapsed time: unknown */
    double added_cycles;   /* what a mount has added to calls at most; 0: unknown */
};

/* Finds what applies, with the largest bound first. Returns how many */
size_t advice_find(const struct aggstats_profile *profile, const struct advice_known *known,
                   struct advice ret_advice[ADVICE_MAX]);

/* Of a rule, in JSON: "tiny_reads". */
const char *advice_rule_name(enum advice_rule rule);

/* What is to be done, as the beginning of "... can save at most 43 %". */
const char *advice_remedy(enum advice_rule rule);

#endif

/* libaggstats, inside this project: slow calls, and what they waited for. */
#ifndef AGGSTATS_SLOW_H
#define AGGSTATS_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggstats/groups.h"
#include "aggstats/recorder.h"

#define AGGSTATS_SLOW_MIN_NS 1000000U                 /* 1 ms: what can be kept up with */
#define AGGSTATS_SLOW_MAX_NS UINT64_C(86400000000000) /* a day */

/* A call in flight that is being looked at. */
struct aggstats_look {
    uint64_t thread;     /* the number of the thread that makes it, as gettid(2) gives it */
    uint64_t age_cycles; /* how long it is in flight */
    uint64_t *memory;    /* two numbers of the function's own, kept from look to look at this call; 0 at the first */
};

/* What is seen at a look. */
struct aggstats_wait {
    char cause[AGGSTATS_CAUSE_SIZE]; /* what the thread waits for, in words */
    char stack[AGGSTATS_STACK_SIZE]; /* where in the kernel, as in struct aggstats_slow_call; "": not known */
};

/* Finds what a thread waits for. False: it cannot be known, and the cause is why.
 * Threads: one of the recorder's own, one at a time. ret_wait is zeroed before */
typedef bool (*aggstats_cause_fn)(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

/* The path of what a call worked on; NULL: not known.
 * Owner:   who calls frees it.
 * Threads: those that end calls, and the one that looks: so it must not wait for what calls may wait for */
typedef char *(*aggstats_path_fn)(void *context, uint64_t object);

/* Is told of a slow call that has ended, with its cause. lost: how many ended before it, or with it, that nobody was
 * told of, because more than 256 ended while nobody was told.
 * Owner:   the call and its path are the recorder's, until it returns
 * Threads: the recorder's own that looks at calls, so that it must not wait; and aggstats_slow_report() */
typedef void (*aggstats_slow_fn)(void *context, const struct aggstats_slow_call *call, uint64_t lost);

struct aggstats_slow_options {
    uint64_t threshold_ns; /* calls that take so long, or longer, are slow; 0: none is any more */
    aggstats_cause_fn find_cause;
    void *context;            /* its */
    aggstats_path_fn path_of; /* NULL: no paths */
    void *path_context;
    aggstats_identify_fn identify; /* whose slow calls they are; NULL: nobody is asked. By the threads that end calls,
                                    * while their callers wait: must not wait for these */
    void *identify_context;
    aggstats_slow_fn report; /* NULL: nobody is told. While calls are in flight within half of the threshold, or 100 ms,
                              * after they have ended; else within some seconds */
    void *report_context;
};

/* From now on snapshots and the live file tell of slow calls: what those of each op have waited for, and the last ones
 * in full. A thread of the recorder's looks at calls in flight before they are slow, and again whenever they are older
 * by a sixteenth, at least half of the threshold, but ten times a second. The time from look to look is shared by the
 * causes that are seen at its ends; what is before the first is that one's, and the rest the last one's. While nothing
 * is in flight the thread sleeps. Only calls that are told to aggstats_slow_end() count, and only those before which
 * aggstats_slow_begin() was called are looked at in time.
 * Errors:  -EINVAL, -ENOMEM, those of starting a thread; nothing has changed then
 * Threads: any, one at a time; all but the threshold are those of the first call for good */
int aggstats_recorder_set_slow(struct aggstats_recorder *recorder, const struct aggstats_slow_options *options);

/* The threshold; 0: nothing is slow. Threads: any */
uint64_t aggstats_recorder_slow_cycles(const struct aggstats_recorder *recorder);

/* Wakes the thread that looks, if it sleeps. Threads: any */
void aggstats_slow_begin(struct aggstats_recorder *recorder);

/* A call that has ended. */
struct aggstats_ended_call {
    unsigned op;
    uint64_t latency_cycles;
    uint64_t object;
    uint64_t pid;
    uint64_t uid;
    int error; /* errno value; 0: it did not fail */
    uint64_t asked_bytes;
    uint64_t moved_bytes;
    uint64_t offset;
};

/* Counts a call that aggstats_end() has ended, if it was slow.
 * Threads: the one that made it, before its next. Takes a lock */
void aggstats_slow_end(struct aggstats_recorder *recorder, const struct aggstats_span *span,
                       const struct aggstats_ended_call *call);

/* Tells of all that have ended by now (report), in this thread. Threads: any, but not in report itself */
void aggstats_slow_report(struct aggstats_recorder *recorder);

#endif

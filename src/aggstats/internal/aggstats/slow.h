/* libaggstats, inside this project: slow calls, and their causes of waiting. */
#ifndef AGGSTATS_SLOW_H
#define AGGSTATS_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggstats/caller_groups.h"
#include "aggstats/recorder.h"
#include "aggstats/why.h"

#define AGGSTATS_SLOW_MIN_NS 1000000U                 /* 1 ms: shorter calls cannot be watched in time */
#define AGGSTATS_SLOW_MAX_NS UINT64_C(86400000000000) /* a day */

/* A call in flight that is being watched. */
struct aggstats_look {
    uint64_t thread;     /* the number of its thread, as of gettid(2) */
    uint64_t age_cycles; /* how long it has been in flight */
    uint64_t age_ns;     /* the same */
    uint64_t *memory;    /* two numbers for the function itself, kept between looks at this call; 0 at the first */
    bool wants_holder;   /* look for the holder of the file, lock or disk, too */
};

/* The result of a look. */
struct aggstats_wait {
    struct aggstats_why cause;       /* what the thread waits for */
    char stack[AGGSTATS_STACK_SIZE]; /* kernel stack, as in struct aggstats_call; "": unknown */
    bool is_put_off;                 /* the holder that is wanted was not looked for, to keep the cost low */
    struct aggstats_chain chain;     /* of the cause, from the same reading of the thread; no links: unknown */
};

/* Finds the cause for which a thread waits. Returns false if the cause is unknown; ret_wait->cause says why then.
 * ret_wait: zeroed before the call
 * Threads: a thread of the recorder, one at a time */
typedef bool (*aggstats_cause_fn)(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

/* The path of a call's object; NULL: unknown.
 * Owner:   the caller frees it.
 * Threads: threads that end calls, and the watching thread. The function must not wait for anything that calls may wait
 *          for */
typedef char *(*aggstats_path_fn)(void *context, uint64_t object);

/* The number by which users know an object, such as its inode number; 0: unknown.
 * Threads: as above */
typedef uint64_t (*aggstats_number_fn)(void *context, uint64_t object);

/* Brings calls in flight that begin elsewhere up to date, before each look at calls in flight.
 * may_sleep: if there is none now, the thread sleeps until aggstats_slow_begin() wakes it, or some seconds
 * Returns whether any is in flight.
 * Threads: the recorder's watching thread */
typedef bool (*aggstats_gather_fn)(void *context, bool may_sleep);

/* Reports a slow call that has ended, with its cause. lost: calls that ended before it, or with it, and are not
 * reported, because more than 256 ended without a report in between.
 * Owner:   the call and its path are the recorder's, and valid until it returns
 * Threads: the recorder's watching thread, so it must not wait; and those in aggstats_slow_report() */
typedef void (*aggstats_slow_fn)(void *context, const struct aggstats_call *call, uint64_t lost);

struct aggstats_slow_options {
    uint64_t threshold_ns; /* calls that take this long, or longer, are slow; 0: none is any more */
    aggstats_cause_fn find_cause;
    void *context;                 /* for find_cause */
    bool wants_holders;            /* of slow calls: for each cause until the holder is found, then whenever the age has
                                    * doubled. Of several calls first the one that was looked at the longest ago */
    aggstats_path_fn path_of;      /* NULL: no paths */
    aggstats_number_fn number_of;  /* translates the objects of slow calls; NULL: they stay as they are */
    void *path_context;            /* of both */
    aggstats_identify_fn identify; /* of the callers of slow calls; NULL: they are not identified. Called by the threads
                                    * that end calls, while their callers wait: must not wait for these */
    void *identify_context;
    aggstats_slow_fn report; /* NULL: no reports. While calls are in flight it is called within half of the threshold,
                              * or 100 ms, after they have ended; else within some seconds */
    void *report_context;
    aggstats_gather_fn gather; /* NULL: the threads that make or observe calls keep their blocks up to date */
    void *gather_context;
};

/* From now on snapshots and the live file have slow calls: what those of each op waited for, and the latest ones in
 * full. A thread of the recorder looks at calls in flight: first when they are at least half as old as the threshold,
 * then whenever they are older by a sixteenth, or ten times a second. The time between two looks is split between the
 * causes seen at both; the time before the first look goes to its cause, and the rest to the last one's. While no call
 * is in flight the thread sleeps. Only calls passed to aggstats_slow_end() count, and only those that began with
 * aggstats_slow_begin() are looked at in time.
 * Errors:  -EINVAL, -ENOMEM, those of starting a thread; nothing has changed then
 * Threads: any, one at a time; all options but the threshold are those of the first call for good */
int aggstats_recorder_set_slow(struct aggstats_recorder *recorder, const struct aggstats_slow_options *options);

/* The threshold; 0: nothing is slow. Threads: any */
uint64_t aggstats_recorder_slow_cycles(const struct aggstats_recorder *recorder);

/* Wakes the watching thread, if it sleeps. Threads: any */
void aggstats_slow_begin(struct aggstats_recorder *recorder);

/* Counts a call that aggstats_end() has ended, if it was slow. call: without its name, end, process and cause, and the path of
 * its object; user_stack: not wanted, or unknown, if NULL. function: the function of the program that made the call; NULL: not
 * wanted
 * Threads: the calling thread, before its next call. Takes a lock */
void aggstats_slow_end(struct aggstats_recorder *recorder, const struct aggstats_span *span, unsigned op,
                       const struct aggstats_call *call, const char *function);

/* Reports all calls that have ended by now, in this thread. Threads: any, but not within report itself */
void aggstats_slow_report(struct aggstats_recorder *recorder);

#endif

/* libaggstats, inside this project: profiles of groups of calls. */
#ifndef AGGSTATS_CALLER_GROUPS_H
#define AGGSTATS_CALLER_GROUPS_H

#include "aggstats/recorder.h"

/* Which group a caller belongs to. */
struct aggstats_identity {
    uint64_t id;                         /* the group's number, such as a process's */
    uint64_t instance;                   /* distinguishes processes that had the same number one after the other */
    char name[AGGSTATS_GROUP_NAME_SIZE]; /* "": unknown */
};

/* Identifies a caller for a grouping; if groups have names only, id and instance are ignored. Returns false if it
 * cannot be identified any more. */
typedef bool (*aggstats_identify_fn)(void *context, uint32_t caller, struct aggstats_identity *ret_identity);

/* Finds the path of an object of calls. Returns false if it is not certain; ret_name is shown until it is: the probable
 * name, or the reason, in parentheses. may_wait: false: called by a thread that takes a snapshot, and must not wait for
 * anything that calls may wait for
 * Threads: any, several at a time */
typedef bool (*aggstats_name_fn)(void *context, uint64_t object, bool may_wait,
                                 char ret_name[AGGSTATS_GROUP_NAME_SIZE]);

/* Returns the object for which a call on another object counts, such as the directory of a file; 0: unknown.
 * Threads: any, one at a time; sometimes within a call, so it must neither wait nor record */
typedef uint64_t (*aggstats_place_fn)(void *context, uint64_t object);

#define AGGSTATS_GROUPS_DEFAULT 256U
#define AGGSTATS_GROUPS_MIN 2U
#define AGGSTATS_GROUPS_MAX 4096U

struct aggstats_grouping_options {
    enum aggstats_grouping grouping;
    unsigned groups_max;           /* 0: AGGSTATS_GROUPS_DEFAULT */
    aggstats_identify_fn identify; /* called by a thread of the recorder, soon and then ever more rarely, at last once a
                                    * second while there are calls; NULL: a caller's number is its group's */
    void *context;
    aggstats_identify_fn identify_first; /* called by the thread that records a caller's first call, so it must not wait
                                          * for others; instance is ignored. At most 10,000 times a second. It must be
                                          * the same, with the same context, in all groupings that have it; NULL:
                                          * callers are not identified then */
    aggstats_name_fn name_object;        /* for files and directories, instead of the other two: called by a thread of
                                          * the recorder, soon and then ever more rarely, at last once a second while
                                          * there are calls; and by a thread that takes a snapshot, which waits for that
                                          * thread for a fifth of a second at most */
    aggstats_place_fn place_of;          /* for directories and file systems */
};

/* From now on snapshots also have a profile for each group of calls, made of the calls passed to aggstats_group_add().
 * If there are more than groups_max, those that have called least recently are added up as one; of files and
 * directories those that have taken the least time (heavy.h), and snapshots say how much more of it each may have
 * taken. The live file has none. A recorder may have several different groupings, each once.
 * Memory:  a group's counters of each op that it has called, 528 bytes at resolution 1; 32 KB for each thread
 * Errors:  -EINVAL, -EBUSY it has this grouping already, -ENOMEM, those of starting a thread
 * Threads: call before any thread counts */
int aggstats_recorder_group(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options);

/* The same for several groupings, all or none, while threads count. What the whole has, and ended before or was in
 * flight, is in `other`; snapshots say how many calls these are (ungrouped_calls).
 * options: of a grouping that was on before, the same as then
 * Errors:  as above, but -EBUSY one of them is on; nothing has changed
 * Threads: any, while others record */
int aggstats_recorder_begin_groups(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options,
                                   unsigned count);

/* Ends all groupings, also those of aggstats_recorder_group(), and forgets their calls. A thread of the recorder stays,
 * and sleeps.
 * Threads: any, while others record */
void aggstats_recorder_end_groups(struct aggstats_recorder *recorder);

/* The caller and the object of a call. */
struct aggstats_call_of {
    uint32_t thread; /* its number; 0: the kernel itself, whose calls are a group of their own */
    uint32_t uid;    /* 0 without a thread: the kernel itself */
    uint64_t object; /* as for aggstats_begin(). A file always has the same number; 0: none */
};

/* Counts a call that has ended in all groupings; its latency is the result of aggstats_end(). Does nothing without
 * groupings.
 * Threads: any. No lock, no atomic read-modify-write and no system call, except for a caller that this thread has not
 *          met recently, which may be identified (identify_first), and when 1024 calls wait to be sorted
 * Signals: not in a handler */
void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_call_of *of,
                        uint64_t latency_cycles);

/* Ended calls of one caller on one object, with latencies of one bucket. */
struct aggstats_group_calls {
    /* A number that always means the same identity. If the recorder does not know the number, or has forgotten it, it
     * calls identify before aggstats_group_add_calls() returns; identify must ignore its caller argument. */
    uint64_t caller;
    uint64_t object; /* as above */
    unsigned op;
    uint64_t calls;
    uint64_t total_cycles;
    struct aggstats_cache cache; /* of these calls: for groups by file and by directory */
};

/* Counts them in all groupings. Does nothing without groupings. A recorder with such calls has no other ones in groups.
 * Threads: any; takes a lock */
void aggstats_group_add_calls(struct aggstats_recorder *recorder, const struct aggstats_group_calls *calls);

#endif

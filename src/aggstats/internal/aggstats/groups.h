/* libaggstats, inside this project: profiles of groups of calls. */
#ifndef AGGSTATS_GROUPS_H
#define AGGSTATS_GROUPS_H

#include "aggstats/recorder.h"

/* Which group a caller belongs to. */
struct aggstats_identity {
    uint64_t id;                         /* the group's number, such as a process's */
    uint64_t instance;                   /* tells two apart that had the same number one after the other */
    char name[AGGSTATS_GROUP_NAME_SIZE]; /* "": not known */
};

/* Finds out who a caller is: whatever its grouping; where groups have names only, id and instance do not count. False:
 * it cannot be known any more. */
typedef bool (*aggstats_identify_fn)(void *context, uint32_t caller, struct aggstats_identity *ret_identity);

/* Finds out the path of what a call works on. False: it is not known well; ret_name is what is shown until it is: what
 * it may be, or the reason, in parentheses. may_wait: false: by who takes a snapshot, which waits for nothing that
 * calls may wait for
 * Threads: any, several at a time */
typedef bool (*aggstats_name_fn)(void *context, uint64_t object, bool may_wait,
                                 char ret_name[AGGSTATS_GROUP_NAME_SIZE]);

/* Tells which object counts a call that works on another, such as the directory of a file. 0: it is not known.
 * Threads: any, one at a time; on the way of calls now and then, so that it must neither wait nor record */
typedef uint64_t (*aggstats_place_fn)(void *context, uint64_t object);

#define AGGSTATS_GROUPS_DEFAULT 256U
#define AGGSTATS_GROUPS_MIN 2U
#define AGGSTATS_GROUPS_MAX 4096U

struct aggstats_grouping_options {
    enum aggstats_grouping grouping;
    unsigned groups_max;           /* 0: AGGSTATS_GROUPS_DEFAULT */
    aggstats_identify_fn identify; /* called by a thread of the recorder's own, early and then ever more rarely, at last
                                    * each second while there are calls; NULL: a caller's number is its group's */
    void *context;
    aggstats_identify_fn identify_first; /* called by the thread that records a caller's first call, so that it must not
                                          * wait for others; instance does not count. At most 10,000 times a second. The
                                          * same, with the same context, in all groupings that have it; NULL: nobody is
                                          * asked then */
    aggstats_name_fn name_object;        /* for files and directories, in place of the other two: called by a thread of
                                          * the recorder's own, early and then ever more rarely, at last each second
                                          * while there are calls, and by who takes a snapshot, who waits for that
                                          * thread for a fifth of a second at most */
    aggstats_place_fn place_of;          /* for directories */
};

/* From now on snapshots have a profile for each group of calls too, made of the calls that are given to
 * aggstats_group_add(). Of more than groups_max those that have called least recently are added up as one; of files
 * and directories those that have taken the least time (heavy.h), so that snapshots say how much more of it each may
 * have taken. The
 * live file has none. Each grouping may be asked for once; they do not know of each other.
 * Memory:  a group's counters of each op that it has called, 528 bytes at resolution 1; 32 KB for each thread
 * Errors:  -EINVAL, -EBUSY grouped so already, -ENOMEM, those of starting a thread
 * Threads: before any thread counts */
int aggstats_recorder_group(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options);

/* Whose a call is. */
struct aggstats_call_of {
    uint32_t thread; /* its number; 0: nobody's but the kernel's own, whose calls are a group of their own */
    uint32_t uid;    /* 0 without a thread: the kernel's own */
    uint64_t object; /* what it works on: as for aggstats_begin(). One number for one file, for good; 0: nothing */
};

/* Counts a call that has ended, whose latency aggstats_end() gave, in all groupings. Nothing if the recorder is not
 * grouped.
 * Threads: any. No lock, no atomic read-modify-write and no system call, but for a caller that this thread has not met
 *          lately, who may be asked for (identify_first), and when 1024 calls wait to be sorted
 * Signals: not in a handler */
void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_call_of *of,
                        uint64_t latency_cycles);

#endif

/* Private: a recorder's groupings: profiles of processes, programs, cgroups, users, files and directories, each a
 * profile inside the profile.
 *
 * A thread that ends a call puts it into a queue of its own (call_queue.h), with one writer and one reader. A
 * thread that takes calls out holds the grouping's lock, which protects the tables, one for each grouping: a thread of
 * the recorder, a thread that takes a snapshot, or a recording thread whose queue is full. Tables are bounded
 * (grouping_table.h; files and directories, of which there may be any number: heavy.h).
 *
 * The recorder's thread also asks /proc who callers are, and the pass layer for the names of objects, without the lock.
 * Names of short-lived callers are read by the thread that serves a first call (first_calls.h). */
#ifndef GROUPING_H
#define GROUPING_H

#include <pthread.h>
#include <semaphore.h>

#include "aggstats/caller_groups.h"
#include "first_calls.h"
#include "grouping_table.h"
#include "probe.h"
#include "threads.h"

struct grouping {
    struct probe probe;            /* must be first */
    const struct threads *threads; /* whose queues are read */
    struct first_calls first_calls;
    pthread_t thread;
    sem_t wake;
    bool is_woken; /* atomic, like the next two */
    bool is_asleep;
    bool stop;
    int64_t names_ns;      /* when to ask for names of objects next; used by the thread */
    int64_t asking_ns;     /* atomic: since when the thread has been asking for a name; 0: it is not */
    unsigned names_wanted; /* atomic: how many waits for names have begun */
    unsigned names_done;   /* how many of these are over; changed by the thread, under the lock */
    pthread_cond_t named;  /* signalled when names_done changes */
    uint64_t met_mark;     /* atomic; 0: no table needs identities of callers. Else for call_queue_has_met(): another
                            * one each time groups begin, since threads may have ended unnoticed */
    uint64_t marks;        /* how many there were; changed by one thread at a time */
    pthread_mutex_t lock;  /* taken last; protects the rest */
    struct grouping_table *tables[AGGSTATS_GROUPINGS]; /* by grouping, made once; NULL: never needed */
    struct grouping_table *on[AGGSTATS_GROUPINGS];     /* those that are on */
    unsigned on_count;
    bool is_late; /* they began while threads counted: some calls of the whole are in no group */
    bool paused;  /* calls are not counted */
};

/* Starts with no table. Errors: -ENOMEM, those of starting a thread */
int grouping_start(const struct threads *threads, struct grouping **ret_grouping);

/* Begins groupings, all or none. is_late: threads may count already.
 * Threads: any, one at a time; without is_late before any thread counts
 * Errors:  -EBUSY one of them is on, -EINVAL another identify_first than the others', or other options than that
 *          grouping had before; -ENOMEM */
int grouping_begin(struct grouping *grouping, const struct aggstats_grouping_options *options, unsigned count,
                   bool is_late);

/* Ends all groupings, and forgets their calls. Threads: as above */
void grouping_end(struct grouping *grouping);

/* Ends the thread and frees all. */
void grouping_stop(struct grouping *grouping);

/* Puts a call into its thread's queue; queue NULL: counts the call at once. Identifies a new caller if necessary, and
 * marks the queued call as asked.
 * Threads: the queue's */
void grouping_add_slowly(struct grouping *grouping, struct call_queue *queue, const struct queued_call *call);

/* Wakes the thread that takes calls from the queues. Threads: any */
void grouping_wake(struct grouping *grouping);

/* As grouping_add_slowly(), if the caller is known and the queue has room. Otherwise returns false and does nothing.
 * Threads: the queue's */
static inline bool grouping_add_fast(struct grouping *grouping, struct call_queue *queue, unsigned op,
                                     const struct aggstats_call_of *of, uint64_t latency_cycles) {
    const uint64_t mark = __atomic_load_n(&grouping->met_mark, __ATOMIC_RELAXED);
    if (!queue || (mark != 0 && of->thread != 0 && !call_queue_has_met(queue, mark, of->thread)))
        return false;
    uint32_t written = queue->written;
    if (!call_queue_has_room(queue, written))
        return false;
    struct queued_call *place = &queue->ring[written % CALL_QUEUE_MAX];
    place->latency_cycles = latency_cycles;
    place->of = *of;
    place->op = (uint16_t)op;
    place->has_asked = false;
    __atomic_store_n(&queue->written, written + 1, __ATOMIC_RELEASE);
    if (__builtin_expect((written + 1) % (CALL_QUEUE_MAX / 2) == 0, 0) ||
        __builtin_expect(__atomic_load_n(&grouping->is_asleep, __ATOMIC_RELAXED), 0))
        grouping_wake(grouping);
    return true;
}

/* As aggstats_group_add_calls(). */
void grouping_add_calls(struct grouping *grouping, const struct aggstats_group_calls *calls);

/* Asks for the names of objects that have been used since their names were asked for: call it before a snapshot, to
 * show the latest ones. Names that only the thread may ask for are waited for, but not long, and not at all while the
 * thread hangs. Takes the lock, but not while asking. */
void grouping_ask_names(struct grouping *grouping);

/* Takes in the calls so far: call it before the recorder's counters are read, since a call is counted there first. */
void grouping_take_in(struct grouping *grouping);

/* As with the recorder's window; each after grouping_take_in(). */
void grouping_reset(struct grouping *grouping);
void grouping_set_paused(struct grouping *grouping, bool paused);

/* Adds the groups to a profile that has its ops. marks: marks what is shown, for grouping_end_marks(), also after an
 * error.
 * Errors:  -ENOMEM; the caller finishes the profile */
int grouping_show(struct grouping *grouping, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                  struct aggstats_profile *profile);

/* Subtracts what was marked from the groups, unless they were reset since; or, without take, keeps it. */
void grouping_end_marks(struct grouping *grouping, bool take);

#endif

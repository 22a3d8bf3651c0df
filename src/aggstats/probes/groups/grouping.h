/* Private: a recorder's groupings, and the thread that finds out who the callers are.
 *
 * Threads that record put the calls that ended into queues of their own (call_queue.h). Whoever takes them out holds
 * the grouping's lock, under which the tables are, one for each grouping: the thread here, who takes a snapshot, or a
 * recording thread whose queue is full. Who a caller is is asked without the lock. */
#ifndef GROUPING_H
#define GROUPING_H

#include <pthread.h>
#include <semaphore.h>

#include "first_calls.h"
#include "grouping_table.h"
#include "probe.h"
#include "threads.h"

struct grouping {
    struct probe probe;            /* first */
    const struct threads *threads; /* in whose queues calls come */
    struct first_calls first_calls;
    pthread_t thread;
    sem_t wake;
    bool is_woken; /* atomic, as the next two */
    bool is_asleep;
    bool stop;
    int64_t names_ns;      /* when names of objects are to be asked for next; its own */
    int64_t asking_ns;     /* atomic: since when the thread asks for a name; 0: it does not */
    unsigned names_wanted; /* atomic: how often somebody has begun to wait for names */
    unsigned names_done;   /* so many of these need not wait any more; changed by the thread, under the lock */
    pthread_cond_t named;  /* names_done has changed */
    bool asks_callers;     /* of some table callers are to be asked who they are. Set before threads count */
    pthread_mutex_t lock;  /* taken last; the rest is under it */
    struct grouping_table *tables[AGGSTATS_GROUPINGS];
    unsigned table_count;
    bool names_objects; /* of some table objects are to be asked for their names */
    bool paused;        /* what comes is not counted */
};

/* Begins, with no table. Errors: -ENOMEM, those of starting a thread */
int grouping_start(const struct threads *threads, struct grouping **ret_grouping);

/* Threads: before any thread counts.
 * Errors:  -EBUSY it has one of that grouping, -EINVAL another identify_first than the others', -ENOMEM */
int grouping_add_table(struct grouping *grouping, const struct aggstats_grouping_options *options);

/* Ends the thread and frees all. */
void grouping_stop(struct grouping *grouping);

/* Puts a call into its thread's queue; NULL: it has none. May ask who its caller is, and notes in it that it has.
 * Threads: the queue's */
void grouping_add_slowly(struct grouping *grouping, struct call_queue *queue, const struct queued_call *call);

/* The thread has calls to look at. Threads: any */
void grouping_wake(struct grouping *grouping);

/* The same where nobody is to be asked, and there is room. False: it is not done.
 * Threads: the queue's */
static inline bool grouping_add_fast(struct grouping *grouping, struct call_queue *queue, unsigned op,
                                     const struct aggstats_call_of *of, uint64_t latency_cycles) {
    if (!queue || (grouping->asks_callers && of->thread != 0 && !call_queue_has_met(queue, of->thread)))
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

/* Asks for the names of objects that have called since they were asked for: before a snapshot, so that it has those of
 * the last moment. What only the thread may ask is waited for, but not long, and not at all while the thread hangs.
 * Takes the lock, but not while asking. */
void grouping_ask_names(struct grouping *grouping);

/* Takes in what has come so far: call before the recorder's counters are read, for a call is counted there first. */
void grouping_take_in(struct grouping *grouping);

/* As with the recorder's window; each after grouping_take_in(). */
void grouping_reset(struct grouping *grouping);
void grouping_pause(struct grouping *grouping);
void grouping_resume(struct grouping *grouping);

/* Gives the groups to a profile that has its ops. marks: what is shown is marked, for grouping_end_marks(), also after
 * an error.
 * Errors:  -ENOMEM; the caller finishes the profile */
int grouping_show(struct grouping *grouping, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                  struct aggstats_profile *profile);

/* What was shown when it was marked is taken from the groups, unless they were reset since; or stays. */
void grouping_end_marks(struct grouping *grouping, bool take);

#endif

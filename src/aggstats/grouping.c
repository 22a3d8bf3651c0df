/* From calls to groups of callers. */
#include "grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base.h"
#include "events.h"
#include "quiet_thread.h"
#include "recorder.h"

#define NS_PER_SECOND 1000000000
#define LOOK_INTERVAL_NS 100000000 /* while there are calls */

const char *aggstats_grouping_name(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_PROCESS ? "process" : grouping == AGGSTATS_BY_UID ? "uid" : NULL;
}

static int64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* ---- The recording threads' side ---- */

static void wake(struct grouping *grouping) {
    if (!__atomic_load_n(&grouping->is_woken, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&grouping->is_woken, true, __ATOMIC_ACQ_REL))
        sem_post(&grouping->wake);
}

/* The thread's queue of the recorder that it used last. */
static __thread struct {
    uint64_t recorder_id;
    struct events *events; /* NULL: no memory was left for one */
} own_events;

static struct events *events_of_thread(struct aggstats_recorder *recorder) {
    if (own_events.recorder_id != recorder->hot.id) {
        own_events.recorder_id = recorder->hot.id;
        own_events.events = recorder_thread_events(recorder);
    }
    return own_events.events;
}

static void count(struct grouping *grouping, const struct event *event);
static unsigned take_in(struct grouping *grouping);

/* The slow way: the queue is full, or there is none. */
static void count_now(struct grouping *grouping, const struct event *event) {
    pthread_mutex_lock(&grouping->lock);
    take_in(grouping);
    count(grouping, event);
    pthread_mutex_unlock(&grouping->lock);
    wake(grouping);
}

void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, uint32_t caller, bool is_kernel,
                        uint64_t latency_cycles) {
    struct grouping *grouping = recorder->grouping;
    if (!grouping)
        return;
    const struct event event = {
        .latency_cycles = latency_cycles, .caller = caller, .op = (uint16_t)op, .is_kernel = is_kernel};
    struct events *events = events_of_thread(recorder);
    if (!events || !events_put(events, &event))
        count_now(grouping, &event);
    else if ((!is_kernel && events_is_new(events, caller)) || events->written % (EVENTS_MAX / 2) == 0 ||
             __atomic_load_n(&grouping->is_asleep, __ATOMIC_RELAXED))
        wake(grouping);
}

/* ---- Counting, under the lock ---- */

/* Until it is known who it is, a caller is a group of its own. */
static struct caller *meet(struct grouping *grouping, uint32_t number) {
    const struct aggstats_identity itself = {.id = number};
    bool is_final = !grouping->options.identify;
    struct group *group = is_final ? groups_find(&grouping->groups, &itself) : NULL;
    bool was_folded = false;
    if (!group)
        group = groups_add(&grouping->groups, &itself, &was_folded);
    if (!group)
        return NULL;
    if (was_folded)
        callers_forget(&grouping->callers, group);
    struct caller *caller = callers_add(&grouping->callers, number, group, now_ns(CLOCK_MONOTONIC));
    caller->is_identified = is_final;
    return caller;
}

static struct group *group_of(struct grouping *grouping, const struct event *event) {
    if (event->is_kernel)
        return &grouping->groups.kernel;
    struct caller *caller = callers_find(&grouping->callers, event->caller);
    if (!caller)
        caller = meet(grouping, event->caller);
    if (!caller)
        return &grouping->groups.other;
    caller->has_called = grouping->options.identify != NULL;
    caller->seen = grouping->groups.calls;
    return caller->group;
}

static void count(struct grouping *grouping, const struct event *event) {
    if (!grouping->paused)
        groups_count(&grouping->groups, group_of(grouping, event), event->op, event->latency_cycles);
}

/* Returns how many there were. */
static unsigned take_in(struct grouping *grouping) {
    unsigned taken = 0;
    for (struct segment *segment = __atomic_load_n(&grouping->recorder->segments, __ATOMIC_ACQUIRE); segment;
         segment = segment->next) {
        struct events *events = __atomic_load_n(&segment->events, __ATOMIC_ACQUIRE);
        struct event event;
        /* bounded: a thread may go on putting */
        for (unsigned i = 0; events && i < EVENTS_MAX && events_take(events, &event); i++, taken++)
            count(grouping, &event);
    }
    return taken;
}

void grouping_look(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    take_in(grouping);
    pthread_mutex_unlock(&grouping->lock);
}

/* ---- Who they are ---- */

/* A known caller is another now. The group that it had will not be folded for the new one. */
static struct group *add_group_after(struct grouping *grouping, struct group *before,
                                     const struct aggstats_identity *identity) {
    bool was_folded = false;
    before->seen = ++grouping->groups.calls;
    struct group *group = groups_add(&grouping->groups, identity, &was_folded);
    if (group && was_folded)
        callers_forget(&grouping->callers, group);
    return group;
}

/* What it has called before it was known comes to its group. */
static void move_caller(struct grouping *grouping, struct caller *caller, const struct aggstats_identity *identity) {
    struct group *before = caller->group;
    struct group *group = groups_find(&grouping->groups, identity);
    if (!group && !caller->is_identified)
        group = before;
    if (!group)
        group = add_group_after(grouping, before, identity);
    if (!group)
        return;
    group->identity = *identity; /* the name may be another */
    if (group == before)
        return;
    if (!caller->is_identified)
        groups_unite(&grouping->groups, before, group);
    group->seen = ++grouping->groups.calls;
    caller->group = group;
}

static void note_identity(struct grouping *grouping, uint32_t number, const struct aggstats_identity *identity) {
    struct caller *caller = callers_find(&grouping->callers, number);
    if (!caller)
        return;
    if (identity)
        move_caller(grouping, caller, identity);
    caller->is_identified = true;
    callers_set_next_check(caller, now_ns(CLOCK_MONOTONIC));
}

static void identify(struct grouping *grouping, uint32_t number) {
    struct aggstats_identity identity = {0};
    bool is_known = grouping->options.identify(grouping->options.context, number, &identity);
    pthread_mutex_lock(&grouping->lock);
    note_identity(grouping, number, is_known ? &identity : NULL);
    pthread_mutex_unlock(&grouping->lock);
}

/* Returns whether anybody calls. */
static bool look_around(struct grouping *grouping) {
    uint32_t due[CALLERS_MAX];
    pthread_mutex_lock(&grouping->lock);
    bool any = take_in(grouping) > 0;
    unsigned due_count = callers_due(&grouping->callers, now_ns(CLOCK_MONOTONIC), due);
    pthread_mutex_unlock(&grouping->lock);
    for (unsigned i = 0; i < due_count; i++)
        identify(grouping, due[i]);
    return any;
}

/* Until somebody wakes us or, where there are calls, a while. */
static void wait_for_calls(struct grouping *grouping, bool any_calls) {
    int64_t until_ns = now_ns(CLOCK_REALTIME) + LOOK_INTERVAL_NS; /* as sem_timedwait() wants it */
    const struct timespec until = {.tv_sec = until_ns / NS_PER_SECOND, .tv_nsec = until_ns % NS_PER_SECOND};
    __atomic_store_n(&grouping->is_asleep, !any_calls, __ATOMIC_RELAXED);
    while ((any_calls ? sem_timedwait(&grouping->wake, &until) : sem_wait(&grouping->wake)) < 0 && errno == EINTR)
        ;
    __atomic_store_n(&grouping->is_asleep, false, __ATOMIC_RELAXED);
    __atomic_store_n(&grouping->is_woken, false, __ATOMIC_RELEASE);
}

static void *run(void *argument) {
    struct grouping *grouping = argument;
    bool any_calls = false;
    while (!__atomic_load_n(&grouping->stop, __ATOMIC_ACQUIRE)) {
        wait_for_calls(grouping, any_calls);
        any_calls = look_around(grouping);
    }
    return NULL;
}

/* ---- Life cycle ---- */

static void destroy(struct grouping *grouping) {
    groups_finish(&grouping->groups);
    pthread_mutex_destroy(&grouping->lock);
    sem_destroy(&grouping->wake);
    free(grouping);
}

int grouping_start(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options,
                   struct grouping **ret_grouping) {
    struct grouping *grouping = calloc(1, sizeof(*grouping));
    if (!grouping)
        return -ENOMEM;
    grouping->recorder = recorder;
    grouping->options = *options;
    pthread_mutex_init(&grouping->lock, NULL);
    sem_init(&grouping->wake, 0, 0);
    int err = groups_init(&grouping->groups, &recorder->layout, options->groups_max);
    if (err == 0)
        err = quiet_thread_start(&grouping->thread, run, grouping);
    if (err < 0)
        destroy(grouping);
    else
        *ret_grouping = grouping;
    return err;
}

void grouping_stop(struct grouping *grouping) {
    if (!grouping)
        return;
    __atomic_store_n(&grouping->stop, true, __ATOMIC_RELEASE);
    sem_post(&grouping->wake);
    pthread_join(grouping->thread, NULL);
    destroy(grouping);
}

int aggstats_recorder_group(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options) {
    struct aggstats_grouping_options wanted = *options;
    if (wanted.groups_max == 0)
        wanted.groups_max = AGGSTATS_GROUPS_DEFAULT;
    if (!aggstats_grouping_name(wanted.grouping) || wanted.groups_max < AGGSTATS_GROUPS_MIN ||
        wanted.groups_max > AGGSTATS_GROUPS_MAX)
        return -EINVAL;
    if (recorder->grouping)
        return -EBUSY;
    return grouping_start(recorder, &wanted, &recorder->grouping);
}

/* ---- Reset, pause, resume, showing ---- */

void grouping_reset(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    groups_clear(&grouping->groups);
    pthread_mutex_unlock(&grouping->lock);
}

void grouping_pause(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    grouping->paused = true;
    pthread_mutex_unlock(&grouping->lock);
}

void grouping_resume(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    grouping->paused = false;
    pthread_mutex_unlock(&grouping->lock);
}

int grouping_show(struct grouping *grouping, const char (*op_names)[AGGSTATS_NAME_SIZE],
                  struct aggstats_profile *profile) {
    pthread_mutex_lock(&grouping->lock);
    profile->grouping = grouping->options.grouping;
    int err = groups_show(&grouping->groups, op_names, profile);
    pthread_mutex_unlock(&grouping->lock);
    return err;
}

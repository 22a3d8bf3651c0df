/* From calls to groups of callers. */
#include "grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base.h"
#include "quiet_lock.h"
#include "quiet_thread.h"

#define NS_PER_SECOND 1000000000
#define CHECK_INTERVAL_NS 100000000 /* while there are calls */

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

static void count(struct grouping *grouping, const struct event *event);
static unsigned take_in(struct grouping *grouping);

/* The slow way: the queue is full, or there is none. */
static void count_now(struct grouping *grouping, const struct event *event) {
    sigset_t before;
    quiet_lock(&grouping->lock, &before);
    take_in(grouping);
    count(grouping, event);
    quiet_unlock(&grouping->lock, &before);
    wake(grouping);
}

void grouping_add(struct grouping *grouping, struct events *events, const struct event *event) {
    if (!events || !events_put(events, event))
        count_now(grouping, event);
    else if ((!event->is_kernel && events_is_new(events, event->caller)) || events->written % (EVENTS_MAX / 2) == 0 ||
             __atomic_load_n(&grouping->is_asleep, __ATOMIC_RELAXED))
        wake(grouping);
}

/* ---- Counting, under the lock ---- */

/* The group of an identity, which is made if there is none. Another may be folded for it; but not that of the latest
 * call. NULL: no memory. */
static struct group *find_or_add(struct grouping *grouping, const struct aggstats_identity *identity) {
    bool was_folded = false;
    struct group *group = groups_find(&grouping->groups, identity);
    if (!group)
        group = groups_add(&grouping->groups, identity, &was_folded);
    if (group && was_folded)
        callers_forget(&grouping->callers, group);
    return group;
}

/* In place of a process's start, where its number is all that is known: because nobody was asked in time, or since it
 * is gone. The former may yet turn out to be somebody. */
enum { START_NOT_ASKED = 0, START_GONE = 1 };

/* Returns the group that its calls are in now; NULL: none of its own. */
static struct group *settle_unknown(struct grouping *grouping, struct caller *caller, uint64_t start) {
    const struct aggstats_identity unknown = {.id = caller->number, .instance = start};
    if (caller->pending.seen == 0)
        return NULL;
    struct group *group = find_or_add(grouping, &unknown);
    groups_unite(&grouping->groups, &caller->pending, group ? group : &grouping->groups.other);
    return group;
}

static struct caller *meet(struct grouping *grouping, uint32_t number) {
    struct caller *place = callers_place(&grouping->callers, number);
    if (place->is_used && !place->group)
        settle_unknown(grouping, place, START_NOT_ASKED);
    if (callers_put(&grouping->callers, place, number, now_ns(CLOCK_MONOTONIC)) < 0)
        return NULL;
    if (!grouping->options.identify)
        place->group = find_or_add(grouping, &place->pending.identity);
    return place;
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
    return caller->group ? caller->group : &caller->pending;
}

static void count(struct grouping *grouping, const struct event *event) {
    if (!grouping->paused)
        groups_count(&grouping->groups, group_of(grouping, event), event->op, event->latency_cycles);
}

/* Returns how many there were. */
static unsigned take_in(struct grouping *grouping) {
    unsigned taken = 0;
    for (struct segment *segment = threads_first_segment(grouping->threads); segment; segment = segment->next) {
        struct events *events = __atomic_load_n(&segment->events, __ATOMIC_ACQUIRE);
        struct event event;
        /* bounded: a thread may go on putting */
        for (unsigned i = 0; events && i < EVENTS_MAX && events_take(events, &event); i++, taken++)
            count(grouping, &event);
    }
    return taken;
}

void grouping_take_in(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    take_in(grouping);
    pthread_mutex_unlock(&grouping->lock);
}

/* ---- Who they are ---- */

/* A group that has only its number, since its caller was displaced before it was known. */
static void take_over_unknown(struct grouping *grouping, uint32_t number, struct group *group) {
    const struct aggstats_identity unknown = {.id = number, .instance = START_NOT_ASKED};
    struct group *before = groups_find(&grouping->groups, &unknown);
    if (!before || before == group)
        return;
    callers_forget(&grouping->callers, before);
    groups_unite(&grouping->groups, before, group);
}

/* What it has called before it was known comes to its group; not so if it is another now. */
static void move_caller(struct grouping *grouping, struct caller *caller, const struct aggstats_identity *identity) {
    struct group *group = find_or_add(grouping, identity);
    if (!group)
        return;
    group->identity = *identity; /* the name may be another */
    group->seen = ++grouping->groups.calls;
    if (!caller->group) {
        groups_unite(&grouping->groups, &caller->pending, group);
        take_over_unknown(grouping, caller->number, group);
    }
    caller->is_used = true; /* its earlier group may just have been folded */
    caller->group = group;
}

static void note_identity(struct grouping *grouping, uint32_t number, const struct aggstats_identity *identity) {
    struct caller *caller = callers_find(&grouping->callers, number);
    if (!caller)
        return;
    if (identity)
        move_caller(grouping, caller, identity);
    else if (!caller->group)
        caller->group = settle_unknown(grouping, caller, START_GONE);
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
static bool check_callers(struct grouping *grouping) {
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
    int64_t until_ns = now_ns(CLOCK_REALTIME) + CHECK_INTERVAL_NS; /* as sem_timedwait() wants it */
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
        any_calls = check_callers(grouping);
    }
    return NULL;
}

/* ---- Life cycle ---- */

static void destroy(struct grouping *grouping) {
    groups_finish(&grouping->groups);
    callers_finish(&grouping->callers);
    pthread_mutex_destroy(&grouping->lock);
    sem_destroy(&grouping->wake);
    free(grouping);
}

int grouping_start(const struct threads *threads, const struct aggstats_grouping_options *options,
                   struct grouping **ret_grouping) {
    struct grouping *grouping = calloc(1, sizeof(*grouping));
    if (!grouping)
        return -ENOMEM;
    grouping->threads = threads;
    grouping->options = *options;
    grouping->callers.op_count = threads->layout.op_count;
    pthread_mutex_init(&grouping->lock, NULL);
    sem_init(&grouping->wake, 0, 0);
    int err = groups_init(&grouping->groups, &threads->layout, options->groups_max);
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
    if (!grouping->is_left) {
        __atomic_store_n(&grouping->stop, true, __ATOMIC_RELEASE);
        sem_post(&grouping->wake);
        pthread_join(grouping->thread, NULL);
    }
    destroy(grouping);
}

/* ---- Reset, pause, resume, showing ---- */

/* Those who are not known yet. */
static struct caller *next_unknown(struct callers *callers, struct caller *caller) {
    struct caller *end = &callers->sets[0][0] + (size_t)CALLERS_MAX;
    for (caller = caller ? caller + 1 : &callers->sets[0][0]; caller < end; caller++)
        if (caller->is_used && !caller->group)
            return caller;
    return NULL;
}

void grouping_reset(struct grouping *grouping) {
    struct caller *caller = NULL;
    pthread_mutex_lock(&grouping->lock);
    groups_clear(&grouping->groups);
    while ((caller = next_unknown(&grouping->callers, caller)))
        group_forget_calls(&caller->pending, grouping->callers.op_count);
    pthread_mutex_unlock(&grouping->lock);
}

static void set_paused(struct grouping *grouping, bool paused) {
    pthread_mutex_lock(&grouping->lock);
    grouping->paused = paused;
    pthread_mutex_unlock(&grouping->lock);
}

void grouping_pause(struct grouping *grouping) {
    set_paused(grouping, true);
}

void grouping_resume(struct grouping *grouping) {
    set_paused(grouping, false);
}

static int show_locked(struct grouping *grouping, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                       struct aggstats_profile *profile) {
    struct groups_showing showing;
    struct caller *caller = NULL;
    profile->grouping = grouping->options.grouping;
    int err = groups_show_begin(&grouping->groups, marks, op_names, profile, &showing);
    while (err == 0 && (caller = next_unknown(&grouping->callers, caller)))
        err = group_show(&showing, &caller->pending);
    groups_show_end(&showing);
    return err;
}

int grouping_show(struct grouping *grouping, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                  struct aggstats_profile *profile) {
    pthread_mutex_lock(&grouping->lock);
    int err = show_locked(grouping, marks, op_names, profile);
    pthread_mutex_unlock(&grouping->lock);
    return err;
}

void grouping_end_marks(struct grouping *grouping, bool take) {
    struct caller *caller = NULL;
    pthread_mutex_lock(&grouping->lock);
    groups_end_marks(&grouping->groups, take);
    while ((caller = next_unknown(&grouping->callers, caller)))
        group_end_marks(&caller->pending, &grouping->groups.layout, take);
    pthread_mutex_unlock(&grouping->lock);
}

/* From calls to groups of callers. */
#include "grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "quiet_lock.h"
#include "quiet_thread.h"

#define CHECK_INTERVAL_NS 100000000 /* while there are calls */
#define NAMES_INTERVAL_NS 100000000 /* not more often, since all objects of a table may be new each time */
#define NAMES_WAIT_NS 200000000     /* how long a snapshot waits for the thread */

void grouping_wake(struct grouping *grouping) {
    if (!__atomic_load_n(&grouping->is_woken, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&grouping->is_woken, true, __ATOMIC_ACQ_REL))
        sem_post(&grouping->wake);
}

/* ---- Counting: count() and take_in() under the lock ---- */

static void count(struct grouping *grouping, const struct queued_call *call) {
    for (unsigned i = 0; i < grouping->on_count && !grouping->paused; i++)
        grouping_table_count(grouping->on[i], call);
}

/* Returns how many there were. */
static unsigned take_in(struct grouping *grouping) {
    unsigned taken = 0;
    for (struct segment *segment = threads_first_segment(grouping->threads); segment; segment = segment->next) {
        struct call_queue *queue = __atomic_load_n(&segment->queue, __ATOMIC_ACQUIRE);
        struct queued_call call;
        /* bounded: a thread may go on adding */
        for (unsigned i = 0; queue && i < CALL_QUEUE_MAX && call_queue_take(queue, &call); i++, taken++)
            count(grouping, &call);
    }
    return taken;
}

/* A thread that has not been met recently can be identified while it waits for its call. */
void grouping_add_slowly(struct grouping *grouping, struct call_queue *queue, const struct queued_call *call) {
    struct queued_call asked = *call;
    sigset_t before;
    const uint32_t thread = call->of.thread;
    const uint64_t mark = __atomic_load_n(&grouping->met_mark, __ATOMIC_ACQUIRE);
    const bool is_new = mark != 0 && thread != 0 && (!queue || call_queue_is_new(queue, mark, thread));
    asked.has_asked = is_new && first_calls_meet(&grouping->first_calls, thread);
    if (!queue || !call_queue_put(queue, &asked)) {
        quiet_lock(&grouping->lock, &before);
        take_in(grouping);
        count(grouping, &asked);
        quiet_unlock(&grouping->lock, &before);
    }
    grouping_wake(grouping);
}

void grouping_take_in(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    take_in(grouping);
    pthread_mutex_unlock(&grouping->lock);
}

void grouping_add_calls(struct grouping *grouping, const struct aggstats_group_calls *calls) {
    sigset_t before;
    quiet_lock(&grouping->lock, &before);
    for (unsigned i = 0; i < grouping->on_count && !grouping->paused; i++)
        grouping_table_add_calls(grouping->on[i], calls);
    quiet_unlock(&grouping->lock, &before);
    if (__atomic_load_n(&grouping->is_asleep, __ATOMIC_RELAXED))
        grouping_wake(grouping); /* for names of objects */
}

/* ---- Identifying ---- */

/* Returns false if the thread here must ask, which may wait. */
static bool name(struct grouping *grouping, struct grouping_table *table, uint64_t object, bool may_wait) {
    char name[AGGSTATS_GROUP_NAME_SIZE] = "";
    bool is_known = table->options.name_object(table->options.context, object, may_wait, name);
    sigset_t before;
    quiet_lock(&grouping->lock, &before);
    if (table->is_on && (is_known || may_wait))
        heavy_note(table->heavy, object, is_known, name, read_clock_ns(CLOCK_MONOTONIC));
    else if (table->is_on)
        heavy_guess(table->heavy, object, name);
    quiet_unlock(&grouping->lock, &before);
    return is_known || may_wait;
}

static void identify(struct grouping *grouping, struct grouping_table *table, uint64_t key) {
    struct aggstats_identity identity = {0};
    if (table->options.name_object) {
        __atomic_store_n(&grouping->asking_ns, read_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
        name(grouping, table, key, true);
        __atomic_store_n(&grouping->asking_ns, 0, __ATOMIC_RELAXED);
        return;
    }
    bool is_known = table->options.identify(table->options.context, (uint32_t)key, &identity);
    pthread_mutex_lock(&grouping->lock);
    grouping_table_note(table, key, is_known ? &identity : NULL);
    pthread_mutex_unlock(&grouping->lock);
}

static void check_callers_of(struct grouping *grouping, struct grouping_table *table, bool all) {
    uint64_t due[CALLERS_MAX];
    pthread_mutex_lock(&grouping->lock);
    unsigned due_count = grouping_table_due(table, all, due);
    pthread_mutex_unlock(&grouping->lock);
    for (unsigned i = 0; i < due_count; i++)
        identify(grouping, table, due[i]);
}

/* The tables that are on. They may be used without the lock, since tables are never freed: of one that is off meanwhile
 * nothing is due, and what is noted is dropped. */
struct tables_on {
    struct grouping_table *tables[AGGSTATS_GROUPINGS];
    unsigned count;
    bool name_objects; /* some table needs names of objects */
};

/* Call under the lock. */
static struct tables_on tables_on(const struct grouping *grouping) {
    struct tables_on tables = {.count = grouping->on_count};
    for (unsigned i = 0; i < tables.count; i++) {
        tables.tables[i] = grouping->on[i];
        tables.name_objects |= grouping->on[i]->options.name_object != NULL;
    }
    return tables;
}

/* Returns whether there is more to do later, since there are calls. */
static bool check_callers(struct grouping *grouping) {
    unsigned wanted = __atomic_load_n(&grouping->names_wanted, __ATOMIC_ACQUIRE);
    bool is_wanted = wanted != grouping->names_done;
    pthread_mutex_lock(&grouping->lock);
    bool any = take_in(grouping) > 0;
    const struct tables_on tables = tables_on(grouping);
    pthread_mutex_unlock(&grouping->lock);
    const int64_t now = read_clock_ns(CLOCK_MONOTONIC);
    const bool names_now = is_wanted || now >= grouping->names_ns;
    if (names_now)
        grouping->names_ns = now + NAMES_INTERVAL_NS;
    for (unsigned i = 0; i < tables.count; i++)
        if (names_now || !tables.tables[i]->options.name_object)
            check_callers_of(grouping, tables.tables[i], is_wanted);
    if (is_wanted) { /* ends all waits that began before */
        pthread_mutex_lock(&grouping->lock);
        grouping->names_done = wanted;
        pthread_cond_broadcast(&grouping->named);
        pthread_mutex_unlock(&grouping->lock);
    }
    return any || (tables.name_objects && !names_now);
}

/* Not if the thread hangs: if it has been asking for one name for NAMES_WAIT_NS. */
static void wait_for_names(struct grouping *grouping) {
    int64_t now = read_clock_ns(CLOCK_MONOTONIC);
    int64_t until_ns = now + NAMES_WAIT_NS;
    const struct timespec until = timespec_of(until_ns);
    unsigned wanted = __atomic_add_fetch(&grouping->names_wanted, 1, __ATOMIC_ACQ_REL);
    sigset_t before;
    const int64_t asking_ns = __atomic_load_n(&grouping->asking_ns, __ATOMIC_RELAXED);
    int error = asking_ns != 0 && now - asking_ns >= NAMES_WAIT_NS ? ETIMEDOUT : 0;
    sem_post(&grouping->wake); /* until this thread, woken, has looked, further grouping_wake() do nothing */
    quiet_lock(&grouping->lock, &before);
    while (error == 0 && (int)(grouping->names_done - wanted) < 0)
        error = pthread_cond_timedwait(&grouping->named, &grouping->lock, &until);
    quiet_unlock(&grouping->lock, &before);
}

void grouping_ask_names(struct grouping *grouping) {
    bool is_done = true;
    sigset_t before;
    quiet_lock(&grouping->lock, &before);
    const struct tables_on tables = tables_on(grouping);
    quiet_unlock(&grouping->lock, &before);
    for (unsigned i = 0; i < tables.count; i++) {
        uint64_t due[CALLERS_MAX];
        if (!tables.tables[i]->options.name_object)
            continue;
        quiet_lock(&grouping->lock, &before);
        take_in(grouping);
        unsigned due_count = grouping_table_due(tables.tables[i], true, due);
        quiet_unlock(&grouping->lock, &before);
        for (unsigned j = 0; j < due_count; j++)
            is_done &= name(grouping, tables.tables[i], due[j], false);
    }
    if (!is_done)
        wait_for_names(grouping);
}

/* Waits until woken or, if there are calls, for a while. */
static void wait_for_calls(struct grouping *grouping, bool any_calls) {
    int64_t until_ns = read_clock_ns(CLOCK_MONOTONIC) + CHECK_INTERVAL_NS;
    const struct timespec until = timespec_of(until_ns);
    __atomic_store_n(&grouping->is_asleep, !any_calls, __ATOMIC_RELAXED);
    while ((any_calls ? sem_clockwait(&grouping->wake, CLOCK_MONOTONIC, &until) : sem_wait(&grouping->wake)) < 0 &&
           errno == EINTR)
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
    for (unsigned kind = 0; kind < AGGSTATS_GROUPINGS; kind++)
        grouping_table_destroy(grouping->tables[kind]);
    first_calls_finish(&grouping->first_calls);
    pthread_cond_destroy(&grouping->named);
    pthread_mutex_destroy(&grouping->lock);
    sem_destroy(&grouping->wake);
    free(grouping);
}

int grouping_start(const struct threads *threads, struct grouping **ret_grouping) {
    struct grouping *grouping = calloc(1, sizeof(*grouping));
    if (!grouping)
        return -ENOMEM;
    grouping->threads = threads;
    first_calls_init(&grouping->first_calls);
    cond_init_monotonic(&grouping->named);
    pthread_mutex_init(&grouping->lock, NULL);
    sem_init(&grouping->wake, 0, 0);
    int err = quiet_thread_start(&grouping->thread, run, grouping);
    if (err < 0)
        destroy(grouping);
    else
        *ret_grouping = grouping;
    return err;
}

static bool are_same(const struct aggstats_grouping_options *a, const struct aggstats_grouping_options *b) {
    return a->groups_max == b->groups_max && a->identify == b->identify && a->context == b->context &&
           a->identify_first == b->identify_first && a->name_object == b->name_object && a->place_of == b->place_of;
}

/* Gives a grouping a table with memory, which is still off. First calls are asked for once, for all groupings. */
static int prepare(struct grouping *grouping, const struct aggstats_grouping_options *options) {
    struct grouping_table **table = &grouping->tables[options->grouping];
    struct first_calls *calls = &grouping->first_calls;
    int err = 0;
    if (*table && (*table)->is_on)
        return -EBUSY;
    if (*table && !are_same(&(*table)->options, options))
        return -EINVAL;
    if (options->identify_first && !calls->identify)
        err = first_calls_begin(calls, options->identify_first, options->context);
    else if (options->identify_first &&
             (calls->identify != options->identify_first || calls->context != options->context))
        err = -EINVAL;
    if (err < 0)
        return err;
    if (!*table)
        *table = grouping_table_create(options, &grouping->first_calls);
    return *table ? grouping_table_begin(*table, &grouping->threads->layout) : -ENOMEM;
}

/* Call under the lock. */
static void list_tables(struct grouping *grouping) {
    uint64_t mark = 0;
    grouping->on_count = 0;
    for (unsigned kind = 0; kind < AGGSTATS_GROUPINGS; kind++) {
        struct grouping_table *table = grouping->tables[kind];
        if (!table || !table->is_on)
            continue;
        grouping->on[grouping->on_count++] = table;
        if (table->options.identify)
            mark = grouping->marks * CALL_QUEUE_MARK;
    }
    __atomic_store_n(&grouping->met_mark, mark, __ATOMIC_RELEASE);
}

static void switch_on(struct grouping *grouping, const struct aggstats_grouping_options *options, unsigned count,
                      bool is_late) {
    sigset_t before;
    if (is_late)
        first_calls_clear(&grouping->first_calls);
    grouping->marks++;
    quiet_lock(&grouping->lock, &before);
    take_in(grouping); /* calls since earlier groups ended belong to nobody */
    for (unsigned i = 0; i < count; i++)
        grouping->tables[options[i].grouping]->is_on = true;
    grouping->is_late = is_late;
    list_tables(grouping);
    quiet_unlock(&grouping->lock, &before);
}

int grouping_begin(struct grouping *grouping, const struct aggstats_grouping_options *options, unsigned count,
                   bool is_late) {
    int err = 0;
    unsigned ready = 0;
    while (ready < count && (err = prepare(grouping, &options[ready])) == 0)
        ready++;
    if (err == 0)
        switch_on(grouping, options, count, is_late);
    for (unsigned i = 0; err < 0 && i < ready; i++)
        grouping_table_end(grouping->tables[options[i].grouping]);
    return err;
}

void grouping_end(struct grouping *grouping) {
    sigset_t before;
    quiet_lock(&grouping->lock, &before);
    for (unsigned i = 0; i < grouping->on_count; i++)
        grouping_table_end(grouping->on[i]);
    list_tables(grouping);
    quiet_unlock(&grouping->lock, &before);
}

void grouping_stop(struct grouping *grouping) {
    if (!grouping->probe.is_left) {
        __atomic_store_n(&grouping->stop, true, __ATOMIC_RELEASE);
        sem_post(&grouping->wake);
        pthread_join(grouping->thread, NULL);
    }
    destroy(grouping);
}

/* ---- Reset, pause, resume, showing ---- */

void grouping_reset(struct grouping *grouping) {
    pthread_mutex_lock(&grouping->lock);
    for (unsigned i = 0; i < grouping->on_count; i++)
        grouping_table_reset(grouping->on[i]);
    pthread_mutex_unlock(&grouping->lock);
}

void grouping_set_paused(struct grouping *grouping, bool paused) {
    pthread_mutex_lock(&grouping->lock);
    grouping->paused = paused;
    pthread_mutex_unlock(&grouping->lock);
}

int grouping_show(struct grouping *grouping, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                  struct aggstats_profile *profile) {
    int err = 0;
    pthread_mutex_lock(&grouping->lock);
    for (unsigned i = 0; i < grouping->on_count && err == 0; i++) {
        uint64_t unseen = 0;
        err = grouping_table_show(grouping->on[i], marks, op_names, profile, grouping->is_late ? &unseen : NULL);
        if (profile->ungrouped_calls < unseen)
            profile->ungrouped_calls = unseen;
    }
    pthread_mutex_unlock(&grouping->lock);
    return err;
}

void grouping_end_marks(struct grouping *grouping, bool take) {
    pthread_mutex_lock(&grouping->lock);
    for (unsigned i = 0; i < grouping->on_count; i++)
        grouping_table_end_marks(grouping->on[i], take);
    pthread_mutex_unlock(&grouping->lock);
}

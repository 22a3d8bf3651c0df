/* Looking at calls in flight, at increasing ages. */
#include "slow_watcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats/caller_groups.h"
#include "aggstats/slow.h"
#include "base.h"
#include "path.h"
#include "quiet_lock.h"
#include "quiet_thread.h"

#define IDLE_LOOKS 16         /* looks without any call in flight before it sleeps */
#define LOOK_MAX_NS 100000000 /* while there are calls */
#define SLEEP_NS INT64_C(3000000000)
#define AGE_PARTS 16
#define ENDED_LOOKS 8 /* a thread needs less time from the end of a call until it reports the call */

static const struct aggstats_why not_sampled = {
    .kind = AGGSTATS_CAUSE_UNKNOWN, .id = "not_sampled", .words = "(not known: it ended before it was sampled)"};
static const struct aggstats_why not_watched = {
    .kind = AGGSTATS_CAUSE_UNKNOWN, .id = "not_watched", .words = "(not known: more calls waited than are looked at)"};

static uint64_t threshold_of(const struct slow *slow) {
    return __atomic_load_n(&slow->store->threshold_cycles, __ATOMIC_RELAXED);
}

/* ---- Pending calls; under the lock ---- */

/* adds: if the call is missing, it gets a free place. NULL: there is none */
static struct slow_pending *find_pending(struct slow *slow, const struct aggstats_block *block, uint64_t start_cycles,
                                         bool adds) {
    struct slow_pending *unused = NULL;
    for (struct slow_pending *pending = slow->pendings; pending < slow->pendings + SLOW_WAITS_MAX; pending++) {
        if (pending->block == block && pending->start_cycles == start_cycles)
            return pending;
        if (!pending->block && adds && !unused)
            unused = pending;
    }
    if (unused)
        *unused = (struct slow_pending){.block = block, .start_cycles = start_cycles};
    return unused;
}

static struct slow_wait *wait_of(struct slow *slow, const struct slow_pending *pending) {
    return &slow->store->waits[pending - slow->pendings];
}

static void free_pending(struct slow *slow, struct slow_pending *pending) {
    wait_of(slow, pending)->start_cycles = 0;
    pending->block = NULL;
}

/* A call that keeps waiting for something else has more causes than there is room for: the last entry takes the
 * rest. */
static struct slow_part *part_of(struct slow_pending *pending, const struct aggstats_why *cause) {
    size_t i = 0;
    while (i < pending->part_count && !aggstats_why_is_same(&pending->parts[i].cause, cause))
        i++;
    if (i == SLOW_PARTS_MAX)
        return &pending->parts[SLOW_PARTS_MAX - 1];
    if (i == pending->part_count) {
        pending->parts[i] = (struct slow_part){.cause = *cause};
        pending->part_count++;
    }
    return &pending->parts[i];
}

/* ---- Looking ---- */

/* A call of a thread; start_cycles 0: none that could be slow */
struct seen {
    const struct aggstats_block *block;
    uint64_t start_cycles;
};

static bool is_same(const struct seen *seen) {
    return __atomic_load_n(&seen->block->current_op, __ATOMIC_ACQUIRE) != 0 &&
           __atomic_load_n(&seen->block->current_start_cycles, __ATOMIC_RELAXED) == seen->start_cycles;
}

/* By a sixteenth of its age. */
static bool is_older(uint64_t age_cycles, uint64_t before_cycles) {
    return age_cycles - before_cycles >= age_cycles / AGE_PARTS;
}

static void copy_path(const struct slow *slow, uint64_t object, char ret_path[SLOW_PATH_SIZE]) {
    CLEANUP_FREE char *path = slow->options.path_of ? slow->options.path_of(slow->options.path_context, object) : NULL;
    path_copy_end(path ? path : "", ret_path, SLOW_PATH_SIZE);
}

/* The result of a look, and the object of the call. */
struct found {
    struct aggstats_wait wait;
    bool has_looked; /* for the holder, too */
    char chain[CHAIN_TEXT_SIZE];
    char path[SLOW_PATH_SIZE];
};

static bool lacks_holder(const struct aggstats_wait *wait) {
    const enum aggstats_relation relation = wait->chain.links[0].relation; /* zeroed if there is no link */
    return aggstats_cause_class_has_holder(wait->cause.kind) &&
           (relation == AGGSTATS_NOBODY_KNOWN || relation == AGGSTATS_BY_DESCRIPTION);
}

/* If the cause has changed since the last look, nobody knows when: so each gets half of the time. A chain with a holder
 * stays if a later one has none: when a lock has been let go, its waiter is seen a little longer. */
static void note_cause(struct slow *slow, struct slow_pending *pending, const struct found *found,
                       uint64_t age_cycles) {
    struct slow_wait *wait = wait_of(slow, pending);
    const struct aggstats_wait *seen = &found->wait;
    struct slow_part *part = part_of(pending, &seen->cause);
    uint64_t passed_cycles = age_cycles - pending->age_cycles;
    if (pending->last)
        pending->last->cycles += passed_cycles / 2;
    part->cycles += pending->last ? passed_cycles - passed_cycles / 2 : passed_cycles;
    memcpy(part->stack, seen->stack, sizeof(seen->stack));
    if (found->has_looked) {
        part->lacks_holder = lacks_holder(seen);
        part->holder_age_cycles = age_cycles;
    }
    if (found->has_looked && found->chain[0] && !(part->has_holder && part->lacks_holder)) {
        memcpy(part->chain, found->chain, sizeof(part->chain));
        part->has_holder = !part->lacks_holder;
    }
    pending->last = part;
    pending->age_cycles = age_cycles;
    slow_store_begin(slow->store);
    wait->start_cycles = pending->start_cycles;
    wait->cause = seen->cause;
    memcpy(wait->texts.stack, seen->stack, sizeof(wait->texts.stack));
    memcpy(wait->texts.chain, part->chain, sizeof(wait->texts.chain));
    memcpy(wait->texts.path, found->path, sizeof(wait->texts.path));
    slow_store_end(slow->store);
}

/* Called without the lock, since it may take long: only this thread adds pending calls, and none is freed before it has
 * come back. */
static void ask_cause(struct slow *slow, const struct seen *seen, struct slow_pending *pending, uint64_t age_cycles,
                      bool wants_holder) {
    struct found found = {.path = ""};
    const uint64_t threshold_cycles = threshold_of(slow);
    const double ns_per_cycle =
        (double)__atomic_load_n(&slow->threshold_ns, __ATOMIC_RELAXED) / (double)threshold_cycles;
    sigset_t before;
    const struct aggstats_look look = {
        .thread = __atomic_load_n(&seen->block->thread, __ATOMIC_RELAXED),
        .age_cycles = age_cycles,
        .age_ns = threshold_cycles > 0 ? (uint64_t)((double)age_cycles * ns_per_cycle) : 0,
        .memory = pending->memory,
        .wants_holder = wants_holder,
    };
    slow->options.find_cause(slow->options.context, &look, &found.wait);
    found.has_looked = wants_holder && !found.wait.is_put_off;
    if (found.has_looked)
        pending->holder_cycles = seen->start_cycles + age_cycles;
    chain_encode(&found.wait.chain, found.chain);
    copy_path(slow, __atomic_load_n(&seen->block->current_object, __ATOMIC_RELAXED), found.path);
    quiet_lock(&slow->lock, &before);
    if (is_same(seen) && pending->block == seen->block && pending->start_cycles == seen->start_cycles)
        note_cause(slow, pending, &found, age_cycles);
    quiet_unlock(&slow->lock, &before);
}

/* A holder costs more than the cause, so it is looked for less often. */
static bool wants_holder(const struct slow *slow, const struct slow_pending *pending, uint64_t age_cycles) {
    const struct slow_part *part = pending->last;
    if (!slow->options.wants_holders || age_cycles < threshold_of(slow))
        return false;
    if (part && part->lacks_holder)
        return is_older(age_cycles, part->holder_age_cycles);
    return !part || age_cycles / 2 >= part->holder_age_cycles;
}

/* Holders are looked for in turn: else those of a few calls might take all of the time that is left for that. */
static bool has_turn(const struct slow *slow, const struct slow_pending *pending, uint64_t now_cycles) {
    for (const struct slow_pending *other = slow->pendings; other < slow->pendings + SLOW_WAITS_MAX; other++) {
        const bool is_before = other->holder_cycles < pending->holder_cycles ||
                               (other->holder_cycles == pending->holder_cycles && other < pending);
        const struct seen seen = {.block = other->block, .start_cycles = other->start_cycles};
        if (is_before && other->block && is_same(&seen) && wants_holder(slow, other, now_cycles - other->start_cycles))
            return false;
    }
    return true;
}

/* A call is first looked at when it is half as old as a slow one, and again whenever it is older by a sixteenth, or if it
 * is its turn to have its holder looked for. */
static void look_closer(struct slow *slow, const struct seen *seen, uint64_t threshold_cycles) {
    const uint64_t now_cycles = aggstats_clock_now(slow->clock_kind);
    const uint64_t age_cycles = now_cycles - seen->start_cycles;
    sigset_t before;
    if ((int64_t)age_cycles < (int64_t)(threshold_cycles / 2))
        return;
    quiet_lock(&slow->lock, &before);
    struct slow_pending *pending = find_pending(slow, seen->block, seen->start_cycles, true);
    if (!pending)
        slow->crowded_cycles = now_cycles;
    const bool asks_holder = pending && wants_holder(slow, pending, age_cycles) && has_turn(slow, pending, now_cycles);
    quiet_unlock(&slow->lock, &before);
    if (pending && (asks_holder || is_older(age_cycles, pending->age_cycles)))
        ask_cause(slow, seen, pending, age_cycles, asks_holder);
}

/* ---- Reporting ---- */

/* Takes the oldest call. ret_lost: how many were dropped since the one before; they may have ended after it. Returns
 * false if there is none */
static bool take_ended(struct slow *slow, struct slow_call *ret_call, uint64_t *ret_lost) {
    struct slow_reports *reports = &slow->reports;
    sigset_t before;
    quiet_lock(&slow->lock, &before);
    const bool is_taken = reports->taken_count != reports->added_count;
    if (is_taken) {
        *ret_call = reports->calls[reports->taken_count++ % SLOW_REPORTS_MAX];
        user_shares_give(&reports->shares, (uid_t)ret_call->call.uid, 1);
        *ret_lost = reports->lost_count;
        reports->lost_count = 0;
    }
    quiet_unlock(&slow->lock, &before);
    return is_taken;
}

/* Under the lock. Does nothing without a report function. */
static void add_ended(struct slow_reports *reports, const struct slow_call *call) {
    if (!reports->calls)
        return;
    if (!user_shares_are_left(&reports->shares, (uid_t)call->call.uid)) {
        reports->lost_count++;
        return;
    }
    user_shares_take(&reports->shares, (uid_t)call->call.uid, 1);
    reports->calls[reports->added_count++ % SLOW_REPORTS_MAX] = *call;
}

void slow_report(struct slow *slow) {
    struct slow_call call;
    uint64_t lost;
    struct aggstats_chain chain;
    struct aggstats_call shown;
    sigset_t before;
    if (!slow->options.report)
        return;
    quiet_lock(&slow->report_lock, &before);
    while (take_ended(slow, &call, &lost))
        if (slow_store_show_call(&call, slow->op_names, slow->op_count, &chain, &shown) == 0)
            slow->options.report(slow->options.report_context, &shown, lost);
    quiet_unlock(&slow->report_lock, &before);
}

/* ---- The thread ---- */

/* True if the call has ended, and was not slow or has been counted: its thread has begun another call, or idles. */
static bool is_over(struct slow_pending *pending) {
    const struct seen seen = {.block = pending->block, .start_cycles = pending->start_cycles};
    if (is_same(&seen))
        return false;
    return __atomic_load_n(&seen.block->current_start_cycles, __ATOMIC_RELAXED) != seen.start_cycles ||
           ++pending->ended_looks > ENDED_LOOKS;
}

/* Returns whether any call is in flight. Notes the time, so that the age of calls is known if the process is killed. */
static bool look_at_all(struct slow *slow, uint64_t threshold_cycles, bool may_sleep) {
    bool any = slow->options.gather && slow->options.gather(slow->options.gather_context, may_sleep);
    sigset_t before;
    __atomic_store_n(slow->seen_cycles, aggstats_clock_now(slow->clock_kind), __ATOMIC_RELAXED);
    quiet_lock(&slow->lock, &before);
    for (size_t i = 0; i < SLOW_WAITS_MAX; i++)
        if (slow->pendings[i].block && is_over(&slow->pendings[i]))
            free_pending(slow, &slow->pendings[i]);
    quiet_unlock(&slow->lock, &before);
    for (const struct segment *segment = threads_first_segment(slow->threads); segment; segment = segment->next) {
        const struct aggstats_block *block = segment->block;
        const bool is_in_flight = __atomic_load_n(&block->current_op, __ATOMIC_ACQUIRE) != 0;
        const uint64_t start_cycles = __atomic_load_n(&block->current_start_cycles, __ATOMIC_RELAXED);
        const struct seen seen = {.block = block, .start_cycles = is_in_flight ? start_cycles : 0};
        any = any || seen.start_cycles != 0;
        if (seen.start_cycles != 0)
            look_closer(slow, &seen, threshold_cycles);
    }
    return any;
}

/* Sleeps until the next call wakes this thread, if it is idle, as announced before the look. A call may miss the
 * announcement, so the sleep has a limit.
 * Returns whether the thread was woken. */
static bool wait_for_next(struct slow *slow, bool is_idle) {
    const int64_t half_ns = (int64_t)__atomic_load_n(&slow->threshold_ns, __ATOMIC_RELAXED) / 2;
    const int64_t look_ns = half_ns < LOOK_MAX_NS ? half_ns : LOOK_MAX_NS;
    const struct timespec until = timespec_of(read_clock_ns(CLOCK_MONOTONIC) + (is_idle ? SLEEP_NS : look_ns));
    if (!is_idle)
        __atomic_store_n(&slow->is_asleep, false, __ATOMIC_SEQ_CST);
    int err = sem_clockwait(&slow->wake, CLOCK_MONOTONIC, &until);
    while (err < 0 && errno == EINTR)
        err = sem_clockwait(&slow->wake, CLOCK_MONOTONIC, &until);
    __atomic_store_n(&slow->is_asleep, false, __ATOMIC_SEQ_CST);
    return err == 0;
}

static void *run(void *argument) {
    struct slow *slow = argument;
    unsigned idle_looks = 0;
    while (!__atomic_load_n(&slow->stop, __ATOMIC_ACQUIRE)) {
        uint64_t threshold_cycles = threshold_of(slow);
        const bool may_sleep = idle_looks >= IDLE_LOOKS || threshold_cycles == 0;
        __atomic_store_n(&slow->is_asleep, may_sleep, __ATOMIC_SEQ_CST); /* from now on a beginning call wakes it */
        bool any = threshold_cycles > 0 && look_at_all(slow, threshold_cycles, may_sleep);
        slow_report(slow);
        idle_looks = any ? 0 : idle_looks + 1;
        /* the thread that woke this one has yet to begin its call, which may take a while */
        if (wait_for_next(slow, may_sleep && !any))
            idle_looks = 0;
    }
    return NULL;
}

void slow_begin(struct slow *slow) {
    if (__builtin_expect(__atomic_load_n(&slow->is_asleep, __ATOMIC_RELAXED), 0) &&
        __atomic_exchange_n(&slow->is_asleep, false, __ATOMIC_ACQ_REL))
        sem_post(&slow->wake);
}

/* ---- The end of a slow call ---- */

/* The cause of the last look is taken to have lasted until the end. */
static void count_locked(struct slow *slow, const struct aggstats_span *span, const struct slow_call *call,
                         const char *function) {
    const uint64_t latency_cycles = call->call.latency_cycles;
    struct slow_pending unseen = {.part_count = 0};
    struct slow_pending *pending = find_pending(slow, span->block, span->start_cycles, false);
    const bool was_crowded = !pending && slow->crowded_cycles > span->start_cycles;
    if (!slow->paused) {
        struct slow_pending *seen = pending ? pending : &unseen;
        const unsigned bucket = aggstats_bucket_of(latency_cycles, slow->threads->layout.resolution);
        const struct aggstats_why *unknown = was_crowded ? &not_watched : &not_sampled;
        struct slow_part *last = seen->last ? seen->last : part_of(seen, unknown);
        last->cycles += latency_cycles > seen->age_cycles ? latency_cycles - seen->age_cycles : 0;
        slow_store_begin(slow->store);
        const struct slow_call *kept =
            slow_store_add(slow->store, call, bucket, seen->parts, seen->part_count, function ? function : "");
        slow_store_end(slow->store);
        add_ended(&slow->reports, kept);
    }
    if (pending)
        free_pending(slow, pending);
}

void slow_end(struct slow *slow, const struct aggstats_span *span, unsigned op, const struct aggstats_call *call,
              const char *function) {
    uint64_t threshold_cycles = threshold_of(slow);
    struct aggstats_identity caller = {.id = 0};
    sigset_t before;
    if (threshold_cycles == 0 || call->latency_cycles < threshold_cycles)
        return;
    struct slow_call ended = {.op = op, .call = *call};
    ended.call.end_ns = read_clock_ns(CLOCK_REALTIME);
    if (slow->options.number_of)
        ended.call.object = slow->options.number_of(slow->options.path_context, call->object);
    copy_path(slow, call->object, ended.texts.path);
    snprintf(ended.user_stack, sizeof(ended.user_stack), "%s", call->user_stack ? call->user_stack : "");
    ended.call.user_stack = NULL;
    if (slow->options.identify &&
        slow->options.identify(slow->options.identify_context, (uint32_t)call->pid, &caller)) {
        ended.call.process = caller.id;
        snprintf(ended.call.program, sizeof(ended.call.program), "%.*s", AGGSTATS_PROGRAM_SIZE - 1, caller.name);
    }
    quiet_lock(&slow->lock, &before);
    count_locked(slow, span, &ended, function);
    quiet_unlock(&slow->lock, &before);
}

/* ---- Life cycle ---- */

static void destroy(struct slow *slow) {
    pthread_mutex_destroy(&slow->report_lock);
    pthread_mutex_destroy(&slow->lock);
    sem_destroy(&slow->wake);
    free(slow->reports.calls);
    free(slow);
}

int slow_start(const struct slow_place *place, const struct aggstats_slow_options *options, struct slow **ret_slow) {
    struct slow *slow = calloc(1, sizeof(*slow));
    if (!slow)
        return -ENOMEM;
    slow->options = *options;
    slow->threads = place->threads;
    slow->store = place->store;
    slow->seen_cycles = place->seen_cycles;
    slow->clock_kind = place->clock_kind;
    slow->op_names = place->op_names;
    slow->op_count = place->op_count;
    pthread_mutex_init(&slow->lock, NULL);
    pthread_mutex_init(&slow->report_lock, NULL);
    sem_init(&slow->wake, 0, 0);
    int err = 0;
    if (options->report) {
        user_shares_init(&slow->reports.shares, SLOW_REPORTS_MAX, 0);
        slow->reports.calls = calloc(SLOW_REPORTS_MAX, sizeof(slow->reports.calls[0]));
        err = slow->reports.calls ? 0 : -ENOMEM;
    }
    if (err == 0)
        err = quiet_thread_start(&slow->thread, run, slow);
    if (err < 0)
        destroy(slow);
    else
        *ret_slow = slow;
    return err;
}

void slow_stop(struct slow *slow) {
    if (slow->probe.is_left) { /* its locks and semaphore are in the state in which the thread left them */
        free(slow->reports.calls);
        free(slow);
        return;
    }
    __atomic_store_n(&slow->stop, true, __ATOMIC_RELEASE);
    sem_post(&slow->wake);
    pthread_join(slow->thread, NULL);
    slow_report(slow);
    destroy(slow);
}

void slow_set_threshold(struct slow *slow, uint64_t threshold_ns, uint64_t threshold_cycles) {
    sigset_t before;
    quiet_lock(&slow->lock, &before);
    slow_store_begin(slow->store);
    __atomic_store_n(&slow->store->threshold_cycles, threshold_cycles, __ATOMIC_RELAXED);
    slow_store_end(slow->store);
    __atomic_store_n(&slow->threshold_ns, threshold_ns, __ATOMIC_RELAXED);
    quiet_unlock(&slow->lock, &before);
    sem_post(&slow->wake);
}

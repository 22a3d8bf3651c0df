/* The lock is held while calls are looked at, and is free while holders are looked for. */
#include "attach_under_way.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "aggstats/lane.h"
#include "aggstats/slow.h"
#include "aggstats/watched.h"
#include "base.h"
#include "holders.h"
#include "mounts.h"
#include "user_shares.h"

#define CALLS_MAX 2048               /* that are shown at a time; users share them */
#define SHOWN_NS UINT64_C(100000000) /* calls are shown when they are that old, if none is slow */

/* A call that is under way. */
struct call {
    struct aggstats_block *lane;
    struct aggstats_span span;
    bool is_used; /* else this place is free */
    bool is_counted;
    uid_t uid;     /* when it was first seen */
    uint64_t look; /* the last one that saw it */
    int64_t seen_ns;
    struct collected_under_way seen;
    struct kernel_stack stack; /* when its thread waited last */
};

/* A slow call that has ended. */
struct ended_call {
    struct collected_slow slow;
    struct user_functions *functions; /* NULL: unknown, or not wanted */
};

struct attach_under_way {
    struct collector *collector;
    struct aggstats_recorder *recorder;
    struct attach_under_way_options options;
    struct slow_holders holders; /* the watching thread's own */
    pthread_mutex_t lock;        /* protects the rest; taken before all others */
    bool is_over;
    uint64_t look;
    struct call *calls[CALLS_MAX];
    size_t count;
    struct user_shares shares;      /* of the places that are used */
    struct aggstats_block *nowhere; /* a lane without calls */
    struct ended_call *ended;       /* taken from the kernel, and not told yet */
    size_t ended_count;
    uint64_t lost;                        /* slow calls for which there was no memory */
    const struct collected_slow *is_told; /* whose caller is asked for */
};

/* ---- Calls under way; under the lock ------------------------------------------------------------ */

static struct call *find_call(const struct attach_under_way *under_way, uint64_t thread, uint64_t begin_ns) {
    for (size_t i = 0; i < under_way->count; i++) {
        struct call *call = under_way->calls[i];
        if (call->is_used && call->seen.thread == thread && (begin_ns == 0 || call->seen.begin_ns == begin_ns))
            return call;
    }
    return NULL;
}

/* NULL: there is no place, or no memory. A user who has no place left keeps the calls that were seen first: the oldest. */
static struct call *begin_call(struct attach_under_way *under_way, const struct collected_under_way *seen) {
    size_t place = 0;
    if (!user_shares_are_left(&under_way->shares, seen->uid))
        return NULL;
    while (place < under_way->count && under_way->calls[place]->is_used)
        place++;
    if (place == CALLS_MAX)
        return NULL;
    if (place == under_way->count) {
        struct call *added = calloc(1, sizeof(*added));
        if (added)
            added->lane = aggstats_lane_create(under_way->recorder);
        if (!added || !added->lane) {
            free(added);
            return NULL;
        }
        under_way->calls[under_way->count++] = added;
    }
    struct call *call = under_way->calls[place];
    call->is_used = true;
    call->uid = seen->uid;
    user_shares_take(&under_way->shares, call->uid, 1);
    call->stack.count = 0;
    call->is_counted = !seen->is_named;
    call->span = seen->is_named ? aggstats_lane_watch(call->lane, seen->op, seen->thread, seen->begin_ns)
                                : aggstats_lane_begin(under_way->recorder, call->lane, seen->op, seen->object,
                                                      seen->thread, seen->thread, seen->begin_ns);
    return call;
}

/* What has ended is counted in the kernel. */
static void end_call(struct attach_under_way *under_way, struct call *call) {
    if (call->is_counted)
        aggstats_lane_forget(&call->span);
    else
        aggstats_watched_drop(&call->span);
    call->is_used = false;
    user_shares_give(&under_way->shares, call->uid, 1);
}

/* A collector_under_way_fn. A thread that has just been woken is still where it waited. */
static void see(void *context, const struct collected_under_way *seen, const char *stack) {
    struct attach_under_way *under_way = context;
    struct call *call = find_call(under_way, seen->thread, seen->begin_ns);
    if (seen->is_named && (seen->had_begun || under_way->options.slow_ns == 0)) /* nobody would learn of it */
        return;
    if (!call) {
        call = begin_call(under_way, seen);
        if (under_way->options.stacks)
            user_stacks_note(under_way->options.stacks, seen->process, seen->start_stack);
    }
    if (!call)
        return;
    call->seen = *seen;
    call->seen_ns = read_clock_ns(CLOCK_MONOTONIC);
    call->look = under_way->look;
    if (stack[0])
        kernel_stack_parse(stack, &call->stack);
}

/* ---- Slow calls that have ended; under the lock ------------------------------------------------- */

/* A collector_slow_fn. Functions are looked for while the process is there. */
static void keep_ended(void *context, const struct collected_slow *call, const struct collected_user_stack *from) {
    struct attach_under_way *under_way = context;
    struct user_stacks *stacks = under_way->options.stacks;
    unsigned op_count = 0;
    const char *const *ops = collector_ops(under_way->collector, &op_count);
    if (grow_array(&under_way->ended, under_way->ended_count, sizeof(*under_way->ended)) != 0) {
        under_way->lost++;
        return;
    }
    struct user_functions *functions = stacks && from && call->op < op_count ? malloc(sizeof(*functions)) : NULL;
    if (functions)
        user_stacks_find(stacks, ops[call->op], call, from, functions);
    under_way->ended[under_way->ended_count++] = (struct ended_call){.slow = *call, .functions = functions};
}

static void tell_ended(struct attach_under_way *under_way, const struct ended_call *told) {
    const struct collected_slow *slow = &told->slow;
    const struct user_functions *functions = told->functions;
    struct call *call = find_call(under_way, slow->thread, slow->begin_ns);
    const struct aggstats_span unseen = {.block = under_way->nowhere, .start_cycles = slow->begin_ns};
    const struct aggstats_call ended = {
        .latency_cycles = slow->ns,
        .object = slow->object,
        .pid = slow->thread,
        .uid = slow->uid,
        .error = (uint64_t)slow->error,
        .asked_bytes = slow->asked_bytes,
        .moved_bytes = slow->moved_bytes,
        .user_stack = functions ? (char *)(uintptr_t)functions->stack : NULL,
    };
    under_way->is_told = slow;
    aggstats_slow_end(under_way->recorder, call ? &call->span : &unseen, slow->op, &ended,
                      functions ? functions->caller : NULL);
    under_way->is_told = NULL;
    if (under_way->options.events)
        attach_events_add(under_way->options.events, slow);
    if (call)
        end_call(under_way, call);
}

/* They are counted before they are reported, and before others are forgotten that have ended: so no call is missing for a while.
 * has_ended: there are such */
static void take_ended(struct attach_under_way *under_way, bool has_ended) {
    collector_take_slow(under_way->collector, keep_ended, under_way);
    if (under_way->ended_count > 0 || has_ended)
        under_way->options.count(under_way->options.context);
    for (size_t i = 0; i < under_way->ended_count; i++) {
        tell_ended(under_way, &under_way->ended[i]);
        free(under_way->ended[i].functions);
    }
    under_way->ended_count = 0;
    if (under_way->options.events)
        attach_events_note_lost(under_way->options.events, under_way->lost + collector_slow_lost(under_way->collector));
}

/* ---- Looking ------------------------------------------------------------------------------------ */

/* Returns whether any call is under way. */
static bool look(struct attach_under_way *under_way) {
    const uint64_t slow_ns = under_way->options.slow_ns;
    uint64_t count = 0;
    if (under_way->is_over)
        return false;
    under_way->look++;
    if (collector_find_under_way(under_way->collector, slow_ns > 0 ? slow_ns / 2 : SHOWN_NS, see, under_way, &count) <
        0)
        return false;
    bool any_has_ended = false;
    for (size_t i = 0; i < under_way->count; i++)
        any_has_ended |= under_way->calls[i]->is_used && under_way->calls[i]->look != under_way->look;
    take_ended(under_way, any_has_ended);
    for (size_t i = 0; i < under_way->count; i++)
        if (under_way->calls[i]->is_used && under_way->calls[i]->look != under_way->look)
            end_call(under_way, under_way->calls[i]);
    return count > 0;
}

void attach_under_way_look(struct attach_under_way *under_way) {
    if (!under_way)
        return;
    pthread_mutex_lock(&under_way->lock);
    look(under_way);
    pthread_mutex_unlock(&under_way->lock);
}

/* An aggstats_gather_fn. */
static bool gather(void *context, bool may_sleep) {
    struct attach_under_way *under_way = context;
    pthread_mutex_lock(&under_way->lock);
    if (may_sleep)
        collector_wake_at_begin(under_way->collector);
    const bool any = look(under_way);
    pthread_mutex_unlock(&under_way->lock);
    return any;
}

int attach_under_way_fd(const struct attach_under_way *under_way) {
    return collector_slow_fd(under_way->collector);
}

void attach_under_way_take(struct attach_under_way *under_way) {
    if (!under_way)
        return;
    pthread_mutex_lock(&under_way->lock);
    take_ended(under_way, false);
    pthread_mutex_unlock(&under_way->lock);
    aggstats_slow_begin(under_way->recorder);
}

/* ---- What the recorder asks --------------------------------------------------------------------- */

/* ret_call: what was seen of it. Returns false if it is not known, then both are as before */
static bool read_call(const struct attach_under_way *under_way, const struct aggstats_look *asked,
                      struct collected_under_way *ret_call, struct thread_reading *ret_reading) {
    const struct call *call = find_call(under_way, asked->thread, 0);
    if (!call)
        return false;
    const struct attach_mounts *mounts = under_way->options.mounts;
    const char *type = mounts ? NULL : under_way->options.type;
    struct collected_name name;
    if (mounts && collector_name(under_way->collector, call->seen.object, &name)) {
        const struct attach_mount *mount = attach_mounts_find(mounts, name.device, NULL);
        type = mount ? mount->type : NULL;
    }
    const struct thread_seen seen = {
        .can_run = call->seen.can_run,
        .has_cpu = call->seen.has_cpu,
        .time_ns = call->seen_ns,
        .ran_ns = call->seen.ran_ns,
        .queued_ns = call->seen.queued_ns,
        .stack = &call->stack,
        .type = type ? type : "",
    };
    *ret_call = call->seen;
    return thread_read_seen(under_way->options.causes, &seen, asked->memory, ret_reading);
}

/* An aggstats_cause_fn. */
static bool find_cause(void *context, const struct aggstats_look *asked, struct aggstats_wait *ret_wait) {
    struct attach_under_way *under_way = context;
    struct collected_under_way call = {.device = 0};
    struct thread_reading reading = {.has_place = false};
    pthread_mutex_lock(&under_way->lock);
    const bool is_known = read_call(under_way, asked, &call, &reading);
    pthread_mutex_unlock(&under_way->lock);
    thread_reading_wait(&reading, ret_wait);
    if (reading.stack.count > 0 && !call.can_run)
        slow_holders_find(&under_way->holders, asked, &reading,
                          call.device > 0 ? mounts_device_of_kernel(call.device) : 0, ret_wait);
    if (call.had_begun)
        ret_wait->cause.flags |= AGGSTATS_WHY_SINCE_BEFORE;
    return is_known;
}

/* An aggstats_identify_fn: of the slow call that is reported. */
static bool identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    const struct attach_under_way *under_way = context;
    (void)thread;
    *ret_identity = (struct aggstats_identity){.id = under_way->is_told->process};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "%.15s", under_way->is_told->program);
    return true;
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

int attach_under_way_start(struct collector *collector, struct aggstats_recorder *recorder,
                           const struct attach_under_way_options *options, struct attach_under_way **ret_under_way) {
    struct attach_under_way *under_way = calloc(1, sizeof(*under_way));
    if (!under_way)
        return -ENOMEM;
    under_way->collector = collector;
    under_way->recorder = recorder;
    under_way->options = *options;
    under_way->holders = (struct slow_holders){.causes = options->causes};
    user_shares_init(&under_way->shares, CALLS_MAX, 0);
    pthread_mutex_init(&under_way->lock, NULL);
    under_way->nowhere = aggstats_lane_create(recorder);
    *ret_under_way = under_way; /* its thread begins to look at once */
    const struct aggstats_slow_options slow = {
        .threshold_ns = options->slow_ns,
        .find_cause = find_cause,
        .context = under_way,
        .wants_holders = true,
        .path_of = options->groups ? attach_groups_path : NULL,
        .number_of = options->groups ? attach_groups_inode : NULL,
        .path_context = options->groups,
        .identify = identify,
        .identify_context = under_way,
        .gather = gather,
        .gather_context = under_way,
        .report = options->slow_log ? slow_log_take : NULL,
        .report_context = options->slow_log,
    };
    int error = !under_way->nowhere ? -ENOMEM : options->slow_ns > 0 ? aggstats_recorder_set_slow(recorder, &slow) : 0;
    if (error) {
        attach_under_way_finish(under_way);
        *ret_under_way = NULL;
    }
    return error;
}

uint64_t attach_under_way_lost(struct attach_under_way *under_way) {
    if (!under_way || under_way->options.slow_ns == 0)
        return 0;
    pthread_mutex_lock(&under_way->lock);
    const uint64_t lost = under_way->lost;
    pthread_mutex_unlock(&under_way->lock);
    return lost + collector_slow_lost(under_way->collector);
}

void attach_under_way_stop(struct attach_under_way *under_way) {
    if (!under_way)
        return;
    pthread_mutex_lock(&under_way->lock);
    look(under_way);
    under_way->is_over = true;
    pthread_mutex_unlock(&under_way->lock);
}

void attach_under_way_finish(struct attach_under_way *under_way) {
    if (!under_way)
        return;
    for (size_t i = 0; i < under_way->count; i++)
        free(under_way->calls[i]);
    free(under_way->ended);
    pthread_mutex_destroy(&under_way->lock);
    free(under_way);
}

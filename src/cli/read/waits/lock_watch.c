/* The locks of the kernel that threads fight for: places of locks, and the sums of what was waited for them. */
#include "lock_watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "number_map.h"

#define SEEN_MAX WAITED_STACKS_MAX

/* ---- Words -------------------------------------------------------------------------------------- */

const char *lock_place_name(const struct lock_place *place) {
    const bool may_be_read = place->kind & (LOCKED_READING | LOCKED_WRITING);
    if (place->kind & LOCKED_MUTEX)
        return "mutex";
    if (place->kind & LOCKED_PERCPU)
        return "percpu rwsem";
    if (place->kind & LOCKED_RT)
        return may_be_read ? "rt rwlock" : "rt mutex";
    if (place->kind & LOCKED_SPINNING)
        return may_be_read ? "rwlock" : "spinlock";
    return may_be_read ? "rwsem" : "semaphore";
}

const char *lock_place_access(const struct lock_place *place) {
    return place->kind & LOCKED_READING ? "read" : place->kind & LOCKED_WRITING ? "write" : NULL;
}

const char *lock_place_state(const struct lock_place *place) {
    return place->kind & LOCKED_SPINNING ? "spinning" : "asleep";
}

/* ---- Functions ---------------------------------------------------------------------------------- */

static bool matches(const char *function, const char *const *patterns) {
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, function, 0) == 0)
            return true;
    return false;
}

/* The stack is read in the tracepoint: the functions of the tracepoint and of the reading are innermost. Functions of the
 * lock follow. */
static void read_function(const struct lock_watch *watch, uint64_t stack, char ret_function[CAUSE_FUNCTION_SIZE]) {
    static const char *const of_tracepoint[] = {
        "*get_task_stack*", "*bpf_get_stack*", "*callchain*",      "bpf_prog_*",
        "bpf_trace_run*",   "__bpf_trace_*",   "__traceiter_*",    "trace_contention_*",
        "bpf_trampoline_*", "stack_trace_*",   "arch_stack_walk*", NULL,
    };
    static const char *const of_lock[] = {
        "*mutex_lock*", "*rwsem_*",      "down",        "down_*",      "__down*",   "percpu_*",   "__percpu_*",
        "*rt_mutex_*",  "*rtlock_*",     "rwbase_*",    "rt_spin_*",   "rt_read_*", "rt_write_*", "*_raw_spin_*",
        "*_raw_read_*", "*_raw_write_*", "*_slowpath*", "*spin_lock*", "*queued_*", NULL,
    };
    CLEANUP_FREE char *text = NULL;
    struct kernel_stack found = {.count = 0};
    size_t i = 0;
    if (stack != 0 && locks_name_stack(watch->locks, stack, &text) == 0)
        kernel_stack_parse(text, &found);
    while (i < found.count && matches(found.functions[i], of_tracepoint))
        i++;
    while (i < found.count && matches(found.functions[i], of_lock))
        i++;
    snprintf(ret_function, CAUSE_FUNCTION_SIZE, "%s", i < found.count ? found.functions[i] : "");
}

/* ---- Places ------------------------------------------------------------------------------------- */

/* From 1; 0 without memory. */
static size_t find_or_add(struct lock_watch *watch, const struct lock_place *wanted) {
    for (size_t i = 0; i < watch->place_count; i++)
        if (strcmp(watch->places[i]->cause.why.words, wanted->cause.why.words) == 0)
            return i + 1;
    CLEANUP_FREE struct lock_place *place = malloc(sizeof(*place));
    if (!place || grow_array(&watch->places, watch->place_count, sizeof(struct lock_place *)) != 0)
        return 0;
    *place = *wanted;
    watch->places[watch->place_count++] = steal_pointer(&place);
    return watch->place_count;
}

/* Each place once. Owner: watch. Returns NULL without memory */
static const struct lock_place *find_place(struct lock_watch *watch, const struct waited_cell *cell) {
    const uint64_t key = cell->stack + cell->kind; /* numbers of stacks are hashes */
    uint64_t place = number_map_get(&watch->seen, key);
    if (place == 0) {
        struct lock_place made = {.cause = {.class = WAIT_COUNTS, .is_named = true}, .kind = cell->kind};
        read_function(watch, cell->stack, made.function);
        const char *access = lock_place_access(&made);
        snprintf(made.cause.why.words, sizeof(made.cause.why.words), "%s%s%s, %s: %s", lock_place_name(&made),
                 access ? " to " : "", access ? access : "", lock_place_state(&made),
                 made.function[0] ? made.function : "a function that cannot be seen");
        place = find_or_add(watch, &made);
        if (watch->seen.count == SEEN_MAX)
            number_map_finish(&watch->seen); /* stacks in use are read again */
        if (place == 0 || number_map_set(&watch->seen, key, place) != 0)
            return NULL;
    }
    return watch->places[place - 1];
}

/* ---- Beginning and end -------------------------------------------------------------------------- */

int lock_watch_start(const struct waits *beside, struct lock_watch **ret_watch) {
    char why[COLLECTOR_WHY_SIZE] = "no memory";
    struct lock_watch *watch = calloc(1, sizeof(*watch));
    int error = watch ? locks_start(beside, &watch->locks, why) : -ENOMEM;
    if (error) {
        complain("cannot see the contention of locks in the kernel: %s", why);
        lock_watch_destroy(watch);
    } else {
        *ret_watch = watch;
    }
    return error;
}

void lock_watch_destroy(struct lock_watch *watch) {
    if (!watch)
        return;
    wait_sums_finish(&watch->sums);
    for (size_t i = 0; i < watch->place_count; i++)
        free(watch->places[i]);
    free(watch->places);
    number_map_finish(&watch->seen);
    locks_finish(watch->locks);
    free(watch->waiters);
    free(watch);
}

struct waits_losses lock_watch_lost(const struct lock_watch *watch) {
    return locks_lost(watch->locks);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

struct reading {
    struct lock_watch *watch;
    lock_watched_fn *is_watched;
    void *context;
};

/* A waits_ended_fn. */
static void add(void *context, const struct waited_cell *cell, const struct waited_sum *sum) {
    const struct reading *reading = context;
    struct lock_watch *watch = reading->watch;
    if (!reading->is_watched(reading->context, cell))
        return;
    const struct lock_place *place = find_place(watch, cell);
    wait_sums_add(&watch->sums, place ? &place->cause : NULL, cell, sum);
}

/* A locks_now_fn. */
static void add_now(void *context, const struct locked_now *now) {
    const struct reading *reading = context;
    struct lock_watch *watch = reading->watch;
    const struct waited_cell *cell = &now->waiting.cell;
    const struct lock_place *place = find_place(watch, cell);
    const bool has_room = place && grow_array(&watch->waiters, watch->waiter_count, sizeof(*watch->waiters)) == 0;
    if (has_room)
        watch->waiters[watch->waiter_count++] = (struct lock_waiter){cell->thread, now->owner_thread, place};
    watch->sums.has_no_memory |= place && !has_room;
    if (now->is_chosen && reading->is_watched(reading->context, cell))
        wait_sums_add_now(&watch->sums, place ? &place->cause : NULL, &now->waiting);
}

int lock_watch_read(struct lock_watch *watch, lock_watched_fn *is_watched, void *context) {
    struct reading reading = {watch, is_watched, context};
    const struct locks_readers readers = {add, add_now, &reading};
    wait_sums_begin_now(&watch->sums);
    watch->waiter_count = 0;
    int error = locks_read(watch->locks, &readers);
    return error ? error : watch->sums.has_no_memory ? -ENOMEM : 0;
}

/* ---- Owners ------------------------------------------------------------------------------------- */

bool lock_watch_find_owner(void *context, uint64_t thread, struct holders_kernel_lock *ret_lock) {
    const struct lock_watch *watch = context;
    for (size_t i = 0; i < watch->waiter_count; i++) {
        const struct lock_waiter *waiter = &watch->waiters[i];
        if (waiter->thread != thread || waiter->owner_thread == 0)
            continue;
        *ret_lock = (struct holders_kernel_lock){.owner = waiter->owner_thread};
        memcpy(ret_lock->function, waiter->place->function, sizeof(ret_lock->function));
        return true;
    }
    return false;
}

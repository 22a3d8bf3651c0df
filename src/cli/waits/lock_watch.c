#include "lock_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"

/* ---- Beginning and end -------------------------------------------------------------------------- */

int lock_watch_start(const struct waits *beside, struct lock_watch **ret_watch) {
    char why[COLLECTOR_WHY_SIZE] = "no memory";
    struct lock_watch *watch = calloc(1, sizeof(*watch));
    int error = watch ? locks_start(beside, &watch->locks, why) : -ENOMEM;
    if (error == 0) {
        watch->places = lock_places_create(watch->locks);
        error = watch->places ? 0 : -ENOMEM;
    }
    if (error) {
        complain("cannot see which locks of the kernel threads fight for: %s", why);
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
    lock_places_destroy(watch->places);
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
    const struct lock_place *place = lock_places_find(watch->places, cell);
    wait_sums_add(&watch->sums, place ? &place->cause : NULL, cell, sum);
}

static void note_waiter(struct lock_watch *watch, const struct lock_waiter *waiter) {
    if (watch->waiter_count == watch->waiter_room) {
        const size_t room = watch->waiter_room * 2 + 64;
        struct lock_waiter *grown = reallocarray(watch->waiters, room, sizeof(*grown));
        watch->sums.has_no_memory |= !grown;
        if (!grown)
            return;
        watch->waiters = grown;
        watch->waiter_room = room;
    }
    watch->waiters[watch->waiter_count++] = *waiter;
}

/* A locks_now_fn. */
static void add_now(void *context, const struct locked_now *now) {
    const struct reading *reading = context;
    struct lock_watch *watch = reading->watch;
    const struct waited_cell *cell = &now->waiting.cell;
    const struct lock_place *place = lock_places_find(watch->places, cell);
    const struct lock_waiter waiter = {cell->thread, now->owner_thread, place};
    if (place)
        note_waiter(watch, &waiter);
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

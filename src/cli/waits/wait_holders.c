#include "wait_holders.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "mounts.h"

#define LOOKED_MAX 3 /* of those that wait, at a time */
#define KEPT_MAX 64
#define MINOR_BITS 20                 /* of a device, as the kernel has it */
#define AGE_MIN_NS UINT64_C(50000000) /* who waits for less has it, most likely, before it is looked for */

struct waiter {
    const struct wait_cause *cause;
    struct waited_cell cell;
    uint64_t age_ns;
};

struct wait_holders {
    struct holders_options options;
    struct waiter waiters[LOOKED_MAX]; /* the oldest first, of each cause one */
    size_t waiter_count;
    struct wait_held kept[KEPT_MAX];
    size_t kept_count;
};

struct wait_holders *wait_holders_create(struct thread_causes *table) {
    struct wait_holders *holders = calloc(1, sizeof(*holders));
    if (holders)
        holders->options = (struct holders_options){.causes = table, .may_scan = true};
    return holders;
}

void wait_holders_know_locks(struct wait_holders *holders, struct lock_watch *locks) {
    holders->options.find_kernel_lock = lock_watch_find_owner;
    holders->options.kernel_lock_context = locks;
}

void wait_holders_destroy(struct wait_holders *holders) {
    if (!holders)
        return;
    for (size_t i = 0; i < holders->kept_count; i++)
        free(holders->kept[i].sentence);
    free(holders);
}

/* ---- Who waits ---------------------------------------------------------------------------------- */

static void remove_waiter(struct wait_holders *holders, size_t place) {
    holders->waiter_count--;
    memmove(&holders->waiters[place], &holders->waiters[place + 1],
            (holders->waiter_count - place) * sizeof(holders->waiters[0]));
}

static void insert_waiter(struct wait_holders *holders, const struct waiter *waiter) {
    size_t place = holders->waiter_count;
    if (holders->waiter_count < LOOKED_MAX)
        holders->waiter_count++;
    else
        place--;
    for (; place > 0 && holders->waiters[place - 1].age_ns < waiter->age_ns; place--)
        holders->waiters[place] = holders->waiters[place - 1];
    holders->waiters[place] = *waiter;
}

void wait_holders_begin_now(struct wait_holders *holders) {
    for (size_t i = 0; i < holders->kept_count; i++)
        holders->kept[i].waits_still = false;
}

/* Of what is known already. */
static void note_still(struct wait_holders *holders, const struct wait_cause *cause, const struct waiting_now *now) {
    for (size_t i = 0; i < holders->kept_count; i++) {
        struct wait_held *held = &holders->kept[i];
        if (held->cause == cause && held->thread == now->cell.thread && now->age_ns >= held->age_ns)
            held->waits_still = true;
    }
}

void wait_holders_note(struct wait_holders *holders, const struct wait_cause *cause, const struct waiting_now *now) {
    const struct waiter waiter = {cause, now->cell, now->age_ns};
    if (!cause || cause->class != WAIT_COUNTS || now->age_ns < AGE_MIN_NS)
        return;
    note_still(holders, cause, now);
    for (size_t i = 0; i < holders->waiter_count; i++) {
        if (holders->waiters[i].cause != cause)
            continue;
        if (holders->waiters[i].age_ns >= now->age_ns)
            return;
        remove_waiter(holders, i);
        break;
    }
    if (holders->waiter_count < LOOKED_MAX || holders->waiters[LOOKED_MAX - 1].age_ns < now->age_ns)
        insert_waiter(holders, &waiter);
}

/* ---- Looking ------------------------------------------------------------------------------------ */

/* Where what was found is kept: in place of what is known of it, or of what was seen first. */
static struct wait_held *make_room(struct wait_holders *holders, const struct waiter *waiter) {
    struct wait_held *oldest = &holders->kept[0];
    for (size_t i = 0; i < holders->kept_count; i++) {
        struct wait_held *held = &holders->kept[i];
        if (held->cause == waiter->cause && held->process == waiter->cell.process)
            return held;
        if (held->seen_ns < oldest->seen_ns)
            oldest = held;
    }
    return holders->kept_count < KEPT_MAX ? &holders->kept[holders->kept_count++] : oldest;
}

static void look(struct wait_holders *holders, const struct waiter *waiter) {
    const struct holders_waiter who = {.process = waiter->cell.process,
                                       .thread = waiter->cell.thread,
                                       .device = mounts_device_of_kernel(waiter->cell.device)};
    struct holders_chain chain;
    char text[HOLDERS_TEXT_SIZE];
    if (!holders_find(&holders->options, &who, &chain) || strcmp(chain.links[0].cause, waiter->cause->words) != 0)
        return; /* nothing is known, or it waits for something else by now */
    CLEANUP_FREE char *sentence = strdup(holders_format(&chain, text));
    if (!sentence)
        return;
    struct wait_held *held = make_room(holders, waiter);
    free(held->sentence);
    *held = (struct wait_held){.cause = waiter->cause,
                               .process = waiter->cell.process,
                               .thread = waiter->cell.thread,
                               .waits_still = true,
                               .seen_ns = read_clock_ns(CLOCK_MONOTONIC),
                               .age_ns = waiter->age_ns,
                               .sentence = steal_pointer(&sentence)};
}

void wait_holders_look(struct wait_holders *holders) {
    for (size_t i = 0; i < holders->waiter_count; i++)
        look(holders, &holders->waiters[i]);
    holders->waiter_count = 0;
}

const struct wait_held *wait_holders_find(const struct wait_holders *holders, const struct wait_cause *cause,
                                          uint32_t process) {
    const struct wait_held *found = NULL;
    for (size_t i = 0; i < holders->kept_count; i++) {
        const struct wait_held *held = &holders->kept[i];
        if (held->cause == cause && (process == 0 || held->process == process) &&
            (!found || held->age_ns > found->age_ns))
            found = held;
    }
    return found;
}

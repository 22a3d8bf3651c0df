/* The waits that have lasted longest are looked at each time, the others in turn with the looks that are left. */
#include "wait_holders.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggstats/fields.h"
#include "base.h"
#include "mounts.h"
#include "proc.h"

#define LOOKED_MAX 3 /* of those that wait, at a time: each look may take 100 ms */
#define KEPT_MAX 64
#define AGE_MIN_NS UINT64_C(50000000) /* a shorter wait is over, most likely, before its holder is found */

struct waiter {
    const struct wait_cause *cause;
    struct waiting_now now;
};

struct wait_holders {
    struct holders_options options;
    struct waiter waiters[LOOKED_MAX]; /* the oldest first, of each cause one */
    size_t waiter_count;
    struct waiter others[LOOKED_MAX]; /* of whom nobody is known yet, in turn */
    size_t other_count;
    uint32_t turn; /* the thread among `others` that was looked at last */
    struct wait_held kept[KEPT_MAX];
    size_t kept_count;
    bool hides_calls;  /* of somebody who waited, from this user */
    bool hides_stacks; /* the same */
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
        free(holders->kept[i].chain);
    free(holders);
}

/* ---- Who waits ---------------------------------------------------------------------------------- */

/* place: LOOKED_MAX: it comes behind the last one. The last one of a full list gives way. */
static void insert(struct waiter list[LOOKED_MAX], size_t *count, size_t place, const struct waiter *waiter) {
    if (place == LOOKED_MAX)
        return;
    *count += *count < LOOKED_MAX;
    memmove(&list[place + 1], &list[place], (*count - place - 1) * sizeof(*list));
    list[place] = *waiter;
}

void wait_holders_begin_now(struct wait_holders *holders) {
    for (size_t i = 0; i < holders->kept_count; i++)
        holders->kept[i].waits_still = false;
}

/* Whether it was found since this wait has begun. */
static bool is_found(const struct wait_holders *holders, const struct waiter *waiter) {
    const int64_t began_ns = read_clock_ns(CLOCK_MONOTONIC) - (int64_t)waiter->now.age_ns;
    for (size_t i = 0; i < holders->kept_count; i++) {
        const struct wait_held *held = &holders->kept[i];
        if (held->cause == waiter->cause && held->of.process == waiter->now.cell.process && held->seen_ns > began_ns)
            return true;
    }
    return false;
}

/* How many numbers of threads come first: it is everybody's turn once. */
static uint32_t turns_before(const struct wait_holders *holders, const struct waiter *waiter) {
    return waiter->now.cell.thread - holders->turn - 1;
}

void wait_holders_note(struct wait_holders *holders, const struct wait_cause *cause, const struct waiting_now *now) {
    const struct waiter waiter = {cause, *now};
    size_t place = 0;
    if (!cause || cause->class != WAIT_COUNTS || now->age_ns < AGE_MIN_NS)
        return;
    for (size_t i = 0; i < holders->kept_count; i++) { /* of what is known already */
        struct wait_held *held = &holders->kept[i];
        if (held->cause == cause && held->of.thread == now->cell.thread && now->age_ns >= held->age_ns)
            held->waits_still = true;
    }
    while (place < holders->other_count &&
           turns_before(holders, &holders->others[place]) <= turns_before(holders, &waiter))
        place++;
    if (!is_found(holders, &waiter))
        insert(holders->others, &holders->other_count, place, &waiter);
    for (size_t i = 0; i < holders->waiter_count; i++) {
        if (holders->waiters[i].cause != cause)
            continue;
        if (holders->waiters[i].now.age_ns >= now->age_ns)
            return;
        holders->waiter_count--;
        memmove(&holders->waiters[i], &holders->waiters[i + 1],
                (holders->waiter_count - i) * sizeof(holders->waiters[0]));
        break;
    }
    for (place = 0; place < holders->waiter_count && holders->waiters[place].now.age_ns >= now->age_ns;)
        place++;
    insert(holders->waiters, &holders->waiter_count, place, &waiter);
}

/* ---- Looking ------------------------------------------------------------------------------------ */

static bool is_hidden(uint32_t thread, const char *file) {
    char path[48];
    char byte;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", thread, file);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, &byte, 1) >= 0)
        return false;
    if (errno == ENOENT) /* a /proc with the option hidepid has only this user's processes */
        kill((pid_t)thread, 0);
    return errno == EACCES || errno == EPERM;
}

/* In place of the earlier chain of the same wait, or of the chain that was seen first. */
static void keep(struct wait_holders *holders, const struct waiter *waiter, struct aggstats_chain *chain) {
    struct wait_held *same = NULL;
    struct wait_held *oldest = &holders->kept[0];
    for (size_t i = 0; i < holders->kept_count && !same; i++) {
        struct wait_held *other = &holders->kept[i];
        if (other->cause == waiter->cause && other->of.process == waiter->now.cell.process)
            same = other;
        else if (other->seen_ns < oldest->seen_ns)
            oldest = other;
    }
    struct wait_held *held = same                             ? same
                             : holders->kept_count < KEPT_MAX ? &holders->kept[holders->kept_count++]
                                                              : oldest;
    free(held->chain);
    *held = (struct wait_held){.cause = waiter->cause,
                               .of = wait_row_of(waiter->cause, &waiter->now.cell),
                               .waits_still = true,
                               .seen_ns = read_clock_ns(CLOCK_MONOTONIC),
                               .age_ns = waiter->now.age_ns,
                               .chain = chain};
}

/* Its stack is the one that the kernel's program has read: /proc shows it to root alone. */
static void look(struct wait_holders *holders, struct wait_causes *causes, const struct waiter *waiter) {
    const struct waited_cell *cell = &waiter->now.cell;
    struct thread_reading reading = {.why = waiter->cause->why};
    const bool has_stack = wait_causes_functions(causes, cell->stack, &reading.stack);
    const struct holders_waiter who = {.process = cell->process,
                                       .thread = cell->thread,
                                       .reading = has_stack ? &reading : NULL,
                                       .device = mounts_device_of_kernel(cell->device)};
    struct aggstats_chain chain;
    holders->hides_calls = holders->hides_calls || is_hidden(cell->thread, "syscall");
    holders->hides_stacks = holders->hides_stacks || is_hidden(cell->thread, "stack");
    if (!holders_find(&holders->options, &who, &chain) ||
        !aggstats_why_is_same(&chain.links[0].cause, &waiter->cause->why))
        return; /* nothing is known */
    struct proc_stat stat;
    uint64_t fallen_asleep = 0;
    if (!proc_stat_read(cell->thread, &stat) || stat.state[0] == 'R' ||
        !proc_status_number(cell->thread, "voluntary_ctxt_switches", 10, &fallen_asleep) ||
        (uint32_t)fallen_asleep != waiter->now.fallen_asleep)
        return; /* it is not in the wait any more that was noted */
    struct aggstats_chain *copy = chain_copy(&chain);
    if (copy)
        keep(holders, waiter, copy);
}

/* Those who have waited longest are looked at each time, and with what is left of the looks all others, in turn. */
void wait_holders_look(struct wait_holders *holders, struct wait_causes *causes) {
    size_t left = LOOKED_MAX - holders->waiter_count;
    for (size_t i = 0; i < holders->waiter_count; i++)
        look(holders, causes, &holders->waiters[i]);
    for (size_t i = 0; i < holders->other_count && left > 0; i++) {
        holders->turn = holders->others[i].now.cell.thread;
        bool is_done = is_found(holders, &holders->others[i]);
        for (size_t j = 0; j < holders->waiter_count && !is_done; j++)
            is_done = holders->waiters[j].now.cell.thread == holders->turn;
        if (is_done)
            continue;
        look(holders, causes, &holders->others[i]);
        left--;
    }
    holders->waiter_count = 0;
    holders->other_count = 0;
}

/* ---- What is known ------------------------------------------------------------------------------ */

static bool is_like(const struct wait_row *of, enum wait_by by, const struct wait_row *row) {
    switch (by) {
    case WAIT_BY_PROGRAM:
        return strcmp(of->program, row->program) == 0;
    case WAIT_BY_PROCESS:
        return of->process == row->process;
    case WAIT_BY_THREAD:
        return of->thread == row->thread;
    case WAIT_BY_CGROUP:
        return of->cgroup == row->cgroup;
    case WAIT_BY_NOBODY:
        break;
    }
    return true;
}

const struct wait_held *wait_holders_find(const struct wait_holders *holders, enum wait_by by,
                                          const struct wait_row *row) {
    const struct wait_held *found = NULL;
    for (size_t i = 0; i < holders->kept_count; i++) {
        const struct wait_held *held = &holders->kept[i];
        if (held->cause == row->cause && is_like(&held->of, by, row) && (!found || held->age_ns > found->age_ns))
            found = held;
    }
    return found;
}

const char *wait_holders_hidden(const struct wait_holders *holders) {
    if (holders->hides_calls)
        return "Who holds what is waited for is known in part only: this user may not look at the calls and open files "
               "of all who waited. Root may, or who has the capabilities CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and, for "
               "what "
               "holders wait for themselves, CAP_SYS_ADMIN.";
    if (holders->hides_stacks)
        return "What holders wait for themselves is known in part only: this user may not look at the kernel stacks of "
               "all "
               "processes. Root may, or who has the capability CAP_SYS_ADMIN.";
    return NULL;
}

#include "top_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"

#define READ_NS INT64_C(500000000) /* between two times that the kernel's windows are emptied */

/* ---- Beginning and end -------------------------------------------------------------------------- */

int top_waits_start(const struct wait_scope *scope, enum wait_by by, struct top_waits *ret_waits) {
    *ret_waits = (struct top_waits){.by = by, .whose = scope->whose};
    int error = wait_watch_start(scope->processes, &scope->cgroup, &ret_waits->watch);
    ret_waits->begin_ns = ret_waits->taken_ns = ret_waits->read_ns = ret_waits->watch.begin_ns;
    ret_waits->previous_ns = ret_waits->begin_ns;
    ret_waits->clock_ns = read_clock_ns(CLOCK_REALTIME);
    return error;
}

static void forget_shown(struct top_waits *waits) {
    wait_view_finish(&waits->by_cause);
    wait_view_finish(&waits->by_who);
    free(waits->waiters);
    free(waits->shown);
    waits->by_cause = waits->by_who = (struct wait_view){.rows = NULL};
    waits->waiters = NULL;
    waits->waiter_count = 0;
    waits->shown = NULL;
}

void top_waits_finish(struct top_waits *waits) {
    forget_shown(waits);
    free(waits->rows);
    wait_watch_finish(&waits->watch);
}

/* ---- Waiters ------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b) {
    const struct top_waiter *waiter_a = a;
    const struct top_waiter *waiter_b = b;
    return strcmp(waiter_a->who, waiter_b->who);
}

static int compare_times(const void *a, const void *b) {
    const struct top_waiter *waiter_a = a;
    const struct top_waiter *waiter_b = b;
    if (waiter_a->total_ns != waiter_b->total_ns)
        return waiter_a->total_ns < waiter_b->total_ns ? 1 : -1;
    return compare_names(a, b);
}

static int make_waiters(struct top_waits *waits) {
    const struct wait_view *view = &waits->by_who;
    struct top_waiter *waiters = calloc(view->counting_rows + 1, sizeof(*waiters));
    if (!waiters)
        return -ENOMEM;
    for (size_t i = 0; i < view->counting_rows; i++) {
        const struct wait_view_row *row = &view->rows[i];
        waiters[i] = (struct top_waiter){row->who, row->total_ns, row->longest_ns, row};
    }
    qsort(waiters, view->counting_rows, sizeof(*waiters), compare_names);
    for (size_t i = 0; i < view->counting_rows; i++) {
        const struct top_waiter waiter = waiters[i];
        struct top_waiter *last = waits->waiter_count > 0 ? &waiters[waits->waiter_count - 1] : NULL;
        if (!last || compare_names(last, &waiter) != 0) {
            waiters[waits->waiter_count++] = waiter;
            continue;
        }
        last->total_ns += waiter.total_ns;
        last->longest_ns = waiter.longest_ns > last->longest_ns ? waiter.longest_ns : last->longest_ns;
        last->most = waiter.most->total_ns > last->most->total_ns ? waiter.most : last->most;
    }
    qsort(waiters, waits->waiter_count, sizeof(*waiters), compare_times);
    waits->waiters = waiters;
    return 0;
}

size_t top_waits_chosen(const struct top_waits *waits) {
    size_t index = 0;
    while (waits->chosen[0] && index < waits->waiter_count && strcmp(waits->waiters[index].who, waits->chosen) != 0)
        index++;
    return index;
}

void top_waits_choose(struct top_waits *waits, size_t index) {
    const char *who = index > 0 && index < waits->waiter_count ? waits->waiters[index].who : "";
    snprintf(waits->chosen, sizeof(waits->chosen), "%s", who);
}

/* ---- What is shown ------------------------------------------------------------------------------ */

bool top_waits_has_any(const struct top_waits *waits) {
    return waits->shown && waits->taken_ns > (waits->summing ? waits->begin_ns : waits->previous_ns);
}

static int show(struct top_waits *waits) {
    const int64_t since_ns = waits->summing ? waits->begin_ns : waits->previous_ns;
    forget_shown(waits);
    waits->shown = calloc(waits->row_count + 1, sizeof(*waits->shown));
    if (!waits->shown)
        return -ENOMEM;
    for (size_t i = 0; i < waits->row_count; i++) {
        struct wait_row *row = &waits->shown[i];
        *row = waits->rows[i];
        if (!waits->summing)
            continue;
        row->marked = row->begun;
        row->longest_ns = row->begun_longest_ns;
        row->stack = row->begun_stack;
    }
    const struct wait_sums sums = {.rows = waits->shown, .count = waits->row_count};
    const uint64_t elapsed_ns = (uint64_t)(waits->taken_ns - since_ns);
    struct wait_cgroups *cgroups = waits->watch.cgroups;
    int error = wait_view_make(&sums, elapsed_ns, WAIT_BY_NOBODY, wait_cgroups_name, cgroups, &waits->by_cause);
    if (error == 0)
        error = wait_view_make(&sums, elapsed_ns, waits->by, wait_cgroups_name, cgroups, &waits->by_who);
    return error ? error : make_waiters(waits);
}

int top_waits_sum(struct top_waits *waits, bool summing) {
    waits->summing = summing;
    return show(waits);
}

static void begin_row(struct wait_row *row, struct wait_mark mark) {
    row->begun = mark;
    row->begun_longest_ns = row->begun_stack = 0;
}

int top_waits_begin_here(struct top_waits *waits) {
    struct wait_sums *sums = &waits->watch.sums; /* as marked by the latest snapshot */
    for (size_t i = 0; i < sums->count; i++)
        begin_row(&sums->rows[i], sums->rows[i].marked);
    for (size_t i = 0; i < waits->row_count; i++)
        begin_row(&waits->rows[i], wait_row_mark(&waits->rows[i]));
    waits->begin_ns = waits->taken_ns;
    return top_waits_sum(waits, true);
}

/* ---- Snapshots ---------------------------------------------------------------------------------- */

int64_t top_waits_due_ns(const struct top_waits *waits) {
    const int64_t left_ns = waits->read_ns + READ_NS - read_clock_ns(CLOCK_MONOTONIC);
    return left_ns > 0 ? left_ns : 0;
}

int top_waits_read(struct top_waits *waits) {
    if (top_waits_due_ns(waits) > 0)
        return 0;
    waits->read_ns = read_clock_ns(CLOCK_MONOTONIC);
    return wait_watch_read_with_holders(&waits->watch);
}

static int copy_rows(struct top_waits *waits) {
    const struct wait_sums *sums = &waits->watch.sums;
    struct wait_row *rows = reallocarray(waits->rows, sums->count + 1, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    waits->rows = rows;
    waits->row_count = sums->count;
    for (size_t i = 0; i < sums->count; i++)
        rows[i] = sums->rows[i];
    return 0;
}

int top_waits_refresh(struct top_waits *waits) {
    forget_shown(waits);
    int error = wait_watch_read_with_holders(&waits->watch);
    const struct wait_sums *sums = &waits->watch.sums;
    for (size_t i = 0; i < sums->count && error == 0; i++) {
        struct wait_row *row = &sums->rows[i];
        if (row->longest_ns < row->begun_longest_ns)
            continue;
        row->begun_longest_ns = row->longest_ns;
        row->begun_stack = row->stack;
    }
    if (error == 0)
        error = copy_rows(waits);
    if (error)
        return error;
    waits->previous_ns = waits->taken_ns;
    waits->taken_ns = waits->read_ns = read_clock_ns(CLOCK_MONOTONIC);
    waits->clock_ns = read_clock_ns(CLOCK_REALTIME);
    wait_watch_mark(&waits->watch);
    return show(waits);
}

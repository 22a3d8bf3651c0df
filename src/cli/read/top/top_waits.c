/* Snapshots of waits, and the pages of osprof top -a. The upper part is the page of osprof why -a, by the same function. */
#include "top_waits.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "top_page.h"
#include "wait_page.h"

#define READ_NS INT64_C(500000000) /* between two times that the kernel's windows are emptied */
#define NUMBER_COLUMNS 10
#define WHO_COLUMNS_MIN 14
#define WHO_COLUMNS_MAX 30
#define CAUSE_COLUMNS_MIN 12

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
    int error = wait_view_make(&sums, elapsed_ns, WAIT_BY_NOBODY, cgroups, &waits->by_cause);
    if (error == 0)
        error = wait_view_make(&sums, elapsed_ns, waits->by, cgroups, &waits->by_who);
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

int top_waits_refresh(struct top_waits *waits) {
    const struct wait_sums *sums = &waits->watch.sums;
    forget_shown(waits);
    const int error = wait_watch_read_with_holders(&waits->watch);
    struct wait_row *rows = error ? NULL : reallocarray(waits->rows, sums->count + 1, sizeof(*rows));
    if (!rows)
        return error ? error : -ENOMEM;
    waits->rows = rows;
    waits->row_count = sums->count;
    for (size_t i = 0; i < sums->count; i++) {
        struct wait_row *row = &sums->rows[i];
        if (row->longest_ns >= row->begun_longest_ns) {
            row->begun_longest_ns = row->longest_ns;
            row->begun_stack = row->stack;
        }
        rows[i] = *row;
    }
    waits->previous_ns = waits->taken_ns;
    waits->taken_ns = waits->read_ns = read_clock_ns(CLOCK_MONOTONIC);
    waits->clock_ns = read_clock_ns(CLOCK_REALTIME);
    wait_watch_mark(&waits->watch);
    return show(waits);
}

/* ---- Pages -------------------------------------------------------------------------------------- */

void top_waits_page_put_heading(struct sheet *sheet, const struct top_waits *waits) {
    const int64_t elapsed_ns = waits->taken_ns - (waits->summing ? waits->begin_ns : waits->previous_ns);
    const struct units_text elapsed = units_seconds(&sheet->units, (double)elapsed_ns / 1e9);
    char clock[TOP_TIME_SIZE];
    char begin[TOP_TIME_SIZE];
    top_page_format_time(waits->clock_ns, true, clock);
    top_page_format_time(waits->clock_ns - elapsed_ns, false, begin);
    sheet_put(sheet, FORM_LINE, INK_FAINT, 0, "%s", clock);
    if (waits->summing)
        sheet_span(sheet, INK_PLAIN, "  %s since %s  ", elapsed.text, begin);
    else
        sheet_span(sheet, INK_PLAIN, "  the last %s  ", elapsed.text);
    sheet_span(sheet, INK_STRONG, "%s", waits->whose ? waits->whose : "all threads of this machine");
}

void top_waits_page_put_report(struct sheet *sheet, const struct top_waits *waits, enum wait_by by) {
    const struct wait_page_options options = {.by = by,
                                              .has_no_hints = true,
                                              .rows_max = by == WAIT_BY_NOBODY ? WAIT_PAGE_ROWS / 2 : WAIT_PAGE_ROWS,
                                              .whose = waits->whose};
    wait_page_put(sheet, &waits->watch, &waits->by_cause, &waits->by_who, &options);
}

/* ---- Who waited --------------------------------------------------------------------------------- */

static double share_of(uint64_t ns, uint64_t of_ns) {
    return of_ns > 0 ? (double)ns / (double)of_ns : 0;
}

static void put_waiters(struct sheet *sheet, const struct top_waits *waits, size_t rows_max) {
    static const char *const kinds[] = {"program", "process", "thread", "cgroup"};
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0, NUMBER_COLUMNS},
        {"total", SHEET_NUMBER, 1, NUMBER_COLUMNS},
        {"max", SHEET_NUMBER, 2, NUMBER_COLUMNS},
        {kinds[waits->by], SHEET_NAME, 3, WHO_COLUMNS_MIN, WHO_COLUMNS_MAX},
        {"above all", SHEET_LINE, 4, CAUSE_COLUMNS_MIN},
    };
    /* The chosen waiter is among the rows that are shown. */
    const size_t chosen = top_waits_chosen(waits);
    const size_t last = waits->waiter_count > rows_max ? waits->waiter_count - rows_max : 0;
    const size_t wanted = chosen >= rows_max && chosen < waits->waiter_count ? chosen - rows_max + 1 : 0;
    const size_t first = wanted < last ? wanted : last;
    const size_t end = waits->waiter_count - first > rows_max ? first + rows_max : waits->waiter_count;
    SHEET_TABLE(sheet, columns)->marked = chosen >= first && chosen < end ? chosen - first + 1 : 0;
    for (size_t i = first; i < end; i++) {
        const struct top_waiter *waiter = &waits->waiters[i];
        sheet_add_share(sheet, share_of(waiter->total_ns, waits->by_who.total_ns));
        sheet_add_seconds(sheet, (double)waiter->total_ns / 1e9);
        sheet_add_seconds(sheet, (double)waiter->longest_ns / 1e9);
        sheet_add(sheet, waiter->who);
        sheet_ink(sheet, i == chosen ? INK_STRONG : INK_PLAIN);
        sheet_add(sheet, waiter->most->cause->why.words);
    }
    if (end - first < waits->waiter_count)
        sheet_legend(sheet, "(%zu-%zu of %zu)", first + 1, end, waits->waiter_count);
}

/* The causes of the chosen waiter. Shares are of its waits without work. */
static void put_chosen(struct sheet *sheet, const struct top_waits *waits) {
    const size_t chosen = top_waits_chosen(waits);
    CLEANUP_STR struct str title = {0};
    if (chosen == waits->waiter_count) {
        sheet_put(sheet, FORM_LINE, INK_STRONG, 0, "%s", waits->chosen);
        sheet_span(sheet, INK_PLAIN, " has not waited in this time (idle waits excluded).");
        return;
    }
    const struct top_waiter *waiter = &waits->waiters[chosen];
    str_addf(&title, "causes of %s", waiter->who);
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0, NUMBER_COLUMNS},
        {"total", SHEET_NUMBER, 1, NUMBER_COLUMNS},
        {"max", SHEET_NUMBER, 2, NUMBER_COLUMNS},
        {"waits", SHEET_NUMBER, 3, NUMBER_COLUMNS},
        {str_text(&title), SHEET_LINE, 4, CAUSE_COLUMNS_MIN},
    };
    SHEET_TABLE(sheet, columns);
    for (size_t i = 0; i < waits->by_who.count; i++) {
        const struct wait_view_row *row = &waits->by_who.rows[i];
        if (strcmp(row->who, waiter->who) != 0)
            continue;
        sheet_add_share(sheet, row->cause->class == WAIT_IS_WORK ? NAN : share_of(row->total_ns, waiter->total_ns));
        sheet_add_seconds(sheet, (double)row->total_ns / 1e9);
        sheet_add_seconds(sheet, (double)row->longest_ns / 1e9);
        sheet_add_count(sheet, row->waits + row->now);
        if (row->now > 0)
            sheet_addf(sheet, "%s (%" PRIu64 " still)", row->cause->why.words, row->now);
        else
            sheet_add(sheet, row->cause->why.words);
    }
}

void top_waits_page_put(struct sheet *sheet, const struct top_waits *waits, int room_lines) {
    const size_t rows_max = room_lines > 24 ? (size_t)room_lines / 6 : 4; /* of each of the tables */
    const struct wait_page_options options = {
        .by = WAIT_BY_NOBODY, .has_no_hints = true, .has_no_names = true, .rows_max = rows_max, .whose = waits->whose};
    if (!waits->shown || waits->taken_ns <= (waits->summing ? waits->begin_ns : waits->previous_ns)) {
        sheet_legend(sheet, "What threads wait for is counted from here on.");
        return;
    }
    wait_page_put(sheet, &waits->watch, &waits->by_cause, &waits->by_who, &options);
    sheet_gap(sheet);
    if (waits->waiter_count > 0)
        put_waiters(sheet, waits, rows_max);
    sheet_gap(sheet);
    if (waits->waiter_count > 0 || waits->chosen[0])
        put_chosen(sheet, waits);
}

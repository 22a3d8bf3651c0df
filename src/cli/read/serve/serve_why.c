/* What threads of this machine wait for: reads the kernel, and counts it in series. */
#include "serve_why.h"

#include <errno.h>
#include <string.h>

#include "base.h"
#include "command.h"

#define READ_NS NS_PER_S

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Keeps only what was counted of waits that go on. */
static void forget_ended(struct wait_sums *sums) {
    struct wait_sums kept = {.rows = NULL};
    for (size_t i = 0; i < sums->count; i++) {
        const struct wait_row *row = &sums->rows[i];
        struct waiting_now now = {.cell = {.cgroup = row->cgroup, .process = row->process, .thread = row->thread}};
        if (row->marked.ns <= row->total_ns)
            continue;
        memcpy(now.cell.program, row->program, sizeof(now.cell.program));
        memcpy(now.cell.thread_name, row->thread_name, sizeof(now.cell.thread_name));
        const size_t before = kept.count;
        wait_sums_add_now(&kept, row->cause, &now);
        if (kept.count > before)
            kept.rows[before].marked.ns = row->marked.ns - row->total_ns;
    }
    wait_sums_finish(sums);
    *sums = kept;
}

/* Errors: reported once */
static void read_and_report(struct serve_why *why) {
    struct wait_view view;
    const int64_t before_ns = why->read_ns;
    why->read_ns = read_clock_ns(CLOCK_MONOTONIC);
    int error = wait_watch_read(&why->watch);
    if (!error)
        error = wait_watch_view(&why->watch, WAIT_BY_PROGRAM, &view);
    if (error && !why->has_failed)
        complain("cannot read what threads wait for: %s; it is tried again", strerror(-error));
    why->has_failed = error != 0;
    if (error)
        return;
    wait_series_age(&why->series, (uint64_t)(why->read_ns - before_ns));
    for (size_t i = 0; i < view.count; i++)
        wait_series_add(&why->series, view.rows[i].cause, view.rows[i].who, view.rows[i].waits, view.rows[i].total_ns);
    wait_view_finish(&view);
    wait_watch_mark(&why->watch);
    forget_ended(&why->watch.sums);
}

void serve_why_read(struct serve_why *why) {
    if (read_clock_ns(CLOCK_MONOTONIC) - why->read_ns >= READ_NS)
        read_and_report(why);
}

size_t serve_why_take(struct serve_why *why, struct view_wait ret_waits[WAIT_SERIES_MAX]) {
    read_and_report(why);
    for (size_t i = 0; i < why->series.count; i++) {
        const struct wait_one_series *series = &why->series.series[i];
        ret_waits[i] = (struct view_wait){.cause = series->cause,
                                          .class = wait_class_name(series->class),
                                          .program = series->program,
                                          .waits = series->waits,
                                          .seconds = (double)series->total_ns / 1e9};
    }
    return why->series.count;
}

/* ---- Beginning and end -------------------------------------------------------------------------- */

int serve_why_start(struct serve_why *ret_why) {
    *ret_why = (struct serve_why){.read_ns = 0};
    return wait_watch_start(&ret_why->nobody, &ret_why->nowhere, &ret_why->watch);
}

void serve_why_finish(struct serve_why *why) {
    wait_series_finish(&why->series);
    wait_watch_finish(&why->watch);
}

#include "serve_why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"

#define READ_NS INT64_C(1000000000)
#define OTHER "other"
#define OTHER_CAUSES "waiting in another function of the kernel"
#define CAUSES_MAX (SERVE_WHY_SERIES_MAX / 2)           /* with a series of other programs */
#define CAUSES_KEPT 10                                  /* of these: for causes that have a name */
#define OWN_MAX (SERVE_WHY_SERIES_MAX - CAUSES_MAX - 3) /* with a program's name; 3: other causes, by class */

/* ---- Series ------------------------------------------------------------------------------------- */

static struct serve_why_series *find(struct serve_why *why, const char *cause, enum wait_class class,
                                     const char *program) {
    for (size_t i = 0; i < why->count; i++) {
        struct serve_why_series *series = &why->series[i];
        if (series->class == class && strcmp(series->program, program) == 0 && strcmp(series->cause, cause) == 0)
            return series;
    }
    return NULL;
}

/* Returns NULL without memory. */
static struct serve_why_series *append(struct serve_why *why, const char *cause, enum wait_class class,
                                       const char *program) {
    char *words = why->count < SERVE_WHY_SERIES_MAX ? strdup(cause) : NULL;
    if (!words)
        return NULL;
    struct serve_why_series *series = &why->series[why->count++];
    *series = (struct serve_why_series){.cause = words, .class = class};
    snprintf(series->program, sizeof(series->program), "%s", program);
    why->others += strcmp(program, OTHER) == 0;
    return series;
}

/* The series of other programs. */
static struct serve_why_series *find_other(struct serve_why *why, const struct wait_cause *cause) {
    const bool has_room = why->others < (cause->is_named ? CAUSES_MAX : CAUSES_MAX - CAUSES_KEPT);
    struct serve_why_series *found = find(why, cause->words, cause->class, OTHER);
    if (!found && !has_room)
        found = find(why, OTHER_CAUSES, cause->class, OTHER);
    return found ? found : append(why, has_room ? cause->words : OTHER_CAUSES, cause->class, OTHER);
}

static struct serve_why_series *find_or_add(struct serve_why *why, const struct wait_cause *cause,
                                            const char *program) {
    struct serve_why_series *found = find(why, cause->words, cause->class, program);
    if (!found && cause->is_named && why->count - why->others < OWN_MAX)
        found = append(why, cause->words, cause->class, program);
    return found ? found : find_other(why, cause);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Keeps only what was counted of waits that go on. */
static void forget_ended(struct wait_sums *sums) {
    struct wait_sums kept = {.rows = NULL};
    for (size_t i = 0; i < sums->count; i++) {
        const struct wait_row *row = &sums->rows[i];
        struct waiting_now now = {.cell = {.cgroup = row->cgroup, .process = row->process, .thread = row->thread}};
        if (row->marked_ns <= row->total_ns)
            continue;
        memcpy(now.cell.program, row->program, sizeof(now.cell.program));
        memcpy(now.cell.thread_name, row->thread_name, sizeof(now.cell.thread_name));
        const size_t before = kept.count;
        wait_sums_add_now(&kept, row->cause, &now);
        if (kept.count > before)
            kept.rows[before].marked_ns = row->marked_ns - row->total_ns;
    }
    wait_sums_finish(sums);
    *sums = kept;
}

/* Errors: -ENOMEM, those of bpf(2) */
static int read_waits(struct serve_why *why) {
    struct wait_view view;
    why->read_ns = read_clock_ns(CLOCK_MONOTONIC);
    int error = wait_watch_read(&why->watch);
    if (!error)
        error = wait_watch_view(&why->watch, WAIT_BY_PROGRAM, &view);
    if (error)
        return error;
    for (size_t i = 0; i < view.count; i++) {
        struct serve_why_series *series = find_or_add(why, view.rows[i].cause, view.rows[i].who);
        if (!series)
            continue;
        series->waits += view.rows[i].waits;
        series->total_ns += view.rows[i].total_ns;
    }
    wait_view_finish(&view);
    wait_watch_mark(&why->watch);
    forget_ended(&why->watch.sums);
    return 0;
}

static void read_and_report(struct serve_why *why) {
    const int error = read_waits(why);
    if (error && !why->has_failed)
        complain("cannot read what threads wait for: %s; it is tried again", strerror(-error));
    why->has_failed = error != 0;
}

void serve_why_read(struct serve_why *why) {
    if (read_clock_ns(CLOCK_MONOTONIC) - why->read_ns >= READ_NS)
        read_and_report(why);
}

size_t serve_why_take(struct serve_why *why, struct view_wait ret_waits[SERVE_WHY_SERIES_MAX]) {
    read_and_report(why);
    for (size_t i = 0; i < why->count; i++) {
        const struct serve_why_series *series = &why->series[i];
        ret_waits[i] = (struct view_wait){.cause = series->cause,
                                          .class = wait_class_name(series->class),
                                          .program = series->program,
                                          .waits = series->waits,
                                          .seconds = (double)series->total_ns / 1e9};
    }
    return why->count;
}

/* ---- Beginning and end -------------------------------------------------------------------------- */

int serve_why_start(struct serve_why *ret_why) {
    *ret_why = (struct serve_why){.count = 0};
    return wait_watch_start(&ret_why->nobody, &ret_why->nowhere, &ret_why->watch);
}

void serve_why_finish(struct serve_why *why) {
    for (size_t i = 0; i < why->count; i++)
        free(why->series[i].cause);
    wait_watch_finish(&why->watch);
}

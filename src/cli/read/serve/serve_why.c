/* What threads of this machine wait for: reads the kernel, and counts it in series, one for each cause and program. */
#include "serve_why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"

#define READ_NS NS_PER_S
#define OTHER "other"
#define OTHER_CAUSES "waiting in another function of the kernel"
#define CAUSES_MAX (WAIT_SERIES_MAX / 2)           /* with a series of other programs */
#define CAUSES_KEPT 10                             /* of these: for causes that have a name */
#define OWN_MAX (WAIT_SERIES_MAX - CAUSES_MAX - 3) /* with a program's name; 3: other causes, by class */
#define HALVED_NS UINT64_C(60000000000)            /* when what was counts half, at most */

static bool is_of_others(const struct wait_one_series *one) {
    return strcmp(one->program, OTHER) == 0;
}

static struct wait_one_series *find(struct wait_series *series, const char *cause, enum wait_class class,
                                    const char *program) {
    for (size_t i = 0; i < series->count; i++) {
        struct wait_one_series *one = &series->series[i];
        if (one->class == class && strcmp(one->program, program) == 0 && strcmp(one->cause, cause) == 0)
            return one;
    }
    return NULL;
}

/* Returns false without memory; then *ret_one is as before. */
static bool begin(struct wait_one_series *ret_one, const char *cause, enum wait_class class, const char *program) {
    char *words = strdup(cause);
    if (!words)
        return false;
    *ret_one = (struct wait_one_series){.cause = words, .class = class};
    snprintf(ret_one->program, sizeof(ret_one->program), "%s", program);
    return true;
}

/* Returns NULL without memory. */
static struct wait_one_series *append(struct wait_series *series, const char *cause, enum wait_class class,
                                      const char *program) {
    if (series->count == WAIT_SERIES_MAX || !begin(&series->series[series->count], cause, class, program))
        return NULL;
    struct wait_one_series *one = &series->series[series->count++];
    series->others += is_of_others(one);
    return one;
}

static struct wait_one_series *find_other(struct wait_series *series, const char *cause, enum wait_class class,
                                          bool is_named) {
    const bool has_room = series->others < (is_named ? CAUSES_MAX : CAUSES_MAX - CAUSES_KEPT);
    struct wait_one_series *found = find(series, cause, class, OTHER);
    if (!found && !has_room)
        found = find(series, OTHER_CAUSES, class, OTHER);
    return found ? found : append(series, has_room ? cause : OTHER_CAUSES, class, OTHER);
}

static void add(struct wait_one_series *one, uint64_t waits, uint64_t total_ns) {
    one->waits += waits;
    one->total_ns += total_ns;
    one->lately_ns += total_ns;
}

/* Takes the place of another program, if that has waited for less. Returns NULL if none gives way */
static struct wait_one_series *take_place(struct wait_series *series, const struct wait_cause *cause,
                                          const char *program, uint64_t total_ns) {
    struct wait_one_series *least = NULL; /* of the program whose waits were shortest lately */
    for (size_t i = 0; i < series->count; i++) {
        struct wait_one_series *one = &series->series[i];
        if (!is_of_others(one) && (!least || one->lately_ns < least->lately_ns))
            least = one;
    }
    if (!least || least->lately_ns >= total_ns)
        return NULL;
    const struct wait_one_series before = *least;
    struct wait_one_series *other = find_other(series, before.cause, before.class, true);
    if (!other || !begin(least, cause->why.words, cause->class, program))
        return NULL;
    add(other, before.waits, before.total_ns);
    free(before.cause);
    return least;
}

void wait_series_age(struct wait_series *series, uint64_t interval_ns) {
    const double share = (double)HALVED_NS / ((double)HALVED_NS + (double)interval_ns);
    for (size_t i = 0; i < series->count; i++)
        series->series[i].lately_ns = (uint64_t)((double)series->series[i].lately_ns * share);
}

void wait_series_add(struct wait_series *series, const struct wait_cause *cause, const char *program, uint64_t waits,
                     uint64_t total_ns) {
    struct wait_one_series *found = find(series, cause->why.words, cause->class, program);
    if (!found && cause->is_named && strcmp(program, OTHER) != 0)
        found = series->count - series->others < OWN_MAX ? append(series, cause->why.words, cause->class, program)
                                                         : take_place(series, cause, program, total_ns);
    if (!found)
        found = find_other(series, cause->why.words, cause->class, cause->is_named);
    if (found)
        add(found, waits, total_ns);
}

void wait_series_finish(struct wait_series *series) {
    for (size_t i = 0; i < series->count; i++)
        free(series->series[i].cause);
    *series = (struct wait_series){.count = 0};
}

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

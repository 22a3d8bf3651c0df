/* Waits as counters, a series for each cause and program. */
#include "wait_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct wait_one_series *least = NULL; /* of the program whose waits were shortest lately; there is one */
    for (size_t i = 0; i < series->count; i++) {
        struct wait_one_series *one = &series->series[i];
        if (!is_of_others(one) && (!least || one->lately_ns < least->lately_ns))
            least = one;
    }
    if (least->lately_ns >= total_ns)
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

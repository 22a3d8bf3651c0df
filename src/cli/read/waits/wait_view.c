/* Rows of the sums get the names that are shown, and rows with the same cause and name become one. */
#include "wait_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/* ---- Who ---------------------------------------------------------------------------------------- */

/* A program may call itself nothing. */
static const char *shown(const char *name) {
    return name[0] ? name : "(no name)";
}

static void name_process(const struct wait_row *row, char ret_who[WAIT_WHO_SIZE]) {
    if (row->process > 0)
        snprintf(ret_who, WAIT_WHO_SIZE, "%s %" PRIu32, shown(row->program), row->process);
    else
        snprintf(ret_who, WAIT_WHO_SIZE, "%s", shown(row->program));
}

static void name_who(const struct wait_row *row, enum wait_by by, struct wait_cgroups *cgroups,
                     char ret_who[WAIT_WHO_SIZE]) {
    ret_who[0] = '\0';
    switch (by) {
    case WAIT_BY_PROGRAM:
        snprintf(ret_who, WAIT_WHO_SIZE, "%s", shown(row->program));
        break;
    case WAIT_BY_PROCESS:
        name_process(row, ret_who);
        break;
    case WAIT_BY_THREAD:
        if (row->thread == row->process)
            name_process(row, ret_who);
        else
            snprintf(ret_who, WAIT_WHO_SIZE, "%s %" PRIu32 ", thread %" PRIu32 " (%s)", shown(row->program),
                     row->process, row->thread, shown(row->thread_name));
        break;
    case WAIT_BY_CGROUP:
        wait_cgroups_name(cgroups, row->cgroup, ret_who);
        break;
    case WAIT_BY_NOBODY:
        break;
    }
}

/* ---- Rows --------------------------------------------------------------------------------------- */

static uint64_t since_mark_ns(const struct wait_row *row) {
    const uint64_t all_ns = row->total_ns + row->now_ns;
    return all_ns > row->marked.ns ? all_ns - row->marked.ns : 0;
}

static int compare_names(const void *a, const void *b) {
    const struct wait_view_row *row_a = a;
    const struct wait_view_row *row_b = b;
    const int causes = strcmp(row_a->cause->why.words, row_b->cause->why.words);
    const int classes = (int)row_a->cause->class - (int)row_b->cause->class;
    return causes ? causes : classes ? classes : strcmp(row_a->who, row_b->who);
}

static int compare_times(const void *a, const void *b) {
    const struct wait_view_row *row_a = a;
    const struct wait_view_row *row_b = b;
    const int is_work = (row_a->cause->class == WAIT_IS_WORK) - (row_b->cause->class == WAIT_IS_WORK);
    if (is_work)
        return is_work;
    if (row_a->total_ns != row_b->total_ns)
        return row_a->total_ns < row_b->total_ns ? 1 : -1;
    return compare_names(a, b);
}

/* Adds up the rows with the same cause and name. */
static void merge(struct wait_view *view) {
    size_t merged = 0;
    qsort(view->rows, view->count, sizeof(view->rows[0]), compare_names);
    for (size_t i = 0; i < view->count; i++) {
        const struct wait_view_row *row = &view->rows[i];
        struct wait_view_row *sum = &view->rows[merged > 0 ? merged - 1 : 0];
        if (merged == 0 || compare_names(sum, row) != 0) {
            view->rows[merged++] = *row;
            continue;
        }
        if (row->total_ns > since_mark_ns(sum->most))
            sum->most = row->most;
        if (row->longest_ns > sum->longest_ns) {
            sum->longest_ns = row->longest_ns;
            sum->stack = row->stack;
        }
        sum->waits += row->waits;
        sum->now += row->now;
        sum->total_ns += row->total_ns;
    }
    view->count = merged;
    qsort(view->rows, view->count, sizeof(view->rows[0]), compare_times);
}

static void add_up(struct wait_view *view) {
    for (size_t i = 0; i < view->count; i++) {
        const struct wait_view_row *row = &view->rows[i];
        if (row->cause->class == WAIT_IS_WORK) {
            view->work_ns += row->total_ns;
            continue;
        }
        view->counting_rows++;
        view->total_ns += row->total_ns;
        view->unnamed_ns += row->cause->is_named ? 0 : row->total_ns;
    }
}

/* ---- Threads and processes ---------------------------------------------------------------------- */

/* What a row of the sums is of: the process, or the thread; and whether that has waited for something but work. */
struct one {
    uint32_t number;
    bool counts;
};

static int compare_ones(const void *a, const void *b) {
    const struct one *one_a = a;
    const struct one *one_b = b;
    return one_a->number != one_b->number ? (one_a->number < one_b->number ? -1 : 1) : one_b->counts - one_a->counts;
}

static void count_ones(struct one *ones, size_t count, uint64_t *ret_counting, uint64_t *ret_others) {
    qsort(ones, count, sizeof(*ones), compare_ones);
    for (size_t i = 0; i < count; i++) {
        if (ones[i].number == 0 || (i > 0 && ones[i - 1].number == ones[i].number))
            continue;
        *(ones[i].counts ? ret_counting : ret_others) += 1;
    }
}

/* Errors: -ENOMEM */
static int count_all(const struct wait_sums *sums, struct wait_view *view) {
    CLEANUP_FREE struct one *threads = calloc(sums->count + 1, sizeof(*threads));
    CLEANUP_FREE struct one *processes = calloc(sums->count + 1, sizeof(*processes));
    uint64_t others = 0;
    size_t count = 0;
    if (!threads || !processes)
        return -ENOMEM;
    for (size_t i = 0; i < sums->count; i++) {
        const struct wait_row *row = &sums->rows[i];
        const bool counts = row->cause->class != WAIT_IS_WORK;
        if (since_mark_ns(row) == 0)
            continue;
        threads[count] = (struct one){row->thread, counts};
        processes[count++] = (struct one){row->process, counts};
    }
    count_ones(threads, count, &view->threads, &view->work_threads);
    count_ones(processes, count, &view->processes, &others);
    return 0;
}

/* ---- The view ----------------------------------------------------------------------------------- */

int wait_view_make(const struct wait_sums *sums, uint64_t elapsed_ns, enum wait_by by, struct wait_cgroups *cgroups,
                   struct wait_view *ret_view) {
    struct wait_view view = {.elapsed_ns = elapsed_ns};
    view.rows = calloc(sums->count + 1, sizeof(*view.rows));
    int error = view.rows ? count_all(sums, &view) : -ENOMEM;
    for (size_t i = 0; error == 0 && i < sums->count; i++) {
        const struct wait_row *row = &sums->rows[i];
        struct wait_view_row *made = &view.rows[view.count];
        if (since_mark_ns(row) == 0)
            continue;
        *made = (struct wait_view_row){.cause = row->cause,
                                       .waits = row->waits - row->marked.waits,
                                       .now = row->now,
                                       .total_ns = since_mark_ns(row),
                                       .longest_ns = row->longest_ns,
                                       .stack = row->stack,
                                       .most = row};
        name_who(row, by, cgroups, made->who);
        view.count++;
    }
    if (error) {
        wait_view_finish(&view);
        return error;
    }
    merge(&view);
    add_up(&view);
    *ret_view = view;
    return 0;
}

void wait_view_finish(struct wait_view *view) {
    free(view->rows);
    view->rows = NULL;
}

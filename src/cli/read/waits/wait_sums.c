/* A hash table of rows; when it is full, the rows of threads, and then of programs, that waited least are added up. */
#include "wait_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/* ---- Finding ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 31;
}

static uint64_t mix_name(uint64_t hash, const char name[WAITED_NAME_BYTES + 1]) {
    uint64_t halves[WAITED_NAME_BYTES / sizeof(uint64_t)];
    memcpy(halves, name, sizeof(halves));
    return mix(mix(hash, halves[0]), halves[1]);
}

/* What is behind the NUL of a name is nothing. */
static void copy_name(const char name[WAITED_NAME_BYTES], char ret_name[WAITED_NAME_BYTES + 1]) {
    memset(ret_name, 0, WAITED_NAME_BYTES + 1);
    memcpy(ret_name, name, strnlen(name, WAITED_NAME_BYTES));
}

struct wait_row wait_row_of(const struct wait_cause *cause, const struct waited_cell *cell) {
    struct wait_row row = {.cause = cause, .cgroup = cell->cgroup, .process = cell->process, .thread = cell->thread};
    copy_name(cell->program, row.program);
    copy_name(cell->thread_name, row.thread_name);
    return row;
}

/* Returns NULL without memory. */
static struct wait_row *append(struct wait_sums *sums, uint64_t hash, const struct wait_row *row) {
    if (grow_array(&sums->rows, sums->count, sizeof(*sums->rows)) != 0 ||
        number_map_set(&sums->places, hash, sums->count + 1) != 0)
        return NULL;
    sums->rows[sums->count] = *row;
    return &sums->rows[sums->count++];
}

/* NULL: it is not there; then *ret_hash is free. */
static struct wait_row *find(const struct wait_sums *sums, const struct wait_row *row, uint64_t *ret_hash) {
    uint64_t hash = mix((uint64_t)(uintptr_t)row->cause, row->cgroup);
    hash = mix(hash, (uint64_t)row->process << 32 | row->thread);
    hash = mix_name(mix_name(hash, row->program), row->thread_name);
    for (uint64_t place; sums->rows && (place = number_map_get(&sums->places, hash)) > 0; hash++) {
        struct wait_row *other = &sums->rows[place - 1];
        if (other->cause == row->cause && other->cgroup == row->cgroup && other->process == row->process &&
            other->thread == row->thread && strcmp(other->program, row->program) == 0 &&
            strcmp(other->thread_name, row->thread_name) == 0)
            return other;
    }
    *ret_hash = hash;
    return NULL;
}

/* ---- Summing rows ------------------------------------------------------------------------------- */

#define OTHERS "(others)"

enum fold { BY_PROGRAM, OF_OTHERS };

/* What a row is summed in. */
static void fold(struct wait_row *row, enum fold how) {
    row->cgroup = 0;
    row->process = row->thread = 0;
    memset(row->thread_name, 0, sizeof(row->thread_name));
    if (how == BY_PROGRAM)
        return;
    memset(row->program, 0, sizeof(row->program));
    memcpy(row->program, OTHERS, sizeof(OTHERS));
}

/* What goes on and was reported in part would be reported again. */
static bool may_be_folded(const struct wait_row *row, enum fold how) {
    const bool is_single = row->process > 0;
    return row->marked.ns <= row->total_ns && is_single == (how == BY_PROGRAM) &&
           (is_single || strcmp(row->program, OTHERS) != 0);
}

static void add_mark(struct wait_mark *sum, const struct wait_mark *mark) {
    sum->waits += mark->waits;
    sum->ns += mark->ns;
}

static void add_row(struct wait_row *sum, const struct wait_row *row) {
    sum->waits += row->waits;
    sum->total_ns += row->total_ns;
    sum->now += row->now;
    sum->now_ns += row->now_ns;
    add_mark(&sum->marked, &row->marked);
    add_mark(&sum->begun, &row->begun);
    if (row->longest_ns >= sum->longest_ns) {
        sum->longest_ns = row->longest_ns;
        sum->stack = row->stack;
    }
    if (row->begun_longest_ns >= sum->begun_longest_ns) {
        sum->begun_longest_ns = row->begun_longest_ns;
        sum->begun_stack = row->begun_stack;
    }
}

static int compare_times(const void *a, const void *b) {
    const uint64_t *a_ns = a;
    const uint64_t *b_ns = b;
    return (*a_ns > *b_ns) - (*a_ns < *b_ns);
}

/* Up to which time half of those that may be are summed. Returns false if there are none, or without memory */
static bool find_median(const struct wait_sums *sums, enum fold how, uint64_t *ret_ns) {
    CLEANUP_FREE uint64_t *times_ns = calloc(sums->count + 1, sizeof(*times_ns));
    size_t count = 0;
    for (size_t i = 0; times_ns && i < sums->count; i++)
        if (may_be_folded(&sums->rows[i], how))
            times_ns[count++] = sums->rows[i].total_ns;
    if (count == 0)
        return false;
    qsort(times_ns, count, sizeof(*times_ns), compare_times);
    *ret_ns = times_ns[count / 2];
    return true;
}

/* Without memory they stay as they are. */
static void fold_least(struct wait_sums *sums, enum fold how) {
    struct wait_sums kept = {.rows = NULL};
    uint64_t most_ns;
    int error = find_median(sums, how, &most_ns) ? 0 : -ENOENT;
    for (size_t i = 0; i < sums->count && error == 0; i++) {
        const struct wait_row *row = &sums->rows[i];
        struct wait_row sum = *row;
        uint64_t hash = 0;
        if (may_be_folded(row, how) && row->total_ns <= most_ns)
            fold(&sum, how);
        struct wait_row *found = find(&kept, &sum, &hash);
        if (found)
            add_row(found, row);
        else if (!append(&kept, hash, &sum))
            error = -ENOMEM;
    }
    if (error) {
        wait_sums_finish(&kept);
        return;
    }
    kept.has_no_memory = sums->has_no_memory;
    kept.is_folded = true;
    wait_sums_finish(sums);
    *sums = kept;
}

/* Returns NULL without memory. */
static struct wait_row *find_or_add(struct wait_sums *sums, const struct wait_cause *cause,
                                    const struct waited_cell *cell) {
    uint64_t hash = 0;
    if (!cause) {
        sums->has_no_memory = true;
        return NULL;
    }
    struct wait_row row = wait_row_of(cause, cell);
    struct wait_row *found = find(sums, &row, &hash);
    if (!found && sums->count >= WAIT_ROWS_MAX && sums->count >= sums->fold_at) {
        fold_least(sums, BY_PROGRAM);
        if (sums->count > WAIT_ROWS_MAX * 3 / 4)
            fold_least(sums, OF_OTHERS);
        const size_t next = sums->count + WAIT_ROWS_MAX / 4;
        sums->fold_at = next > WAIT_ROWS_MAX ? next : WAIT_ROWS_MAX;
        found = find(sums, &row, &hash);
    }
    if (!found && sums->count >= WAIT_ROWS_ALL_MAX) {
        sums->is_folded = true;
        fold(&row, OF_OTHERS);
        found = find(sums, &row, &hash);
    }
    if (!found)
        found = append(sums, hash, &row);
    sums->has_no_memory |= !found;
    return found;
}

/* ---- Adding ------------------------------------------------------------------------------------- */

void wait_sums_begin_now(struct wait_sums *sums) {
    for (size_t i = 0; i < sums->count; i++)
        sums->rows[i].now = sums->rows[i].now_ns = 0;
}

static void note_longest(struct wait_row *row, uint64_t ns, uint64_t stack) {
    if (ns < row->longest_ns)
        return;
    row->longest_ns = ns;
    row->stack = stack;
}

void wait_sums_add(struct wait_sums *sums, const struct wait_cause *cause, const struct waited_cell *cell,
                   const struct waited_sum *sum) {
    struct wait_row *row = find_or_add(sums, cause, cell);
    if (!row)
        return;
    row->waits += sum->waits;
    row->total_ns += sum->total_ns;
    note_longest(row, sum->longest_ns, cell->stack);
}

void wait_sums_add_now(struct wait_sums *sums, const struct wait_cause *cause, const struct waiting_now *now) {
    struct wait_row *row = find_or_add(sums, cause, &now->cell);
    if (!row)
        return;
    row->now++;
    row->now_ns += now->age_ns;
    note_longest(row, now->age_ns, now->cell.stack);
}

/* A wait that ends while it is read is in neither sum. Its reported part is not reported again. */
struct wait_mark wait_row_mark(const struct wait_row *row) {
    const uint64_t all_ns = row->total_ns + row->now_ns;
    return (struct wait_mark){.waits = row->waits, .ns = all_ns > row->marked.ns ? all_ns : row->marked.ns};
}

void wait_sums_mark(struct wait_sums *sums) {
    for (size_t i = 0; i < sums->count; i++) {
        struct wait_row *row = &sums->rows[i];
        row->marked = wait_row_mark(row);
        row->longest_ns = 0;
    }
}

void wait_sums_finish(struct wait_sums *sums) {
    free(sums->rows);
    number_map_finish(&sums->places);
    *sums = (struct wait_sums){.rows = NULL};
}

/* Latency by value (thesis §3.1.6). */
#include "joint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile_owned.h"

/* ---- Tables ---- */

static size_t table_cells(const struct joints *joints, enum aggstats_value value) {
    return (size_t)aggstats_value_rows(value) * 64 * joints->resolution;
}

static struct joint_table *table_of(const struct joints *joints, unsigned op, unsigned value) {
    return __atomic_load_n(&joints->tables[op][value], __ATOMIC_ACQUIRE);
}

struct joints *joints_create(const struct layout *layout) {
    struct joints *joints = calloc(1, sizeof(*joints));
    if (!joints)
        return NULL;
    joints->op_count = layout->op_count;
    joints->resolution = layout->resolution;
    joints->tables = calloc(layout->op_count, sizeof(*joints->tables));
    if (!joints->tables) {
        free(joints);
        return NULL;
    }
    return joints;
}

static void free_table(struct joint_table *table) {
    if (!table)
        return;
    free(table->counts);
    free(table->baseline);
    free(table->frozen);
    free(table->seen);
    free(table);
}

void joints_destroy(struct joints *joints) {
    for (unsigned op = 0; op < joints->op_count; op++)
        for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++)
            free_table(joints->tables[op][value]);
    free(joints->tables);
    free(joints);
}

static int add_table(struct joints *joints, unsigned op, enum aggstats_value value) {
    size_t cells = table_cells(joints, value);
    struct joint_table *table = calloc(1, sizeof(*table));
    if (!table)
        return -ENOMEM;
    table->counts = calloc(cells, sizeof(uint64_t));
    table->baseline = calloc(cells, sizeof(uint64_t));
    table->frozen = calloc(cells, sizeof(uint64_t));
    table->seen = calloc(cells, sizeof(uint64_t));
    if (!table->counts || !table->baseline || !table->frozen || !table->seen) {
        free_table(table);
        return -ENOMEM;
    }
    __atomic_store_n(&joints->tables[op][value], table, __ATOMIC_RELEASE);
    return 0;
}

static void copy_counts(const struct joint_table *table, uint64_t *to, size_t cells) {
    for (size_t cell = 0; cell < cells; cell++)
        to[cell] = __atomic_load_n(&table->counts[cell], __ATOMIC_ACQUIRE);
}

/* Makes it empty. */
static void begin_anew(struct joint_table *table, size_t cells) {
    copy_counts(table, table->baseline, cells);
    memcpy(table->frozen, table->baseline, cells * sizeof(uint64_t));
    table->is_marked = false;
}

int joints_set(struct joints *joints, unsigned op, unsigned wanted_values) {
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++)
        if (wanted_values & 1U << value && !table_of(joints, op, value) && add_table(joints, op, value) < 0)
            return -ENOMEM;
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++) {
        struct joint_table *table = table_of(joints, op, value);
        bool is_wanted = wanted_values & 1U << value;
        if (!table || table->is_on == is_wanted)
            continue;
        begin_anew(table, table_cells(joints, value));
        __atomic_store_n(&table->is_on, is_wanted, __ATOMIC_RELEASE);
    }
    return 0;
}

void joints_add(const struct joints *joints, unsigned op, enum aggstats_value value, uint64_t number,
                uint64_t latency_cycles) {
    struct joint_table *table = table_of(joints, op, value);
    if (!table || !__atomic_load_n(&table->is_on, __ATOMIC_RELAXED))
        return;
    size_t row = aggstats_value_row(value, number);
    unsigned bucket = aggstats_bucket_of(latency_cycles, joints->resolution);
    __atomic_add_fetch(&table->counts[row * 64 * joints->resolution + bucket], 1, __ATOMIC_RELEASE);
}

/* ---- Reset, pause, resume ---- */

typedef void (*table_fn)(struct joint_table *table, size_t cells);

static void for_each(struct joints *joints, table_fn change) {
    for (unsigned op = 0; op < joints->op_count; op++)
        for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++)
            if (table_of(joints, op, value))
                change(joints->tables[op][value], table_cells(joints, value));
}

static void read_counts(struct joint_table *table, size_t cells) {
    copy_counts(table, table->seen, cells);
}

static void freeze(struct joint_table *table, size_t cells) {
    memcpy(table->frozen, table->seen, cells * sizeof(uint64_t));
}

static void thaw(struct joint_table *table, size_t cells) {
    for (size_t cell = 0; cell < cells; cell++)
        table->baseline[cell] += __atomic_load_n(&table->counts[cell], __ATOMIC_RELAXED) - table->frozen[cell];
}

void joints_read(struct joints *joints) {
    for_each(joints, read_counts);
}

static void end(struct joint_table *table, size_t cells) {
    (void)cells;
    __atomic_store_n(&table->is_on, false, __ATOMIC_RELEASE);
}

void joints_end(struct joints *joints) {
    for_each(joints, end);
    joints->paused = false;
}

void joints_reset(struct joints *joints) {
    for_each(joints, begin_anew);
}

void joints_pause(struct joints *joints) {
    if (!joints->paused)
        for_each(joints, freeze);
    joints->paused = true;
}

void joints_resume(struct joints *joints) {
    if (joints->paused)
        for_each(joints, thaw);
    joints->paused = false;
}

/* ---- Rotation ---- */

static void mark(struct joint_table *table, size_t cells) {
    (void)cells;
    table->is_marked = true;
}

void joints_mark(struct joints *joints) {
    for_each(joints, mark);
}

static void take(struct joint_table *table, unsigned bucket_count, const struct aggstats_joint_profile *shown) {
    for (size_t at = 0; at < shown->cell_count; at++) {
        const struct aggstats_cell *cell = &shown->cells[at];
        table->baseline[(size_t)cell->row * bucket_count + cell->bucket] += cell->count;
    }
}

void joints_take(struct joints *joints, const char (*op_names)[AGGSTATS_NAME_SIZE],
                 const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->joint_count; i++) {
        const struct aggstats_joint_profile *shown = &profile->joints[i];
        for (unsigned op = 0; op < joints->op_count; op++) {
            struct joint_table *table = table_of(joints, op, shown->value);
            if (table && table->is_marked && strcmp(op_names[op], shown->op) == 0)
                take(table, 64 * joints->resolution, shown);
        }
    }
}

/* ---- Showing ---- */

/* op: NULL: it was never called */
static int show_table(const struct joints *joints, const struct joint_table *table, enum aggstats_value value,
                      const struct aggstats_op_profile *op, struct aggstats_joint_profile *joint) {
    unsigned bucket_count = 64 * joints->resolution;
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    uint64_t left[AGGSTATS_BUCKETS_MAX] = {0}; /* of the op's calls */
    struct cells cells = {.cells = NULL};
    if (op)
        memcpy(left, op->buckets, bucket_count * sizeof(uint64_t));
    for (unsigned number = 0; number < aggstats_value_rows(value); number++) {
        if (cells_reserve(&cells, bucket_count) < 0) {
            free(cells.cells);
            return -ENOMEM;
        }
        for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
            size_t cell = (size_t)number * bucket_count + bucket;
            uint64_t now = joints->paused ? table->frozen[cell] : table->seen[cell];
            uint64_t shown = now > table->baseline[cell] ? now - table->baseline[cell] : 0;
            row[bucket] = shown < left[bucket] ? shown : left[bucket];
            left[bucket] -= row[bucket];
        }
        cells_append_row(&cells, number, row, bucket_count);
    }
    joint->value = value;
    joint->cells = cells.cells;
    joint->cell_count = cells.count;
    return 0;
}

int joints_show(const struct joints *joints, const char (*op_names)[AGGSTATS_NAME_SIZE],
                struct aggstats_profile *profile) {
    for (unsigned op = 0; op < joints->op_count; op++) {
        for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++) {
            const struct joint_table *table = table_of(joints, op, value);
            if (!table || !table->is_on)
                continue;
            struct aggstats_joint_profile *joint = profile_add_joint(profile, op_names[op]);
            const struct aggstats_op_profile *shown = profile_find_op(profile, op_names[op]);
            int err = joint ? show_table(joints, table, (enum aggstats_value)value, shown, joint) : -ENOMEM;
            if (err < 0)
                return err;
            if (joint->cell_count == 0) { /* left out, like ops never called */
                free(joint->cells);
                profile->joint_count--;
            }
        }
    }
    return 0;
}

/* Joint profiles of a recorder: latency by value (thesis §3.1.6).
 *
 * The ops that are correlated with a value have another wrapper, put into the prof layer's vector while calls go on;
 * the others keep theirs, so an op that is not correlated costs nothing. All threads share the tables and add to them
 * by atomic operations. A table that was ever needed stays until the recorder is destroyed: a thread may still be
 * adding to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "aggstats/joint_profiles.h"
#include "base.h"
#include "places.h"
#include "profile_owned.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "snapshot.h"

struct joint_table {
    bool is_on;         /* atomic */
    bool is_marked;     /* it was marked, and not reset since: the shown counts can be subtracted */
    uint64_t *counts;   /* [rows][buckets]; atomic, only grow */
    uint64_t *baseline; /* counts from before the window, or in its pauses */
    uint64_t *frozen;   /* as of the beginning of the current pause */
    uint64_t *seen;     /* as last read */
};

struct joints {
    struct probe probe; /* must be first */
    unsigned op_count;
    unsigned resolution;
    bool paused;                                         /* under the window lock, like all that is read */
    struct joint_table *(*tables)[AGGSTATS_VALUE_COUNT]; /* [op_count]; pointers are atomic; NULL: never needed */
};

/* ---- Tables ---- */

static size_t table_cells(const struct joints *joints, enum aggstats_value value) {
    return (size_t)aggstats_value_rows(value) * 64 * joints->resolution;
}

static struct joints *to_joints(struct probe *probe) {
    _Static_assert(offsetof(struct joints, probe) == 0, "a probe's address is its joint profiles'");
    return (struct joints *)probe;
}

static struct joint_table *table_of(const struct joints *joints, unsigned op, unsigned value) {
    return __atomic_load_n(&joints->tables[op][value], __ATOMIC_ACQUIRE);
}

static struct joints *joints_create(const struct layout *layout) {
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

static void destroy(struct probe *probe) {
    struct joints *joints = to_joints(probe);
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

/* Under the window lock. Errors: -ENOMEM; the values selected before stay */
static int joints_set(struct joints *joints, unsigned op, unsigned wanted_values) {
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

/* ---- As a probe ---- */

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

static void end(struct joint_table *table, size_t cells) {
    (void)cells;
    __atomic_store_n(&table->is_on, false, __ATOMIC_RELEASE);
}

static void set_marked(struct joint_table *table, size_t cells) {
    (void)cells;
    table->is_marked = true;
}

/* Before the ops' counters are read, since a call is counted there first: so what is shown here is in the counters too,
 * except for calls that ended just before the window did. */
static void read_tables(struct probe *probe) {
    for_each(to_joints(probe), read_counts);
}

static void reset(struct probe *probe) {
    for_each(to_joints(probe), begin_anew);
}

/* Freezes what was read. */
static void pause_all(struct probe *probe) {
    if (!to_joints(probe)->paused)
        for_each(to_joints(probe), freeze);
    to_joints(probe)->paused = true;
}

static void resume_all(struct probe *probe) {
    if (to_joints(probe)->paused)
        for_each(to_joints(probe), thaw);
    to_joints(probe)->paused = false;
}

static void mark(struct probe *probe) {
    for_each(to_joints(probe), set_marked);
}

/* Subtracts from each table what the saved profile got from it, unless the table has been reset meanwhile. What the
 * profile had no room for, since its op's counters were read earlier, is kept. */
static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    const struct joints *joints = to_joints(probe);
    for (size_t i = 0; taken && i < taken->joint_count; i++) {
        const struct aggstats_joint_profile *shown = &taken->joints[i];
        for (unsigned op = 0; op < joints->op_count; op++) {
            struct joint_table *table = table_of(joints, op, shown->value);
            if (!table || !table->is_marked || strcmp(probe->recorder->op_names[op], shown->op) != 0)
                continue;
            for (const struct aggstats_cell *cell = shown->cells; cell < shown->cells + shown->cell_count; cell++)
                table->baseline[(size_t)cell->row * 64 * joints->resolution + cell->bucket] += cell->count;
        }
    }
}

/* No values are selected any more. */
static void leave(struct probe *probe) {
    for_each(to_joints(probe), end);
    to_joints(probe)->paused = false;
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

/* What was read last, never more than the profile's ops have. */
static int show(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile) {
    const struct joints *joints = to_joints(probe);
    for (unsigned op = 0; op < joints->op_count; op++) {
        for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++) {
            const struct joint_table *table = table_of(joints, op, value);
            if (!table || !table->is_on)
                continue;
            struct aggstats_joint_profile *joint = profile_add_joint(profile, source->op_names[op]);
            const struct aggstats_op_profile *shown = profile_find_op(profile, source->op_names[op]);
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

static const struct probe_ops ops = {
    .read = read_tables,
    .reset = reset,
    .pause = pause_all,
    .resume = resume_all,
    .show = show,
    .mark = mark,
    .end_mark = end_mark,
    .leave = leave,
    .destroy = destroy,
};

/* ---- The interface ---- */

/* Call under the lock of probes. NULL: no memory */
static struct joints *find(struct aggstats_recorder *recorder) {
    struct probe *probe = recorder_probe(recorder, PROBE_JOINTS);
    if (probe)
        return to_joints(probe);
    struct joints *joints = joints_create(&recorder->layout);
    if (!joints)
        return NULL;
    joints->probe = (struct probe){.ops = &ops, .recorder = recorder};
    recorder_attach(recorder, PROBE_JOINTS, &joints->probe);
    return joints;
}

int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values) {
    if (op >= recorder->layout.op_count || values >> AGGSTATS_VALUE_COUNT)
        return -EINVAL;
    sigset_t before;
    quiet_lock(&recorder->probes_lock, &before);
    struct joints *joints = find(recorder);
    int err = joints ? 0 : -ENOMEM;
    if (err == 0) {
        sigset_t unused;
        quiet_lock(&recorder->window_lock, &unused);
        err = joints_set(joints, op, values);
        quiet_unlock(&recorder->window_lock, &unused);
    }
    quiet_unlock(&recorder->probes_lock, &before);
    return err;
}

void aggstats_joint_add(struct aggstats_recorder *recorder, unsigned op, enum aggstats_value value, uint64_t number,
                        uint64_t latency_cycles) {
    struct probe *probe = __atomic_load_n(&recorder->probes[PROBE_JOINTS], __ATOMIC_ACQUIRE);
    const struct joints *joints = probe ? to_joints(probe) : NULL;
    struct joint_table *table = joints ? table_of(joints, op, value) : NULL;
    if (!table || !__atomic_load_n(&table->is_on, __ATOMIC_RELAXED))
        return;
    size_t row = aggstats_value_row(value, number);
    unsigned bucket = aggstats_bucket_of(latency_cycles, joints->resolution);
    __atomic_add_fetch(&table->counts[row * 64 * joints->resolution + bucket], 1, __ATOMIC_RELEASE);
}

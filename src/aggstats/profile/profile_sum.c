/* Sums and differences of profiles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "aggstats/counted.h"
#include "facts.h"
#include "profile_owned.h"
#include "profile_slow.h"

/* Intervals of two profiles do not meet, and the numbers of processes mean others. */
static void drop_dimensions(struct aggstats_profile *profile) {
    profile_free_groups(profile);
    for (size_t i = 0; i < profile->op_count; i++) {
        free(profile->ops[i].samples);
        profile->ops[i].samples = NULL;
        profile->ops[i].sample_count = 0;
    }
    free(profile->borders);
    profile->borders = NULL;
    profile->interval_count = 0;
    profile->interval_cycles = 0;
}

/* A rate measured twice on one machine differs by parts per million; two machines differ by more than this. */
static bool same_rate(const struct aggstats_clock *a, const struct aggstats_clock *b) {
    uint64_t low = a->frequency_hz < b->frequency_hz ? a->frequency_hz : b->frequency_hz;
    uint64_t high = a->frequency_hz < b->frequency_hz ? b->frequency_hz : a->frequency_hz;
    return low == high || (low > 0 && high - low < low / 1000);
}

/* Whether a latency is above all of an op's. Where its longest is not known, its buckets tell. */
static bool is_above(uint64_t latency_cycles, const struct aggstats_op_profile *op, unsigned resolution) {
    if (latency_cycles == 0 || op->longest_cycles > 0)
        return latency_cycles > op->longest_cycles;
    for (unsigned bucket = aggstats_bucket_of(latency_cycles, resolution); bucket < 64 * resolution; bucket++)
        if (op->buckets[bucket] > 0)
            return false;
    return true;
}

/* The longer one. Before the buckets are added. */
static int add_longest(struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution) {
    bool is_known = a->longest_cycles > 0 && b->longest_cycles > 0;
    if (is_above(a->longest_cycles, b, resolution) || (is_known && a->longest_cycles == b->longest_cycles))
        return 0;
    bool is_longer = is_above(b->longest_cycles, a, resolution);
    char *path = is_longer && b->longest_path ? strdup(b->longest_path) : NULL;
    if (is_longer && b->longest_path && !path)
        return -ENOMEM;
    profile_forget_longest(a);
    if (is_longer) {
        a->longest_cycles = b->longest_cycles;
        a->longest_object = b->longest_object;
        a->longest_path = path;
    }
    return 0;
}

static int add_op(struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution) {
    int err = add_longest(a, b, resolution);
    if (err < 0)
        return err;
    if (number_add(&a->calls, b->calls) < 0 || number_add(&a->left_calls, b->left_calls) < 0 ||
        number_add(&a->total_cycles, b->total_cycles) < 0 || number_add(&a->busy_looks, b->busy_looks) < 0 ||
        number_add(&a->asked_bytes, b->asked_bytes) < 0 || number_add(&a->moved_bytes, b->moved_bytes) < 0)
        return -EOVERFLOW;
    for (unsigned bucket = 0; bucket < 64 * resolution && err == 0; bucket++)
        err = number_add(&a->buckets[bucket], b->buckets[bucket]);
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES && err == 0; failure++)
        err = number_add(&a->failures[failure], b->failures[failure]);
    return err;
}

static int add_cells(struct aggstats_joint_profile *a, const struct aggstats_joint_profile *b) {
    struct cells sum = {.cells = NULL};
    uint64_t left[AGGSTATS_BUCKETS_MAX];
    uint64_t right[AGGSTATS_BUCKETS_MAX];
    int err = cells_reserve(&sum, a->cell_count + b->cell_count + 1);
    for (uint32_t row = 0, at = 0, bt = 0; err == 0 && (at < a->cell_count || bt < b->cell_count); row++) {
        memset(left, 0, sizeof(left));
        memset(right, 0, sizeof(right));
        if (at < a->cell_count && a->cells[at].row == row)
            at = (uint32_t)cells_take_row(a->cells, a->cell_count, at, 1, 1, left);
        if (bt < b->cell_count && b->cells[bt].row == row)
            bt = (uint32_t)cells_take_row(b->cells, b->cell_count, bt, 1, 1, right);
        for (unsigned bucket = 0; bucket < AGGSTATS_BUCKETS_MAX && err == 0; bucket++)
            err = number_add(&left[bucket], right[bucket]);
        if (err == 0)
            cells_append_row(&sum, row, left, AGGSTATS_BUCKETS_MAX);
    }
    free(a->cells);
    a->cells = sum.cells;
    a->cell_count = sum.count;
    return err;
}

/* Drops a joint profile that only one of the two profiles has: its sum would not cover all calls. */
static int add_joints(struct aggstats_profile *sum, const struct aggstats_profile *b) {
    size_t kept = 0;
    int err = 0;
    for (size_t i = 0; i < sum->joint_count; i++) {
        struct aggstats_joint_profile *joint = &sum->joints[i];
        const struct aggstats_joint_profile *other = profile_find_joint(b, joint->op, joint->value);
        if (!other) {
            free(joint->cells);
            continue;
        }
        if (err == 0)
            err = add_cells(joint, other);
        sum->joints[kept++] = *joint;
    }
    sum->joint_count = kept;
    return err;
}

int counted_add_ops(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    int err = 0;
    for (size_t i = 0; i < other->op_count && err == 0; i++) {
        struct aggstats_op_profile *op = profile_find_op(sum, other->ops[i].name);
        err = op ? add_op(op, &other->ops[i], sum->resolution) : profile_append_op(sum, &other->ops[i]);
    }
    return err;
}

int aggstats_profile_add(struct aggstats_profile *a, const struct aggstats_profile *b) {
    if (a->resolution == 0)
        return aggstats_profile_copy(b, a);
    if (!same_rate(&a->clock, &b->clock))
        return -EDOM;
    CLEANUP_PROFILE struct aggstats_profile sum = {0};
    CLEANUP_PROFILE struct aggstats_profile addend = {0};
    int err = aggstats_profile_copy(a, &sum);
    if (err == 0)
        err = aggstats_profile_copy(b, &addend);
    if (err < 0)
        return err;
    profile_coarsen(&sum, a->resolution < b->resolution ? a->resolution : b->resolution);
    profile_coarsen(&addend, sum.resolution);
    drop_dimensions(&sum);
    drop_dimensions(&addend);
    err = counted_add_ops(&sum, &addend);
    if (err == 0)
        err = add_joints(&sum, &addend);
    for (const struct fact *fact = facts; fact->key && err == 0; fact++)
        err = fact_add(fact, &sum, &addend);
    if (err == 0)
        err = profile_add_slow(&sum, &addend);
    if (err < 0)
        return err;
    aggstats_profile_sort(&sum);
    profile_replace(a, &sum);
    return 0;
}

/* b's calls in flight ended after b, so they stay in the difference: only b's calls that have ended, or never will, are
 * taken away. If b has a call that never ends by mistake (its thread was already in another call), the difference counts
 * the call as ended. */
static int subtract_op(struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution) {
    const uint64_t left_calls = a->left_calls < b->left_calls ? a->left_calls : b->left_calls;
    uint64_t finished = 0;
    if (!is_above(a->longest_cycles, b, resolution))
        profile_forget_longest(a);
    if (number_subtract(&a->total_cycles, b->total_cycles) < 0 ||
        number_subtract(&a->asked_bytes, b->asked_bytes) < 0 || number_subtract(&a->moved_bytes, b->moved_bytes) < 0)
        return -ERANGE;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        if (number_subtract(&a->buckets[bucket], b->buckets[bucket]) < 0 ||
            number_subtract(&a->calls, b->buckets[bucket]) < 0)
            return -ERANGE;
        finished += a->buckets[bucket];
    }
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        if (number_subtract(&a->failures[failure], b->failures[failure]) < 0)
            return -ERANGE;
    failures_limit(a->failures, finished);
    a->busy_looks -= b->busy_looks; /* modulo 2^64: see the fact "busy" */
    a->left_calls -= left_calls;
    a->calls -= left_calls;
    profile_settle_longest(a, resolution);
    return 0;
}

static void drop_uncalled_ops(struct aggstats_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->op_count; i++) {
        if (profile->ops[i].calls > 0)
            profile->ops[kept++] = profile->ops[i];
        else
            profile_free_op(&profile->ops[i]);
    }
    profile->op_count = kept;
}

/* An op that is not in the difference must not have calls that have ended. */
static int subtract_profile(struct aggstats_profile *difference, const struct aggstats_profile *b) {
    for (size_t i = 0; i < b->op_count; i++) {
        const struct aggstats_op_profile *subtracted = &b->ops[i];
        struct aggstats_op_profile *op = profile_find_op(difference, subtracted->name);
        if (op ? subtract_op(op, subtracted, b->resolution) < 0 : subtracted->total_cycles > 0)
            return -ERANGE;
        for (unsigned bucket = 0; bucket < profile_bucket_count(b) && !op; bucket++)
            if (subtracted->buckets[bucket] > 0)
                return -ERANGE;
    }
    for (const struct fact *fact = facts; fact->key; fact++)
        if (fact_subtract(fact, difference, b) < 0)
            return -ERANGE;
    return 0;
}

int aggstats_profile_subtract(struct aggstats_profile *a, const struct aggstats_profile *b) {
    if (a->resolution != b->resolution || !same_rate(&a->clock, &b->clock))
        return -EDOM;
    CLEANUP_PROFILE struct aggstats_profile difference = {0};
    int err = aggstats_profile_copy(a, &difference);
    if (err == 0)
        err = subtract_profile(&difference, b);
    if (err == 0)
        err = profile_subtract_slow(&difference, b);
    if (err < 0)
        return err;
    drop_dimensions(&difference);
    profile_free_joints(&difference);
    drop_uncalled_ops(&difference);
    aggstats_profile_sort(&difference);
    profile_replace(a, &difference);
    return 0;
}

/* Profiles as data: copying, looking up, adding, subtracting, changing resolution and clock rate.
 *
 * What changes a profile works on a copy and swaps it in at the end, so that an error leaves the profile as it was. */
#include "profile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "samples.h"
#include "text.h"

__extension__ typedef unsigned __int128 uint128;

#define CLEANUP_PROFILE __attribute__((cleanup(aggstats_profile_finish)))

static unsigned bucket_count(const struct aggstats_profile *profile) {
    return 64 * profile->resolution;
}

/* ---- Life cycle ---- */

void labels_free(struct aggstats_label *labels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(labels[i].key);
        free(labels[i].value);
    }
    free(labels);
}

int labels_copy(const struct aggstats_label *labels, size_t count, struct aggstats_label **ret_labels) {
    struct aggstats_label *copy = NULL;
    if (count > 0 && !(copy = calloc(count, sizeof(*copy))))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        copy[i].key = strdup(labels[i].key);
        copy[i].value = strdup(labels[i].value);
        if (copy[i].key && copy[i].value)
            continue;
        labels_free(copy, count);
        return -ENOMEM;
    }
    *ret_labels = copy;
    return 0;
}

static void free_op(struct aggstats_op_profile *op) {
    free(op->buckets);
    free(op->samples);
}

static void free_joints(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->joint_count; i++)
        free(profile->joints[i].cells);
    free(profile->joints);
    profile->joints = NULL;
    profile->joint_count = 0;
}

struct aggstats_joint_profile *profile_add_joint(struct aggstats_profile *profile, const char *op_name) {
    struct aggstats_joint_profile *grown = reallocarray(profile->joints, profile->joint_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    profile->joints = grown;
    struct aggstats_joint_profile *joint = &profile->joints[profile->joint_count++];
    *joint = (struct aggstats_joint_profile){.cells = NULL};
    text_name_copy(joint->op, op_name);
    return joint;
}

static void free_groups(struct aggstats_profile *profile) {
    while (profile->group_count > 0)
        profile_drop_last_group(profile);
    free(profile->groups);
    profile->groups = NULL;
    profile->grouping = AGGSTATS_UNGROUPED;
}

void aggstats_profile_finish(struct aggstats_profile *profile) {
    labels_free(profile->labels, profile->label_count);
    for (size_t i = 0; i < profile->op_count; i++)
        free_op(&profile->ops[i]);
    free(profile->ops);
    for (size_t i = 0; i < profile->in_flight_count; i++)
        free(profile->in_flight[i].path);
    free(profile->in_flight);
    free(profile->borders);
    free_joints(profile);
    free_groups(profile);
    *profile = (struct aggstats_profile){0};
}

/* A copy of count elements; NULL for none. */
static int copy_array(const void *from, size_t count, size_t size_bytes, void *ret_pointer) {
    void *copy = NULL;
    if (count > 0) {
        copy = reallocarray(NULL, count, size_bytes);
        if (!copy)
            return -ENOMEM;
        memcpy(copy, from, count * size_bytes);
    }
    *(void **)ret_pointer = copy;
    return 0;
}

/* Appends a copy of op, with buckets of the profile's resolution. */
static int append_op(struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    struct aggstats_op_profile *grown = reallocarray(profile->ops, profile->op_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->ops = grown;
    struct aggstats_op_profile copy = *op;
    int err = copy_array(op->buckets, bucket_count(profile), sizeof(*op->buckets), &copy.buckets);
    if (err < 0)
        return err;
    err = copy_array(op->samples, op->sample_count, sizeof(*op->samples), &copy.samples);
    if (err < 0) {
        free(copy.buckets);
        return err;
    }
    profile->ops[profile->op_count++] = copy;
    return 0;
}

static int copy_joints(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = 0;
    for (size_t i = 0; i < profile->joint_count && err == 0; i++) {
        const struct aggstats_joint_profile *joint = &profile->joints[i];
        struct aggstats_joint_profile *added = profile_add_joint(copy, joint->op);
        if (!added)
            return -ENOMEM;
        added->value = joint->value;
        added->cell_count = joint->cell_count;
        err = copy_array(joint->cells, joint->cell_count, sizeof(*joint->cells), &added->cells);
    }
    return err;
}

static int copy_groups(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = 0;
    for (size_t i = 0; i < profile->group_count && err == 0; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        struct aggstats_group *added = profile_add_group(copy, group->who, group->id, group->name);
        err = added ? aggstats_profile_copy(&group->profile, &added->profile) : -ENOMEM;
    }
    return err;
}

static int copy_calls_in_flight(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = copy_array(profile->in_flight, profile->in_flight_count, sizeof(*profile->in_flight), &copy->in_flight);
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++) {
        const char *path = profile->in_flight[i].path;
        copy->in_flight[i].path = path ? strdup(path) : NULL;
        if (path && !copy->in_flight[i].path)
            err = -ENOMEM;
        copy->in_flight_count = i + 1; /* of those the path is the copy's own */
    }
    return err;
}

static int fill_copy(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = labels_copy(profile->labels, profile->label_count, &copy->labels);
    if (err < 0)
        return err;
    copy->label_count = profile->label_count;
    err = copy_calls_in_flight(profile, copy);
    if (err < 0)
        return err;
    err = copy_joints(profile, copy);
    if (err < 0)
        return err;
    err = copy_groups(profile, copy);
    if (err < 0)
        return err;
    err = copy_array(profile->borders, profile->interval_count, sizeof(*profile->borders), &copy->borders);
    if (err < 0)
        return err;
    for (size_t i = 0; i < profile->op_count && err == 0; i++)
        err = append_op(copy, &profile->ops[i]);
    return err;
}

int aggstats_profile_copy(const struct aggstats_profile *profile, struct aggstats_profile *ret_copy) {
    struct aggstats_profile copy = *profile;
    copy.labels = NULL;
    copy.ops = NULL;
    copy.in_flight = NULL;
    copy.borders = NULL;
    copy.joints = NULL;
    copy.groups = NULL;
    copy.label_count = copy.op_count = copy.in_flight_count = copy.joint_count = copy.group_count = 0;
    int err = fill_copy(profile, &copy);
    if (err < 0) {
        aggstats_profile_finish(&copy);
        return err;
    }
    *ret_copy = copy;
    return 0;
}

/* Puts *replacement in the place of *profile; *replacement is left empty. */
static void replace_profile(struct aggstats_profile *profile, struct aggstats_profile *replacement) {
    aggstats_profile_finish(profile);
    *profile = *replacement;
    *replacement = (struct aggstats_profile){0};
}

/* ---- Looking up ---- */

bool aggstats_profile_has_paths(const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->in_flight_count; i++)
        if (profile->in_flight[i].path)
            return true;
    return false;
}

const char *aggstats_profile_label(const struct aggstats_profile *profile, const char *key) {
    for (size_t i = 0; i < profile->label_count; i++)
        if (strcmp(profile->labels[i].key, key) == 0)
            return profile->labels[i].value;
    return NULL;
}

int aggstats_profile_add_label(struct aggstats_profile *profile, const char *key, const char *value) {
    struct aggstats_label label = {.key = strdup(key), .value = strdup(value)};
    struct aggstats_label *grown = reallocarray(profile->labels, profile->label_count + 1, sizeof(*grown));
    if (grown)
        profile->labels = grown;
    if (!grown || !label.key || !label.value) {
        free(label.key);
        free(label.value);
        return -ENOMEM;
    }
    profile->labels[profile->label_count++] = label;
    return 0;
}

struct aggstats_op_profile *profile_find_op(const struct aggstats_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->op_count; i++)
        if (strcmp(profile->ops[i].name, name) == 0)
            return &profile->ops[i];
    return NULL;
}

const struct aggstats_op_profile *aggstats_profile_op(const struct aggstats_profile *profile, const char *name) {
    return profile_find_op(profile, name);
}

static int compare_ops(const void *left, const void *right) {
    const struct aggstats_op_profile *a = left;
    const struct aggstats_op_profile *b = right;
    if (a->total_cycles != b->total_cycles)
        return a->total_cycles < b->total_cycles ? 1 : -1;
    return strcmp(a->name, b->name);
}

void aggstats_profile_sort(struct aggstats_profile *profile) {
    if (profile->op_count > 1)
        qsort(profile->ops, profile->op_count, sizeof(*profile->ops), compare_ops);
}

/* ---- Resolution ---- */

static void coarsen_cells(struct aggstats_cell *cells, size_t *count, unsigned factor) {
    struct samples samples = {.cells = cells, .count = *count};
    samples_merge(&samples, 1, factor);
    *count = samples.count;
}

static void coarsen(struct aggstats_profile *profile, unsigned resolution) {
    unsigned factor = profile->resolution / resolution;
    unsigned count = bucket_count(profile);
    for (size_t i = 0; i < profile->op_count; i++) {
        uint64_t *buckets = profile->ops[i].buckets;
        for (unsigned bucket = 0; bucket < count; bucket++) {
            uint64_t moved = buckets[bucket];
            buckets[bucket] = 0;
            buckets[bucket / factor] += moved;
        }
        coarsen_cells(profile->ops[i].samples, &profile->ops[i].sample_count, factor);
    }
    for (size_t i = 0; i < profile->joint_count; i++)
        coarsen_cells(profile->joints[i].cells, &profile->joints[i].cell_count, factor);
    for (size_t i = 0; i < profile->group_count; i++)
        coarsen(&profile->groups[i].profile, resolution);
    profile->resolution = resolution;
}

int aggstats_profile_coarsen(struct aggstats_profile *profile, unsigned resolution) {
    if (!aggstats_resolution_valid(resolution) || resolution > profile->resolution)
        return -EINVAL;
    coarsen(profile, resolution);
    return 0;
}

/* ---- Adding and subtracting ---- */

/* Intervals of two profiles do not meet, and the numbers of processes mean others. */
static void drop_dimensions(struct aggstats_profile *profile) {
    free_groups(profile);
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

static int add_numbers(uint64_t *sum, uint64_t value) {
    return __builtin_add_overflow(*sum, value, sum) ? -EOVERFLOW : 0;
}

/* sum(buckets) <= calls in both, so that only the calls can overflow first. */
static int add_op(struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned count) {
    if (add_numbers(&a->calls, b->calls) < 0 || add_numbers(&a->total_cycles, b->total_cycles) < 0)
        return -EOVERFLOW;
    for (unsigned bucket = 0; bucket < count; bucket++)
        if (add_numbers(&a->buckets[bucket], b->buckets[bucket]) < 0)
            return -EOVERFLOW;
    return 0;
}

static const struct aggstats_joint_profile *find_joint(const struct aggstats_profile *profile,
                                                       const struct aggstats_joint_profile *like) {
    for (size_t i = 0; i < profile->joint_count; i++)
        if (profile->joints[i].value == like->value && strcmp(profile->joints[i].op, like->op) == 0)
            return &profile->joints[i];
    return NULL;
}

static int add_cells(struct aggstats_joint_profile *a, const struct aggstats_joint_profile *b) {
    struct samples sum = {.cells = NULL};
    uint64_t left[AGGSTATS_BUCKETS_MAX];
    uint64_t right[AGGSTATS_BUCKETS_MAX];
    int err = samples_reserve(&sum, a->cell_count + b->cell_count + 1);
    for (uint32_t row = 0, at = 0, bt = 0; err == 0 && (at < a->cell_count || bt < b->cell_count); row++) {
        memset(left, 0, sizeof(left));
        memset(right, 0, sizeof(right));
        if (at < a->cell_count && a->cells[at].row == row)
            at = (uint32_t)samples_take_row(a->cells, a->cell_count, at, 1, 1, left);
        if (bt < b->cell_count && b->cells[bt].row == row)
            bt = (uint32_t)samples_take_row(b->cells, b->cell_count, bt, 1, 1, right);
        for (unsigned bucket = 0; bucket < AGGSTATS_BUCKETS_MAX && err == 0; bucket++)
            err = add_numbers(&left[bucket], right[bucket]);
        if (err == 0)
            samples_append_row(&sum, row, left, AGGSTATS_BUCKETS_MAX);
    }
    free(a->cells);
    a->cells = sum.cells;
    a->cell_count = sum.count;
    return err;
}

/* Of those that only one has, the sum would be of a part. */
static int add_joints(struct aggstats_profile *sum, const struct aggstats_profile *b) {
    size_t kept = 0;
    int err = 0;
    for (size_t i = 0; i < sum->joint_count; i++) {
        struct aggstats_joint_profile *joint = &sum->joints[i];
        const struct aggstats_joint_profile *other = find_joint(b, joint);
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

/* Adds b to sum, which are of one resolution. */
static int add_profile(struct aggstats_profile *sum, const struct aggstats_profile *b) {
    for (size_t i = 0; i < b->op_count; i++) {
        struct aggstats_op_profile *op = profile_find_op(sum, b->ops[i].name);
        int err = op ? add_op(op, &b->ops[i], bucket_count(sum)) : append_op(sum, &b->ops[i]);
        if (err < 0)
            return err;
    }
    int err = add_joints(sum, b);
    if (err < 0)
        return err;
    sum->has_elapsed = sum->has_elapsed && b->has_elapsed;
    sum->incomplete = sum->incomplete || b->incomplete;
    if (sum->has_elapsed && add_numbers(&sum->elapsed_cycles, b->elapsed_cycles) < 0)
        return -EOVERFLOW;
    return add_numbers(&sum->clamped, b->clamped);
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
    coarsen(&sum, a->resolution < b->resolution ? a->resolution : b->resolution);
    coarsen(&addend, sum.resolution);
    drop_dimensions(&sum);
    drop_dimensions(&addend);
    err = add_profile(&sum, &addend);
    if (err < 0)
        return err;
    aggstats_profile_sort(&sum);
    replace_profile(a, &sum);
    return 0;
}

static int subtract_numbers(uint64_t *from, uint64_t value) {
    return __builtin_sub_overflow(*from, value, from) ? -ERANGE : 0;
}

/* b's calls in flight ended after b, so they stay in the difference: only b's finished calls are taken away. */
static int subtract_op(struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned count) {
    int err = subtract_numbers(&a->total_cycles, b->total_cycles);
    for (unsigned bucket = 0; bucket < count && err == 0; bucket++) {
        err = subtract_numbers(&a->buckets[bucket], b->buckets[bucket]);
        if (err == 0)
            err = subtract_numbers(&a->calls, b->buckets[bucket]);
    }
    return err;
}

static bool op_finished_none(const struct aggstats_op_profile *op, unsigned count) {
    for (unsigned bucket = 0; bucket < count; bucket++)
        if (op->buckets[bucket] > 0)
            return false;
    return op->total_cycles == 0;
}

static void drop_uncalled_ops(struct aggstats_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->op_count; i++) {
        if (profile->ops[i].calls > 0)
            profile->ops[kept++] = profile->ops[i];
        else
            free_op(&profile->ops[i]);
    }
    profile->op_count = kept;
}

/* The difference begins where b ends (pauses within b, which nobody has noted, make that too early). */
static void advance_start(struct aggstats_profile *difference, const struct aggstats_profile *b) {
    difference->has_start = b->has_start && b->has_elapsed && b->clock.frequency_hz > 0;
    if (!difference->has_start)
        return;
    long double elapsed_ns = 1e9L * b->elapsed_cycles / b->clock.frequency_hz;
    if (elapsed_ns > (long double)(INT64_MAX / 2) ||
        __builtin_add_overflow(b->start_ns, (int64_t)elapsed_ns, &difference->start_ns))
        difference->has_start = false;
}

static int subtract_profile(struct aggstats_profile *difference, const struct aggstats_profile *b) {
    unsigned count = bucket_count(b);
    for (size_t i = 0; i < b->op_count; i++) {
        struct aggstats_op_profile *op = profile_find_op(difference, b->ops[i].name);
        if (!op && !op_finished_none(&b->ops[i], count))
            return -ERANGE;
        if (op && subtract_op(op, &b->ops[i], count) < 0)
            return -ERANGE;
    }
    difference->has_elapsed = difference->has_elapsed && b->has_elapsed;
    if (difference->has_elapsed && subtract_numbers(&difference->elapsed_cycles, b->elapsed_cycles) < 0)
        return -ERANGE;
    return subtract_numbers(&difference->clamped, b->clamped);
}

int aggstats_profile_subtract(struct aggstats_profile *a, const struct aggstats_profile *b) {
    if (a->resolution != b->resolution || !same_rate(&a->clock, &b->clock))
        return -EDOM;
    CLEANUP_PROFILE struct aggstats_profile difference = {0};
    int err = aggstats_profile_copy(a, &difference);
    if (err == 0)
        err = subtract_profile(&difference, b);
    if (err < 0)
        return err;
    drop_dimensions(&difference);
    free_joints(&difference);
    advance_start(&difference, b);
    drop_uncalled_ops(&difference);
    aggstats_profile_sort(&difference);
    replace_profile(a, &difference);
    return 0;
}

/* ---- Clock rate ---- */

/* What a change of rate does to buckets. All buckets of a profile are equally wide on a logarithmic scale, so each is
 * shifted by the same number of buckets and overlaps the same share of two neighbours. */
struct shift {
    int buckets;           /* whole buckets, rounded down */
    long double low_share; /* of a bucket's range, what lies in the lower of the two; linear in cycles */
};

static struct shift shift_make(unsigned resolution, uint64_t from_hz, uint64_t to_hz) {
    long double shifted = resolution * log2l((long double)to_hz / from_hz);
    long double whole = floorl(shifted);
    long double low_width = exp2l((1 - (shifted - whole)) / resolution) - 1;
    long double width = exp2l(1.0L / resolution) - 1;
    return (struct shift){.buckets = (int)whole, .low_share = low_width / width};
}

/* round(value * to / from). */
static int scale(uint64_t *value, uint64_t from, uint64_t to) {
    uint128 scaled = ((uint128)*value * to + from / 2) / from;
    if (scaled > UINT64_MAX)
        return -EOVERFLOW;
    *value = (uint64_t)scaled;
    return 0;
}

/* Latencies below 1 cycle fall in bucket 0. */
static int add_shifted(uint64_t *buckets, int bucket, int count, uint64_t calls) {
    if (calls == 0)
        return 0;
    if (bucket >= count)
        return -EOVERFLOW;
    buckets[bucket < 0 ? 0 : bucket] += calls;
    return 0;
}

/* How many of a bucket's calls go to the lower one. With two shares, rounding one and giving the rest to the other is
 * the method of the largest remainder. */
static uint64_t low_part(const struct shift *shift, uint64_t calls) {
    long double low_exact = roundl((long double)calls * shift->low_share);
    return low_exact >= (long double)calls ? calls : (uint64_t)low_exact;
}

static int shift_buckets(uint64_t *buckets, unsigned count, const struct shift *shift) {
    uint64_t shifted[AGGSTATS_BUCKETS_MAX] = {0};
    for (int bucket = 0; bucket < (int)count; bucket++) {
        uint64_t calls = buckets[bucket];
        uint64_t low = low_part(shift, calls);
        if (add_shifted(shifted, bucket + shift->buckets, (int)count, low) < 0 ||
            add_shifted(shifted, bucket + shift->buckets + 1, (int)count, calls - low) < 0)
            return -EOVERFLOW;
    }
    memcpy(buckets, shifted, count * sizeof(*shifted));
    return 0;
}

/* Appends calls of a row to cells, in ascending order of buckets; there must be room. sum: as below */
static int append_shifted(struct samples *cells, uint32_t row, int bucket, unsigned count, uint64_t calls,
                          uint64_t *sum) {
    int err = add_shifted(sum, bucket, (int)count, calls);
    if (err < 0 || calls == 0)
        return err;
    assert(cells->cells);
    struct aggstats_cell *last = cells->count > 0 ? &cells->cells[cells->count - 1] : NULL;
    unsigned at = bucket < 0 ? 0 : (unsigned)bucket;
    if (last && last->row == row && last->bucket == at)
        last->count += calls;
    else
        cells->cells[cells->count++] = (struct aggstats_cell){.row = row, .bucket = at, .count = calls};
    return 0;
}

/* Each row is shifted by itself. ret_sum: of all rows, [count] */
static int shift_cells(struct aggstats_cell **cells, size_t *cell_count, unsigned count, const struct shift *shift,
                       uint64_t *ret_sum) {
    struct samples shifted = {.cells = NULL};
    int err = samples_reserve(&shifted, 2 * *cell_count + 1);
    memset(ret_sum, 0, count * sizeof(*ret_sum));
    for (size_t at = 0; at < *cell_count && err == 0; at++) {
        const struct aggstats_cell *cell = &(*cells)[at];
        int bucket = (int)cell->bucket + shift->buckets;
        uint64_t low = low_part(shift, cell->count);
        err = append_shifted(&shifted, cell->row, bucket, count, low, ret_sum);
        if (err == 0)
            err = append_shifted(&shifted, cell->row, bucket + 1, count, cell->count - low, ret_sum);
    }
    free(*cells);
    *cells = shifted.cells;
    *cell_count = shifted.count;
    return err;
}

static int shift_joints(struct aggstats_profile *profile, const struct shift *shift) {
    uint64_t sum[AGGSTATS_BUCKETS_MAX];
    int err = 0;
    for (size_t i = 0; i < profile->joint_count && err == 0; i++) {
        struct aggstats_joint_profile *joint = &profile->joints[i];
        err = shift_cells(&joint->cells, &joint->cell_count, bucket_count(profile), shift, sum);
    }
    return err;
}

/* The whole of a sampled one is the sum of its intervals. */
static int rescale_op(struct aggstats_op_profile *op, unsigned count, const struct shift *shift) {
    assert(op->buckets);
    if (op->sample_count > 0)
        return shift_cells(&op->samples, &op->sample_count, count, shift, op->buckets);
    return shift_buckets(op->buckets, count, shift);
}

static int rescale_borders(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz) {
    int err = scale(&profile->interval_cycles, from_hz, to_hz);
    assert(profile->borders || profile->interval_count == 0);
    for (size_t i = 0; i < profile->interval_count && err == 0; i++)
        err = scale(&profile->borders[i], from_hz, to_hz);
    return err;
}

static int rescale(struct aggstats_profile *profile, uint64_t frequency_hz) {
    uint64_t old_hz = profile->clock.frequency_hz;
    struct shift shift = shift_make(profile->resolution, old_hz, frequency_hz);
    int err = scale(&profile->elapsed_cycles, old_hz, frequency_hz);
    for (size_t i = 0; i < profile->op_count && err == 0; i++) {
        err = scale(&profile->ops[i].total_cycles, old_hz, frequency_hz);
        if (err == 0)
            err = rescale_op(&profile->ops[i], bucket_count(profile), &shift);
    }
    if (err == 0)
        err = rescale_borders(profile, old_hz, frequency_hz);
    if (err == 0)
        err = shift_joints(profile, &shift);
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++)
        err = scale(&profile->in_flight[i].age_cycles, old_hz, frequency_hz);
    for (size_t i = 0; i < profile->group_count && err == 0; i++)
        err = rescale(&profile->groups[i].profile, frequency_hz);
    profile->clock.frequency_hz = frequency_hz;
    return err;
}

int aggstats_profile_rescale(struct aggstats_profile *profile, uint64_t frequency_hz) {
    if (profile->clock.frequency_hz == 0)
        return -EDOM;
    if (frequency_hz == 0)
        return -EINVAL;
    CLEANUP_PROFILE struct aggstats_profile scaled = {0};
    int err = aggstats_profile_copy(profile, &scaled);
    if (err == 0)
        err = rescale(&scaled, frequency_hz);
    if (err < 0)
        return err;
    aggstats_profile_sort(&scaled);
    profile_sort_groups(&scaled);
    replace_profile(profile, &scaled);
    return 0;
}

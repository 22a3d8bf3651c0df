/* Profiles as data: what they are made of, freeing, copying, finding and sorting. */
#include "profile_owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "facts.h"
#include "longest.h"
#include "profile_slow.h"
#include "text_format.h"

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
        copy[i].is_list = labels[i].is_list;
        if (copy[i].key && copy[i].value)
            continue;
        labels_free(copy, count);
        return -ENOMEM;
    }
    *ret_labels = copy;
    return 0;
}

void profile_free_op(struct aggstats_op_profile *op) {
    free(op->buckets);
    free(op->samples);
    free(op->longest_path);
}

void profile_free_joints(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->joint_count; i++)
        free(profile->joints[i].cells);
    free(profile->joints);
    profile->joints = NULL;
    profile->joint_count = 0;
}

const struct aggstats_joint_profile *profile_find_joint(const struct aggstats_profile *profile, const char *op_name,
                                                        enum aggstats_value value) {
    for (size_t i = 0; i < profile->joint_count; i++)
        if (profile->joints[i].value == value && strcmp(profile->joints[i].op, op_name) == 0)
            return &profile->joints[i];
    return NULL;
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

struct aggstats_group *profile_add_group(struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                         enum aggstats_who who, uint64_t id, const char *name) {
    struct aggstats_group *grown = reallocarray(profile->groups, profile->group_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    profile->groups = grown;
    struct aggstats_group *group = &profile->groups[profile->group_count++];
    *group = (struct aggstats_group){.grouping = grouping,
                                     .who = who,
                                     .id = id,
                                     .profile = {.resolution = profile->resolution, .clock = profile->clock}};
    strncat(group->name, name, sizeof(group->name) - 1);
    return group;
}

void profile_drop_last_group(struct aggstats_profile *profile) {
    aggstats_profile_finish(&profile->groups[--profile->group_count].profile);
}

void profile_free_groups(struct aggstats_profile *profile) {
    while (profile->group_count > 0)
        profile_drop_last_group(profile);
    free(profile->groups);
    profile->groups = NULL;
    profile->groupings = 0;
}

void aggstats_profile_finish(struct aggstats_profile *profile) {
    labels_free(profile->labels, profile->label_count);
    for (size_t i = 0; i < profile->op_count; i++)
        profile_free_op(&profile->ops[i]);
    free(profile->ops);
    profile_free_slow(profile);
    free(profile->unseen_programs);
    free(profile->borders);
    profile_free_joints(profile);
    profile_free_groups(profile);
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

int profile_append_op(struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    struct aggstats_op_profile *grown = reallocarray(profile->ops, profile->op_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->ops = grown;
    struct aggstats_op_profile copy = *op;
    copy.samples = NULL;
    copy.longest_path = NULL;
    int err = copy_array(op->buckets, profile_bucket_count(profile), sizeof(*op->buckets), &copy.buckets);
    if (err < 0)
        return err;
    err = copy_array(op->samples, op->sample_count, sizeof(*op->samples), &copy.samples);
    copy.longest_path = op->longest_path && err == 0 ? strdup(op->longest_path) : NULL;
    if (op->longest_path && !copy.longest_path)
        err = -ENOMEM;
    if (err < 0) {
        profile_free_op(&copy);
        return err;
    }
    profile->ops[profile->op_count++] = copy;
    return 0;
}

static int fill_copy(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = labels_copy(profile->labels, profile->label_count, &copy->labels);
    copy->label_count = err == 0 ? profile->label_count : 0;
    if (err == 0)
        err = profile_copy_slow(profile, copy);
    if (err == 0)
        err = profile_copy_unseen(profile, copy);
    if (err == 0)
        err = copy_array(profile->borders, profile->interval_count, sizeof(*profile->borders), &copy->borders);
    for (size_t i = 0; i < profile->joint_count && err == 0; i++) {
        const struct aggstats_joint_profile *joint = &profile->joints[i];
        struct aggstats_joint_profile *added = profile_add_joint(copy, joint->op);
        if (!added)
            return -ENOMEM;
        added->value = joint->value;
        added->cell_count = joint->cell_count;
        err = copy_array(joint->cells, joint->cell_count, sizeof(*joint->cells), &added->cells);
    }
    for (size_t i = 0; i < profile->group_count && err == 0; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        struct aggstats_group *added = profile_add_group(copy, group->grouping, group->who, group->id, group->name);
        if (!added)
            return -ENOMEM;
        added->missed_cycles_max = group->missed_cycles_max;
        err = aggstats_profile_copy(&group->profile, &added->profile);
    }
    for (size_t i = 0; i < profile->op_count && err == 0; i++)
        err = profile_append_op(copy, &profile->ops[i]);
    return err;
}

int aggstats_profile_copy(const struct aggstats_profile *profile, struct aggstats_profile *ret_copy) {
    struct aggstats_profile copy = *profile;
    copy.labels = NULL;
    copy.ops = NULL;
    copy.in_flight = NULL;
    copy.causes = NULL;
    copy.slow_calls = NULL;
    copy.callers = NULL;
    copy.unseen_programs = NULL;
    copy.unseen_program_count = 0;
    copy.cause_count = copy.in_flight_count = copy.slow_call_count = copy.caller_count = 0;
    copy.borders = NULL;
    copy.joints = NULL;
    copy.groups = NULL;
    copy.label_count = copy.op_count = copy.joint_count = copy.group_count = 0;
    int err = fill_copy(profile, &copy);
    if (err < 0) {
        aggstats_profile_finish(&copy);
        return err;
    }
    *ret_copy = copy;
    return 0;
}

static uint64_t unfinished_calls(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t calls = op->calls;
    for (unsigned bucket = 0; bucket < profile_bucket_count(profile); bucket++)
        calls -= op->buckets[bucket];
    return calls;
}

void profile_settle_left(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->op_count; i++) {
        struct aggstats_op_profile *op = &profile->ops[i];
        op->left_calls = unfinished_calls(profile, op);
        for (size_t call = 0; call < profile->in_flight_count && op->left_calls > 0; call++)
            op->left_calls -= strcmp(profile->in_flight[call].op, op->name) == 0;
    }
}

bool profile_left_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    return op->left_calls <= unfinished_calls(profile, op);
}

void profile_forget_longest(struct aggstats_op_profile *op) {
    free(op->longest_path);
    op->longest_path = NULL;
    op->longest_cycles = op->longest_object = 0;
}

bool profile_longest_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    return op->longest_cycles == 0 || longest_is_possible(op->buckets, profile->resolution, op->longest_cycles);
}

void profile_settle_longest(struct aggstats_op_profile *op, unsigned resolution) {
    if (!longest_is_possible(op->buckets, resolution, op->longest_cycles))
        profile_forget_longest(op);
}

void profile_limit_total(struct aggstats_op_profile *op, unsigned resolution) {
    double most_cycles = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        if (op->buckets[bucket] > 0)
            most_cycles += (double)op->buckets[bucket] * (ceil(aggstats_bucket_upper(bucket, resolution)) - 1);
    if ((double)op->total_cycles > most_cycles)
        op->total_cycles = (uint64_t)most_cycles;
}

void profile_replace(struct aggstats_profile *profile, struct aggstats_profile *replacement) {
    aggstats_profile_finish(profile);
    *profile = *replacement;
    *replacement = (struct aggstats_profile){0};
}

/* ---- Finding and sorting ---- */

bool aggstats_profile_has_paths(const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->in_flight_count; i++)
        if (profile->in_flight[i].path || profile->in_flight[i].stack || profile->in_flight[i].chain)
            return true;
    for (size_t i = 0; i < profile->op_count; i++)
        if (profile->ops[i].longest_path)
            return true;
    if (profile->slow_call_count > 0 || profile->caller_count > 0)
        return true;
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (profile->groupings & 1U << grouping && aggstats_grouping_has_paths((enum aggstats_grouping)grouping))
            return true;
    return false;
}

const char *aggstats_profile_label(const struct aggstats_profile *profile, const char *key) {
    for (size_t i = 0; i < profile->label_count; i++)
        if (strcmp(profile->labels[i].key, key) == 0)
            return profile->labels[i].value;
    return NULL;
}

bool aggstats_profile_has_list(const struct aggstats_profile *profile, const char *key) {
    for (size_t i = 0; i < profile->label_count; i++)
        if (strcmp(profile->labels[i].key, key) == 0)
            return profile->labels[i].is_list;
    return false;
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

bool profile_failures_possible(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t rest = 0; /* calls that ended without one of the failures so far */
    for (unsigned bucket = 0; bucket < profile_bucket_count(profile); bucket++)
        rest += op->buckets[bucket];
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        if (__builtin_sub_overflow(rest, op->failures[failure], &rest))
            return false;
    return true;
}

void failures_limit(uint64_t failures[AGGSTATS_FAILURES], uint64_t most) {
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++) {
        failures[failure] = failures[failure] < most ? failures[failure] : most;
        most -= failures[failure];
    }
}

uint64_t aggstats_failed_calls(const struct aggstats_op_profile *op) {
    uint64_t failed = 0;
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        failed += op->failures[failure];
    return failed;
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

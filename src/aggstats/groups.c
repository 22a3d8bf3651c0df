/* Latency by caller. */
#include "groups.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile.h"
#include "text.h"

/* ---- Life cycle ---- */

int group_init(struct group *group, enum aggstats_who who, unsigned op_count) {
    *group = (struct group){.who = who, .ops = calloc(op_count, sizeof(struct aggstats_counters *))};
    return group->ops ? 0 : -ENOMEM;
}

void group_forget_calls(struct group *group, unsigned op_count) {
    for (unsigned op = 0; group->ops && op < op_count; op++) {
        free(group->ops[op]);
        group->ops[op] = NULL;
    }
}

void group_finish(struct group *group, unsigned op_count) {
    group_forget_calls(group, op_count);
    free(group->ops);
}

int groups_init(struct groups *groups, const struct layout *layout, unsigned count_max) {
    *groups = (struct groups){.layout = *layout, .count_max = count_max};
    groups->places = calloc(count_max, sizeof(*groups->places));
    int err = groups->places ? group_init(&groups->kernel, AGGSTATS_WHO_KERNEL, layout->op_count) : -ENOMEM;
    return err < 0 ? err : group_init(&groups->other, AGGSTATS_WHO_OTHER, layout->op_count);
}

void groups_finish(struct groups *groups) {
    for (unsigned i = 0; i < groups->count; i++)
        group_finish(&groups->places[i], groups->layout.op_count);
    group_finish(&groups->kernel, groups->layout.op_count);
    group_finish(&groups->other, groups->layout.op_count);
    free(groups->places);
}

/* ---- Finding and making room ---- */

static bool is_same(const struct aggstats_identity *a, const struct aggstats_identity *b, bool has_ids) {
    return has_ids ? a->id == b->id && a->instance == b->instance : strcmp(a->name, b->name) == 0;
}

struct group *groups_find(struct groups *groups, const struct aggstats_identity *identity, bool has_ids) {
    for (unsigned i = 0; i < groups->count; i++) {
        struct group *group = &groups->places[i];
        if (group->seen > 0 && is_same(&group->identity, identity, has_ids))
            return group;
    }
    return NULL;
}

static struct group *least_recently_seen(struct groups *groups) {
    struct group *found = &groups->places[0];
    for (unsigned i = 1; i < groups->count; i++)
        if (groups->places[i].seen < found->seen)
            found = &groups->places[i];
    return found;
}

/* A free place, if need be made free. */
static struct group *take_place(struct groups *groups, bool *ret_was_folded) {
    assert(groups->places && groups->count_max > 0);
    struct group *group = groups->count > 0 ? least_recently_seen(groups) : NULL;
    *ret_was_folded = false;
    if (group && group->seen == 0)
        return group;
    if (groups->count < groups->count_max) {
        group = &groups->places[groups->count];
        if (group_init(group, AGGSTATS_WHO_ID, groups->layout.op_count) < 0)
            return NULL;
        groups->count++;
        return group;
    }
    assert(group);
    groups_unite(groups, group, &groups->other);
    *ret_was_folded = true;
    return group;
}

struct group *groups_add(struct groups *groups, const struct aggstats_identity *identity, bool *ret_was_folded) {
    struct group *group = take_place(groups, ret_was_folded);
    if (!group)
        return NULL;
    group->identity = *identity;
    group->seen = ++groups->calls;
    return group;
}

/* ---- Counting ---- */

static struct aggstats_counters *counters_of(const struct groups *groups, struct group *group, unsigned op) {
    if (!group->ops[op])
        group->ops[op] = calloc(1, groups->layout.counters_stride_bytes);
    return group->ops[op];
}

void groups_count(struct groups *groups, struct group *group, unsigned op, uint64_t latency_cycles) {
    struct aggstats_counters *counters = counters_of(groups, group, op);
    group->seen = ++groups->calls;
    if (!counters)
        return;
    counters->calls++;
    counters->total_cycles += latency_cycles;
    counters->buckets[aggstats_bucket_of(latency_cycles, groups->layout.resolution)]++;
}

static void add_counters(struct aggstats_counters *to, const struct aggstats_counters *from, unsigned bucket_count) {
    to->calls += from->calls;
    to->total_cycles += from->total_cycles;
    for (unsigned bucket = 0; bucket < bucket_count; bucket++)
        to->buckets[bucket] += from->buckets[bucket];
}

void groups_unite(struct groups *groups, struct group *from, struct group *into) {
    for (unsigned op = 0; op < groups->layout.op_count; op++) {
        if (!from->ops[op])
            continue;
        if (into->ops[op])
            add_counters(into->ops[op], from->ops[op], layout_bucket_count(&groups->layout));
        else
            into->ops[op] = steal_pointer(&from->ops[op]);
    }
    group_forget_calls(from, groups->layout.op_count);
    from->seen = 0;
}

int groups_add_calls(const struct groups *groups, const struct group *from, struct group *into) {
    for (unsigned op = 0; op < groups->layout.op_count; op++) {
        struct aggstats_counters *counters = from->ops[op] ? counters_of(groups, into, op) : NULL;
        if (counters)
            add_counters(counters, from->ops[op], layout_bucket_count(&groups->layout));
        else if (from->ops[op])
            return -ENOMEM;
    }
    return 0;
}

void groups_clear(struct groups *groups) {
    for (unsigned i = 0; i < groups->count; i++)
        group_forget_calls(&groups->places[i], groups->layout.op_count);
    group_forget_calls(&groups->kernel, groups->layout.op_count);
    group_forget_calls(&groups->other, groups->layout.op_count);
}

/* ---- Showing ---- */

/* What a call that ended just before the window did, and came here just after, has in it: its bucket. */
static void take_excess(struct aggstats_op_profile *op, unsigned bucket, unsigned resolution, uint64_t *left) {
    uint64_t excess = op->buckets[bucket] > *left ? op->buckets[bucket] - *left : 0;
    op->buckets[bucket] -= excess;
    op->calls -= excess;
    op->total_cycles -= excess * (uint64_t)aggstats_bucket_lower(bucket, resolution);
    *left -= op->buckets[bucket];
}

/* What it took beyond its bucket's lower bound is not known; but the total is one that the buckets left allow. */
static void limit_total(struct aggstats_op_profile *op, unsigned resolution) {
    double most_cycles = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        if (op->buckets[bucket] > 0)
            most_cycles += (double)op->buckets[bucket] * (ceil(aggstats_bucket_upper(bucket, resolution)) - 1);
    if ((double)op->total_cycles > most_cycles)
        op->total_cycles = (uint64_t)most_cycles;
}

static int show_op(struct aggstats_profile *profile, const char *name, const struct aggstats_counters *counters,
                   uint64_t *left) {
    unsigned bucket_count = 64 * profile->resolution;
    struct aggstats_op_profile op = {.calls = counters->calls, .total_cycles = counters->total_cycles};
    text_name_copy(op.name, name);
    op.buckets = malloc(bucket_count * sizeof(*op.buckets));
    if (!op.buckets)
        return -ENOMEM;
    memcpy(op.buckets, counters->buckets, bucket_count * sizeof(*op.buckets));
    for (unsigned bucket = 0; bucket < bucket_count; bucket++)
        take_excess(&op, bucket, profile->resolution, &left[bucket]);
    if (op.calls == 0) {
        free(op.buckets);
        return 0;
    }
    if (op.calls < counters->calls)
        limit_total(&op, profile->resolution);
    profile->ops[profile->op_count++] = op;
    return 0;
}

int group_show(struct groups_showing *showing, const struct group *group) {
    struct aggstats_profile *profile = showing->profile;
    size_t bucket_count = 64 * (size_t)profile->resolution;
    struct aggstats_group *shown =
        profile_add_group(profile, showing->grouping, group->who, group->identity.id, group->identity.name);
    if (!shown)
        return -ENOMEM;
    shown->profile.ops = calloc(showing->op_count, sizeof(*shown->profile.ops));
    int err = shown->profile.ops ? 0 : -ENOMEM;
    for (unsigned op = 0; op < showing->op_count && err == 0; op++)
        if (group->ops[op])
            err = show_op(&shown->profile, showing->op_names[op], group->ops[op], &showing->left[op * bucket_count]);
    if (err == 0 && shown->profile.op_count == 0)
        profile_drop_last_group(profile);
    return err;
}

/* What the whole has of each op. */
static uint64_t *buckets_of_all(const struct groups_showing *showing) {
    size_t bucket_count = 64 * (size_t)showing->profile->resolution;
    uint64_t *all = calloc(showing->op_count * bucket_count, sizeof(*all));
    for (unsigned op = 0; all && op < showing->op_count; op++) {
        const struct aggstats_op_profile *whole = profile_find_op(showing->profile, showing->op_names[op]);
        if (whole)
            memcpy(&all[op * bucket_count], whole->buckets, bucket_count * sizeof(*all));
    }
    return all;
}

int groups_show_begin(const struct groups *groups, const char (*op_names)[AGGSTATS_NAME_SIZE],
                      enum aggstats_grouping grouping, struct aggstats_profile *profile,
                      struct groups_showing *ret_showing) {
    *ret_showing = (struct groups_showing){
        .profile = profile, .grouping = grouping, .op_names = op_names, .op_count = groups->layout.op_count};
    ret_showing->left = buckets_of_all(ret_showing);
    int err = ret_showing->left ? 0 : -ENOMEM;
    for (unsigned i = 0; i < groups->count && err == 0; i++)
        if (groups->places[i].seen > 0)
            err = group_show(ret_showing, &groups->places[i]);
    if (err == 0)
        err = group_show(ret_showing, &groups->kernel);
    return err;
}

void groups_show_end(struct groups_showing *showing) {
    profile_sort_groups(showing->profile);
    free(showing->left);
}

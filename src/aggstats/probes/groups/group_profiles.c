/* Latency by caller. */
#include "group_profiles.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "aggstats/counted.h"
#include "base.h"
#include "profile_owned.h"
#include "text_format.h"

/* ---- Life cycle ---- */

int group_init(struct group *group, enum aggstats_who who, unsigned op_count) {
    *group = (struct group){.who = who, .ops = calloc(2 * (size_t)op_count, sizeof(struct aggstats_counters *))};
    return group->ops ? 0 : -ENOMEM;
}

static void forget(struct aggstats_counters **calls) {
    free(*calls);
    *calls = NULL;
}

void group_forget_calls(struct group *group, unsigned op_count) {
    for (unsigned i = 0; group->ops && i < 2 * op_count; i++)
        forget(&group->ops[i]);
    group->cache = group->cache_shown = (struct aggstats_cache){0};
}

void group_finish(struct group *group, unsigned op_count) {
    group_forget_calls(group, op_count);
    free(group->ops);
}

int groups_init(struct groups *groups, const struct layout *layout, unsigned count_max) {
    *groups = (struct groups){.layout = *layout, .count_max = count_max};
    groups->places = count_max > 0 ? calloc(count_max, sizeof(*groups->places)) : NULL;
    int err =
        groups->places || count_max == 0 ? group_init(&groups->kernel, AGGSTATS_WHO_KERNEL, layout->op_count) : -ENOMEM;
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

struct group *groups_find(struct groups *groups, const struct aggstats_identity *identity, bool has_ids) {
    for (unsigned i = 0; i < groups->count; i++) {
        struct group *group = &groups->places[i];
        const struct aggstats_identity *own = &group->identity;
        if (group->seen > 0 && (has_ids ? own->id == identity->id && own->instance == identity->instance
                                        : strcmp(own->name, identity->name) == 0))
            return group;
    }
    return NULL;
}

struct group *groups_take_unused(struct groups *groups) {
    struct group *group = &groups->places[groups->count];
    assert(groups->count < groups->count_max);
    if (group_init(group, AGGSTATS_WHO_ID, groups->layout.op_count) < 0)
        return NULL;
    groups->count++;
    return group;
}

/* Takes a free place; if there is none, that of the least recently seen group. */
struct group *groups_add(struct groups *groups, const struct aggstats_identity *identity, bool *ret_was_folded) {
    assert(groups->places && groups->count_max > 0);
    struct group *group = groups->count > 0 ? &groups->places[0] : NULL;
    for (unsigned i = 1; i < groups->count; i++)
        if (groups->places[i].seen < group->seen)
            group = &groups->places[i];
    *ret_was_folded = group && group->seen > 0 && groups->count == groups->count_max;
    if (*ret_was_folded)
        groups_unite(groups, group, &groups->other);
    else if (!group || group->seen > 0)
        group = groups_take_unused(groups);
    if (!group)
        return NULL;
    group->identity = *identity;
    group->seen = ++groups->calls;
    return group;
}

/* ---- Counting ---- */

/* Without the counters of aggstats_beside(), which groups do not have. */
static struct aggstats_counters *create_counters(const struct layout *layout) {
    return calloc(1, sizeof(struct aggstats_counters) + layout_bucket_count(layout) * sizeof(uint64_t));
}

static struct aggstats_counters *calls_of(const struct groups *groups, struct group *group, unsigned op) {
    if (!group->ops[op])
        group->ops[op] = create_counters(&groups->layout);
    return group->ops[op];
}

static void add_cache(struct aggstats_cache *to, const struct aggstats_cache *from) {
    to->read_bytes += from->read_bytes;
    to->missed_bytes += from->missed_bytes;
    to->unjudged_bytes += from->unjudged_bytes;
}

void group_add_cache(struct group *group, const struct aggstats_cache *cache) {
    add_cache(&group->cache, cache);
}

int groups_add_bucket(struct groups *groups, struct group *group, unsigned op, const struct group_calls *more) {
    struct aggstats_counters *calls = calls_of(groups, group, op);
    if (!calls)
        return -ENOMEM;
    calls->calls += more->calls;
    calls->total_cycles += more->cycles;
    calls->buckets[more->bucket] += more->calls;
    return 0;
}

void groups_count_calls(struct groups *groups, struct group *group, unsigned op, const struct group_calls *more) {
    group->seen = ++groups->calls;
    groups_add_bucket(groups, group, op, more);
}

static void add_calls(struct aggstats_counters *to, const struct aggstats_counters *from, unsigned bucket_count) {
    to->calls += from->calls;
    to->total_cycles += from->total_cycles;
    for (unsigned bucket = 0; bucket < bucket_count; bucket++)
        to->buckets[bucket] += from->buckets[bucket];
}

void groups_unite(struct groups *groups, struct group *from, struct group *into) {
    unsigned bucket_count = layout_bucket_count(&groups->layout);
    for (unsigned i = 0; i < 2 * groups->layout.op_count; i++) {
        if (from->ops[i] && into->ops[i])
            add_calls(into->ops[i], from->ops[i], bucket_count);
        else if (from->ops[i])
            into->ops[i] = steal_pointer(&from->ops[i]);
    }
    add_cache(&into->cache, &from->cache);
    add_cache(&into->cache_shown, &from->cache_shown);
    group_forget_calls(from, groups->layout.op_count);
    from->seen = 0;
}

int groups_add_calls(const struct groups *groups, const struct group *from, struct group *into) {
    for (unsigned op = 0; op < groups->layout.op_count; op++) {
        struct aggstats_counters *calls = from->ops[op] ? calls_of(groups, into, op) : NULL;
        if (calls)
            add_calls(calls, from->ops[op], layout_bucket_count(&groups->layout));
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

/* ---- Rotation ---- */

void group_end_marks(struct group *group, const struct layout *layout, bool take) {
    struct aggstats_counters **shown = group->ops + layout->op_count;
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct aggstats_counters *calls = group->ops[op];
        if (shown[op] && take) {
            calls->calls -= shown[op]->calls;
            calls->total_cycles -= shown[op]->total_cycles;
            for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
                calls->buckets[bucket] -= shown[op]->buckets[bucket];
            if (calls->calls == 0)
                forget(&group->ops[op]);
        }
        forget(&shown[op]);
    }
    if (take) {
        group->cache.read_bytes -= group->cache_shown.read_bytes;
        group->cache.missed_bytes -= group->cache_shown.missed_bytes;
        group->cache.unjudged_bytes -= group->cache_shown.unjudged_bytes;
    }
    group->cache_shown = (struct aggstats_cache){0};
}

void groups_end_marks(struct groups *groups, bool take) {
    for (unsigned i = 0; i < groups->count; i++)
        group_end_marks(&groups->places[i], &groups->layout, take);
    group_end_marks(&groups->kernel, &groups->layout, take);
    group_end_marks(&groups->other, &groups->layout, take);
}

/* ---- Showing ---- */

static int mark(const struct groups_showing *showing, const struct aggstats_op_profile *op,
                struct aggstats_counters **ret_shown) {
    struct aggstats_counters *shown = create_counters(showing->layout);
    if (!shown)
        return -ENOMEM;
    shown->calls = op->calls;
    shown->total_cycles = op->total_cycles;
    memcpy(shown->buckets, op->buckets, layout_bucket_count(showing->layout) * sizeof(*op->buckets));
    *ret_shown = shown;
    return 0;
}

/* Shows no more than the whole has left: a call may have ended just before the window did, and have come here just
 * after. Such a call is known by its bucket. */
static int show_op(struct groups_showing *showing, struct group *group, unsigned op_number,
                   struct aggstats_profile *profile) {
    const struct aggstats_counters *calls = group->ops[op_number];
    const unsigned bucket_count = layout_bucket_count(showing->layout);
    uint64_t *left = &showing->left[op_number * (size_t)bucket_count];
    struct aggstats_op_profile op = {.calls = calls->calls, .total_cycles = calls->total_cycles};
    text_name_copy(op.name, showing->op_names[op_number]);
    op.buckets = malloc(bucket_count * sizeof(*op.buckets));
    if (!op.buckets)
        return -ENOMEM;
    memcpy(op.buckets, calls->buckets, bucket_count * sizeof(*op.buckets));
    for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
        const uint64_t excess = op.buckets[bucket] > left[bucket] ? op.buckets[bucket] - left[bucket] : 0;
        op.buckets[bucket] -= excess;
        op.calls -= excess;
        op.total_cycles -= excess * (uint64_t)aggstats_bucket_lower(bucket, profile->resolution);
        left[bucket] -= op.buckets[bucket];
    }
    if (op.calls == 0) {
        free(op.buckets);
        return 0;
    }
    if (op.calls < calls->calls) /* the exact latency of a part of the calls is unknown */
        profile_limit_total(&op, profile->resolution);
    profile->ops[profile->op_count++] = op;
    return showing->marks ? mark(showing, &op, &group->ops[showing->layout->op_count + op_number]) : 0;
}

int group_show(struct groups_showing *showing, struct group *group) {
    struct aggstats_profile *profile = showing->profile;
    struct aggstats_group *shown =
        profile_add_group(profile, showing->grouping, group->who, group->identity.id, group->identity.name);
    if (!shown)
        return -ENOMEM;
    shown->missed_cycles_max = group->missed_cycles_max;
    shown->profile.has_cache = profile->has_cache && aggstats_grouping_has_objects(showing->grouping);
    shown->profile.cache = group->cache;
    if (showing->marks)
        group->cache_shown = group->cache;
    /* at once: arrays that grow op by op leave holes in the heap, which the C library keeps */
    shown->profile.ops = calloc(showing->layout->op_count, sizeof(*shown->profile.ops));
    int err = shown->profile.ops ? 0 : -ENOMEM;
    for (unsigned op = 0; op < showing->layout->op_count && err == 0; op++)
        if (group->ops[op])
            err = show_op(showing, group, op, &shown->profile);
    if (err == 0 && shown->profile.op_count == 0)
        profile_drop_last_group(profile);
    return err;
}

int groups_show_begin(struct groups *groups, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                      enum aggstats_grouping grouping, struct aggstats_profile *profile,
                      struct groups_showing *ret_showing) {
    const size_t bucket_count = layout_bucket_count(&groups->layout);
    uint64_t *left = calloc(groups->layout.op_count * bucket_count, sizeof(*left));
    *ret_showing = (struct groups_showing){.profile = profile,
                                           .grouping = grouping,
                                           .op_names = op_names,
                                           .layout = &groups->layout,
                                           .marks = marks,
                                           .left = left};
    for (unsigned op = 0; left && op < groups->layout.op_count; op++) {
        const struct aggstats_op_profile *whole = profile_find_op(profile, op_names[op]);
        if (whole)
            memcpy(&left[op * bucket_count], whole->buckets, bucket_count * sizeof(*left));
    }
    int err = left ? 0 : -ENOMEM;
    for (unsigned i = 0; i < groups->count && err == 0; i++)
        if (groups->places[i].seen > 0)
            err = group_show(ret_showing, &groups->places[i]);
    if (err == 0)
        err = group_show(ret_showing, &groups->kernel);
    return err;
}

/* The op's latency in all groups that have been shown. */
static uint64_t shown_cycles(const struct groups_showing *showing, const char *op_name) {
    uint64_t cycles = 0;
    for (size_t i = 0; i < showing->profile->group_count; i++) {
        const struct aggstats_group *group = &showing->profile->groups[i];
        const struct aggstats_op_profile *op =
            group->grouping == showing->grouping ? profile_find_op(&group->profile, op_name) : NULL;
        cycles += op ? op->total_cycles : 0;
    }
    return cycles;
}

static int add_rest_of(const struct groups_showing *showing, struct groups *groups, unsigned op) {
    const unsigned bucket_count = layout_bucket_count(showing->layout);
    const uint64_t *left = &showing->left[op * (size_t)bucket_count];
    const char *name = showing->op_names[op];
    const struct aggstats_op_profile *whole = profile_find_op(showing->profile, name);
    const uint64_t shown = shown_cycles(showing, name);
    uint64_t cycles = whole && whole->total_cycles > shown ? whole->total_cycles - shown : 0;
    int err = 0;
    for (unsigned bucket = 0; bucket < bucket_count && err == 0; bucket++) {
        const struct group_calls calls = {.calls = left[bucket], .cycles = cycles, .bucket = bucket};
        if (left[bucket] == 0)
            continue;
        err = groups_add_bucket(groups, &groups->other, op, &calls);
        cycles = 0; /* the total is the op's */
    }
    return err;
}

/* Shows one more group, `other`: the calls of the whole profile that no group has. */
static int show_rest(struct groups_showing *showing, struct group_calls *ret_sum) {
    struct groups rest = {0};
    struct group_calls sum = {0};
    int err = groups_init(&rest, showing->layout, 0);
    for (unsigned op = 0; op < showing->layout->op_count && err == 0; op++) {
        err = add_rest_of(showing, &rest, op);
        sum.calls += rest.other.ops[op] ? rest.other.ops[op]->calls : 0;
        sum.cycles += rest.other.ops[op] ? rest.other.ops[op]->total_cycles : 0;
    }
    if (err == 0)
        err = group_show(showing, &rest.other);
    groups_finish(&rest);
    *ret_sum = sum;
    return err;
}

int groups_show_rest(struct groups_showing *showing, bool may_miss) {
    struct group_calls sum;
    const int err = show_rest(showing, &sum);
    for (size_t i = 0; i < showing->profile->group_count && may_miss; i++)
        if (showing->profile->groups[i].grouping == showing->grouping &&
            showing->profile->groups[i].who == AGGSTATS_WHO_ID)
            showing->profile->groups[i].missed_cycles_max = sum.cycles;
    return err;
}

/* The last group of a profile becomes part of the same group before it, if there is one. */
static int unite_last(struct aggstats_profile *profile) {
    struct aggstats_group *last = &profile->groups[profile->group_count - 1];
    int err = 0;
    for (struct aggstats_group *group = profile->groups; group < last; group++) {
        if (group->grouping != last->grouping || group->who != last->who)
            continue;
        err = aggstats_profile_add(&group->profile, &last->profile);
        aggstats_profile_finish(&last->profile);
        profile->group_count--;
        last = group;
    }
    for (size_t op = 0; op < last->profile.op_count; op++)
        profile_limit_total(&last->profile.ops[op], profile->resolution);
    return err;
}

int groups_show_unseen(struct groups_showing *showing, uint64_t *ret_calls) {
    const bool marks = showing->marks;
    struct group_calls sum;
    showing->marks = false; /* only what is subtracted from groups later is marked */
    int err = show_rest(showing, &sum);
    showing->marks = marks;
    if (err == 0 && sum.calls > 0)
        err = unite_last(showing->profile);
    *ret_calls = sum.calls;
    return err;
}

void groups_show_end(struct groups_showing *showing) {
    counted_sort_groups(showing->profile);
    free(showing->left);
}

/* Differences of groups between two snapshots. */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"
#include "top_model.h"

/* ---- A group and its earlier state -------------------------------------------------------------- */

static wide_count ended_calls(const struct aggstats_profile *profile) {
    wide_count ended = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        ended += figures_finished(&profile->ops[i], profile->resolution);
    return ended;
}

/* The number of calls of `part` that are not in `whole`, bucket by bucket. */
static uint64_t calls_missing(const struct aggstats_profile *whole, const struct aggstats_profile *part) {
    uint64_t missing = 0;
    for (size_t i = 0; i < part->op_count; i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(whole, part->ops[i].name);
        for (unsigned bucket = 0; bucket < 64 * part->resolution; bucket++) {
            uint64_t wanted = part->ops[i].buckets[bucket];
            uint64_t there = op ? op->buckets[bucket] : 0;
            missing += wanted > there ? wanted - there : 0;
        }
    }
    return missing;
}

/* The nearest total that the buckets allow. */
static uint64_t possible_total(const struct aggstats_op_profile *op, unsigned resolution, uint64_t total_cycles) {
    const struct figures_bounds bounds = figures_total_bounds(op, resolution);
    if ((long double)total_cycles < bounds.lower_cycles)
        return bounds.lower_cycles < 0x1p64L ? (uint64_t)bounds.lower_cycles : UINT64_MAX;
    if ((long double)total_cycles > bounds.upper_cycles)
        return (uint64_t)bounds.upper_cycles;
    return total_cycles;
}

/* Subtracts as much of `before` as is there. */
static void reduce_op(struct aggstats_op_profile *op, const struct aggstats_op_profile *before, unsigned resolution) {
    op->calls = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        uint64_t *count = &op->buckets[bucket];
        *count -= before->buckets[bucket] < *count ? before->buckets[bucket] : *count;
        op->calls += *count;
    }
    uint64_t left_cycles = op->total_cycles > before->total_cycles ? op->total_cycles - before->total_cycles : 0;
    op->total_cycles = possible_total(op, resolution, left_cycles);
}

static void drop_uncalled_ops(struct aggstats_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->op_count; i++) {
        if (profile->ops[i].calls > 0)
            profile->ops[kept++] = profile->ops[i];
        else
            free(profile->ops[i].buckets); /* all that an op of a group has */
    }
    profile->op_count = kept;
}

static void reduce(struct aggstats_profile *profile, const struct aggstats_profile *before) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(before, profile->ops[i].name);
        if (op)
            reduce_op(&profile->ops[i], op, profile->resolution);
    }
    drop_uncalled_ops(profile);
    aggstats_profile_sort(profile);
}

/* ---- All groups --------------------------------------------------------------------------------- */

/* Groups of the later snapshot, which become differences. */
struct later {
    struct aggstats_group *groups;
    bool *is_taken; /* [count]: its earlier state is known */
    size_t count;
    struct aggstats_group *other[AGGSTATS_GROUPINGS]; /* `other`, with its increase since the earlier snapshot; NULL:
                                                       * there is none */
};

static bool is_alike(const struct aggstats_group *a, const struct aggstats_group *b) {
    bool has_ids = aggstats_grouping_has_ids(a->grouping);
    return a->grouping == b->grouping && a->who == b->who && a->id == b->id &&
           (has_ids || strcmp(a->name, b->name) == 0);
}

/* A number can occur twice: processes one after the other. Counts only grow, so the group that goes on has all calls of
 * the earlier one; of two such, the one that gained less is likelier. */
static struct aggstats_group *find_later(const struct later *later, const struct aggstats_group *before) {
    struct aggstats_group *found = NULL;
    uint64_t found_missing = 0;
    for (size_t i = 0; i < later->count; i++) {
        struct aggstats_group *group = &later->groups[i];
        if (later->is_taken[i] || !is_alike(group, before))
            continue;
        uint64_t missing = calls_missing(&group->profile, &before->profile);
        if (found && (missing > found_missing ||
                      (missing == found_missing && ended_calls(&group->profile) >= ended_calls(&found->profile))))
            continue;
        found = group;
        found_missing = missing;
    }
    return found;
}

/* Returns whether a group has been added to `other` since, which is assumed if most of its calls are there; then they
 * are subtracted there. Not all need be there: `other`, too, may show less than it has. */
static bool take_from_others(const struct later *later, const struct aggstats_group *before) {
    wide_count ended = ended_calls(&before->profile);
    struct aggstats_group *other = later->other[before->grouping];
    if (!other || calls_missing(&other->profile, &before->profile) > ended / 2)
        return false;
    reduce(&other->profile, &before->profile);
    return true;
}

/* If a group has vanished and its calls are not in `other`, its callers were not identified yet: that lasts only an
 * instant, and concerns a few calls. */
static void reduce_group(const struct later *later, const struct aggstats_group *before) {
    struct aggstats_group *group = find_later(later, before);
    if (group)
        later->is_taken[group - later->groups] = true;
    bool is_whole = group && calls_missing(&group->profile, &before->profile) == 0;
    bool began_anew = !is_whole && before->who == AGGSTATS_WHO_ID && take_from_others(later, before);
    if (group && !began_anew)
        reduce(&group->profile, &before->profile);
}

static void reduce_others(struct later *later, const struct aggstats_profile *before) {
    for (size_t i = 0; i < later->count; i++)
        if (later->groups[i].who == AGGSTATS_WHO_OTHER)
            later->other[later->groups[i].grouping] = &later->groups[i];
    for (size_t i = 0; i < before->group_count; i++)
        if (before->groups[i].who == AGGSTATS_WHO_OTHER)
            reduce_group(later, &before->groups[i]);
}

static int reduce_groups(struct aggstats_profile *profile, const struct aggstats_profile *before) {
    CLEANUP_FREE bool *is_taken = calloc(profile->group_count + 1, sizeof(*is_taken));
    struct later later = {.groups = profile->groups, .is_taken = is_taken, .count = profile->group_count};
    if (!is_taken)
        return -ENOMEM;
    reduce_others(&later, before);
    for (size_t i = 0; i < before->group_count; i++)
        if (before->groups[i].who != AGGSTATS_WHO_OTHER)
            reduce_group(&later, &before->groups[i]);
    return 0;
}

int groups_difference(const struct aggstats_profile *before, const struct aggstats_profile *now,
                      struct aggstats_profile *ret_difference) {
    struct aggstats_profile later;
    if (!before)
        return aggstats_profile_copy(now, ret_difference);
    int error = top_subtract(before, now, ret_difference);
    if (error)
        return error;
    error = aggstats_profile_copy(now, &later);
    if (!error) {
        ret_difference->groupings = later.groupings;
        ret_difference->groups = steal_pointer(&later.groups);
        ret_difference->group_count = later.group_count;
        later.group_count = 0;
        aggstats_profile_finish(&later);
        error = reduce_groups(ret_difference, before);
    }
    if (error)
        aggstats_profile_finish(ret_difference);
    return error;
}

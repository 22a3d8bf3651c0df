/* Adding groups up. */
#include "merging_groups.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"

static uint64_t saturating_add(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t total_of(const struct aggstats_profile *profile) {
    uint64_t total = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        total = saturating_add(total, profile->ops[i].total_cycles);
    return total;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

#define ROWS_MAX (MERGING_GROUPS_MAX + 2) /* with "kernel" and "other" */
#define CHAINS 2048U                      /* a power of two */

/* To find rows by their hash, and the one with least latency, while there are many more groups than rows. */
struct merging_index {
    unsigned firsts[CHAINS];   /* numbers of rows, as merging_group.next */
    uint64_t cycles[ROWS_MAX]; /* latency of each row; UINT64_MAX: it is not dropped */
};

static struct merging_group *find_row(struct merging_kind *kind, const struct aggstats_group *group, uint64_t hash) {
    for (unsigned number = kind->index ? kind->index->firsts[hash % CHAINS] : 0; number > 0;) {
        struct merging_group *row = &kind->rows[number - 1];
        if (row->group.who == group->who && row->hash == hash && row->group.id == group->id &&
            (group->who != AGGSTATS_WHO_ID || strcmp(row->group.name, group->name) == 0))
            return row;
        number = row->next;
    }
    return NULL;
}

/* Empty, in a place that is free. */
static void fill_row(struct merging_kind *kind, struct merging_group *row, const struct aggstats_group *group,
                     uint64_t hash) {
    const bool is_named = group->who == AGGSTATS_WHO_ID;
    const size_t place = (size_t)(row - kind->rows);
    unsigned *first = &kind->index->firsts[hash % CHAINS];
    *row = (struct merging_group){
        .group = *group, .hash = hash, .next = *first, .carried_cycles = kind->evicted_cycles_max};
    row->group.missed_cycles_max = 0;
    row->group.profile = (struct aggstats_profile){.resolution = 0};
    *first = (unsigned)place + 1;
    kind->index->cycles[place] = is_named ? 0 : UINT64_MAX;
    kind->named_count += is_named;
}

/* Returns NULL without memory */
static struct merging_group *new_row(struct merging_kind *kind, const struct aggstats_group *group, uint64_t hash) {
    if (!kind->rows)
        kind->rows = calloc(ROWS_MAX, sizeof(*kind->rows));
    if (!kind->index)
        kind->index = calloc(1, sizeof(*kind->index));
    if (!kind->rows || !kind->index)
        return NULL;
    struct merging_group *row = &kind->rows[kind->count++];
    fill_row(kind, row, group, hash);
    return row;
}

static int add_to_others(struct merging_kind *kind, enum aggstats_grouping grouping,
                         const struct aggstats_profile *calls) {
    const struct aggstats_group others = {.grouping = grouping, .who = AGGSTATS_WHO_OTHER};
    const uint64_t hash = hash_text(HASH_BEGIN, "");
    struct merging_group *row = find_row(kind, &others, hash);
    if (!row)
        row = new_row(kind, &others, hash);
    return row ? aggstats_profile_add(&row->group.profile, calls) : -ENOMEM;
}

static void note_evicted(struct merging_kind *kind, uint64_t carried_cycles, uint64_t cycles) {
    uint64_t sum = saturating_add(carried_cycles, cycles);
    if (sum > kind->evicted_cycles_max)
        kind->evicted_cycles_max = sum;
}

/* If there are too many, the cheapest is dropped, which may be this one: its calls are added to `other`, and its place is
 * free. Returns NULL if it is, or after an error */
static struct merging_group *make_room(struct merging_kind *kind, const struct aggstats_group *group, uint64_t hash,
                                       int *ret_error) {
    const uint64_t own_cycles = total_of(&group->profile);
    const uint64_t *cycles = kind->index->cycles;
    assert(cycles); /* there are rows, as many as may be */
    size_t place = 0;
    for (size_t i = 1; i < kind->count; i++)
        place = cycles[i] < cycles[place] ? i : place;
    struct merging_group *least = &kind->rows[place];
    if (own_cycles <= cycles[place]) {
        *ret_error = add_to_others(kind, group->grouping, &group->profile);
        note_evicted(kind, kind->evicted_cycles_max, own_cycles);
        return NULL;
    }
    const uint64_t least_cycles = cycles[place];
    *ret_error = add_to_others(kind, least->group.grouping, &least->group.profile);
    if (*ret_error)
        return NULL;
    note_evicted(kind, least->carried_cycles, least_cycles);
    unsigned *link = &kind->index->firsts[least->hash % CHAINS];
    while (*link != place + 1)
        link = &kind->rows[*link - 1].next;
    *link = least->next;
    kind->named_count--; /* "kernel" and "other" are never dropped */
    aggstats_profile_finish(&least->group.profile);
    fill_row(kind, least, group, hash);
    return least;
}

/* others_cycles: of its profile */
static int add_group(struct merging_groups *groups, const struct aggstats_group *group, uint64_t others_cycles) {
    struct merging_kind *kind = &groups->kinds[group->grouping];
    uint64_t hash = hash_text(HASH_BEGIN, group->name);
    int error = 0;
    struct merging_group *row = find_row(kind, group, hash);
    if (!row && group->who == AGGSTATS_WHO_ID && kind->named_count >= MERGING_GROUPS_MAX)
        row = make_room(kind, group, hash, &error);
    else if (!row && !(row = new_row(kind, group, hash)))
        error = -ENOMEM;
    if (!row)
        return error;
    if (row->profile_number != groups->profile_count) {
        row->profile_number = groups->profile_count;
        row->others_seen_cycles = saturating_add(row->others_seen_cycles, others_cycles);
    }
    row->group.missed_cycles_max = saturating_add(row->group.missed_cycles_max, group->missed_cycles_max);
    error = aggstats_profile_add(&row->group.profile, &group->profile);
    if (row->group.who == AGGSTATS_WHO_ID)
        kind->index->cycles[row - kind->rows] = total_of(&row->group.profile);
    return error;
}

/* ---- Kinds -------------------------------------------------------------------------------------- */

/* The kind and name of a group in a sum. A number that means another group on another machine must not stay: a process
 * becomes its program. */
static struct aggstats_group as_in_sum(const struct aggstats_group *group) {
    struct aggstats_group shown = *group;
    if (group->grouping != AGGSTATS_BY_PROCESS)
        return shown;
    shown.grouping = AGGSTATS_BY_PROGRAM;
    shown.id = 0;
    if (shown.who == AGGSTATS_WHO_ID && !shown.name[0])
        shown.who = AGGSTATS_WHO_OTHER;
    return shown;
}

/* Groups of programs are used for programs, if there are any. */
static bool is_of_kind(const struct aggstats_profile *profile, const struct aggstats_group *group,
                       enum aggstats_grouping grouping) {
    if (group->grouping == AGGSTATS_BY_PROCESS)
        return grouping == AGGSTATS_BY_PROGRAM && !(profile->groupings & 1U << AGGSTATS_BY_PROGRAM);
    return group->grouping == grouping;
}

static int add_kind(struct merging_groups *groups, const struct aggstats_profile *profile,
                    enum aggstats_grouping grouping) {
    struct merging_kind *kind = &groups->kinds[grouping];
    const bool is_new = kind->count == 0 && !kind->has_remainder;
    uint64_t others_cycles = 0;
    int error = 0;
    for (size_t i = 0; i < profile->group_count; i++)
        if (is_of_kind(profile, &profile->groups[i], grouping) &&
            as_in_sum(&profile->groups[i]).who == AGGSTATS_WHO_OTHER)
            others_cycles = saturating_add(others_cycles, total_of(&profile->groups[i].profile));
    if (is_new && groups->total_cycles > 0) {
        kind->has_remainder = true;
        kind->others_cycles = groups->total_cycles;
    }
    for (size_t i = 0; i < profile->group_count && !error; i++) {
        const struct aggstats_group group = as_in_sum(&profile->groups[i]);
        if (is_of_kind(profile, &profile->groups[i], grouping))
            error = add_group(groups, &group, others_cycles);
    }
    kind->others_cycles = saturating_add(kind->others_cycles, others_cycles);
    return error;
}

int merging_groups_add(struct merging_groups *groups, const struct aggstats_profile *profile) {
    uint64_t total_cycles = total_of(profile);
    int error = 0;
    groups->profile_count++;
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS && !error; grouping++) {
        struct merging_kind *kind = &groups->kinds[grouping];
        bool has_kind = false;
        for (size_t i = 0; i < profile->group_count && !has_kind; i++)
            has_kind = is_of_kind(profile, &profile->groups[i], (enum aggstats_grouping)grouping);
        if (has_kind) {
            error = add_kind(groups, profile, (enum aggstats_grouping)grouping);
        } else if (kind->count > 0 && total_cycles > 0) {
            kind->has_remainder = true;
            kind->others_cycles = saturating_add(kind->others_cycles, total_cycles);
        }
    }
    groups->total_cycles = saturating_add(groups->total_cycles, total_cycles);
    return error;
}

/* ---- The result --------------------------------------------------------------------------------- */

static uint64_t missed_of(const struct merging_kind *kind, const struct merging_group *row) {
    uint64_t not_seen = kind->others_cycles - row->others_seen_cycles;
    if (kind->others_cycles == UINT64_MAX || row->group.who != AGGSTATS_WHO_ID)
        not_seen = row->group.who == AGGSTATS_WHO_ID ? UINT64_MAX : 0;
    return saturating_add(saturating_add(row->group.missed_cycles_max, row->carried_cycles), not_seen);
}

/* At the sum's resolution. */
static int append_calls(struct aggstats_profile *sum, const struct aggstats_group *group, uint64_t missed_cycles_max) {
    struct aggstats_group *given = &sum->groups[sum->group_count++];
    *given = *group;
    given->missed_cycles_max = missed_cycles_max;
    given->profile = (struct aggstats_profile){
        .resolution = sum->resolution, .clock = sum->clock, .has_cache = group->profile.has_cache};
    int error = aggstats_profile_add(&given->profile, &group->profile);
    given->profile.clock = sum->clock;
    return error;
}

/* Calls of the whole that no group of that kind has. */
static int find_remainder(const struct aggstats_profile *sum, enum aggstats_grouping grouping,
                          struct aggstats_profile *ret_rest) {
    const struct aggstats_profile whole = {
        .resolution = sum->resolution, .clock = sum->clock, .ops = sum->ops, .op_count = sum->op_count};
    *ret_rest = (struct aggstats_profile){.resolution = sum->resolution, .clock = sum->clock};
    int error = aggstats_profile_add(ret_rest, &whole);
    for (size_t i = 0; i < ret_rest->op_count && !error; i++) {
        struct aggstats_op_profile *op = &ret_rest->ops[i];
        for (size_t j = 0; j < sum->group_count; j++) {
            const struct aggstats_op_profile *of_group =
                sum->groups[j].grouping == grouping ? aggstats_profile_op(&sum->groups[j].profile, op->name) : NULL;
            for (unsigned bucket = 0; of_group && bucket < 64 * sum->resolution; bucket++)
                op->buckets[bucket] -=
                    of_group->buckets[bucket] < op->buckets[bucket] ? of_group->buckets[bucket] : op->buckets[bucket];
            if (of_group)
                op->total_cycles -=
                    of_group->total_cycles < op->total_cycles ? of_group->total_cycles : op->total_cycles;
        }
        op->calls = figures_finished(op, sum->resolution);
        figures_limit_total(op, sum->resolution);
    }
    return error;
}

static void make_plain(struct aggstats_profile *rest) {
    size_t kept = 0;
    for (size_t i = 0; i < rest->op_count; i++) {
        struct aggstats_op_profile *op = &rest->ops[i];
        free(op->longest_path);
        op->longest_path = NULL;
        op->longest_cycles = op->longest_object = op->asked_bytes = op->moved_bytes = 0;
        memset(op->failures, 0, sizeof(op->failures));
        if (op->calls > 0)
            rest->ops[kept++] = *op;
        else
            free(op->buckets);
    }
    rest->op_count = kept;
}

/* Calls of profiles without such groups are added to `other`. */
static int give_remainder(struct aggstats_profile *sum, enum aggstats_grouping grouping) {
    struct aggstats_profile rest;
    struct aggstats_group *others = NULL;
    int error = find_remainder(sum, grouping, &rest);
    make_plain(&rest);
    for (size_t i = 0; i < sum->group_count; i++)
        if (sum->groups[i].grouping == grouping && sum->groups[i].who == AGGSTATS_WHO_OTHER)
            others = &sum->groups[i];
    if (!error && others) {
        error = aggstats_profile_add(&others->profile, &rest);
    } else if (!error && rest.op_count > 0) {
        const struct aggstats_group whose = {.grouping = grouping, .who = AGGSTATS_WHO_OTHER, .profile = rest};
        error = append_calls(sum, &whose, 0);
    }
    aggstats_profile_finish(&rest);
    return error;
}

/* The order must not depend on that of the profiles. */
static int compare_groups(const void *left, const void *right) {
    const struct aggstats_group *a = left;
    const struct aggstats_group *b = right;
    uint64_t a_cycles = total_of(&a->profile);
    uint64_t b_cycles = total_of(&b->profile);
    if (a->grouping != b->grouping)
        return a->grouping < b->grouping ? -1 : 1;
    if (a_cycles != b_cycles)
        return a_cycles > b_cycles ? -1 : 1;
    if (a->who != b->who)
        return a->who < b->who ? -1 : 1;
    return a->id != b->id ? (a->id < b->id ? -1 : 1) : strcmp(a->name, b->name);
}

int merging_groups_give(const struct merging_groups *groups, struct aggstats_profile *sum) {
    size_t count = 0;
    int error = 0;
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS; grouping++)
        count += groups->kinds[grouping].count > 0 ? groups->kinds[grouping].count + 1 : 0; /* with its remainder */
    sum->groups = count > 0 ? calloc(count, sizeof(*sum->groups)) : NULL;
    if (count > 0 && !sum->groups)
        return -ENOMEM;
    for (unsigned i = AGGSTATS_UNGROUPED + 1; i < AGGSTATS_GROUPINGS && !error; i++) {
        const struct merging_kind *kind = &groups->kinds[i];
        const enum aggstats_grouping grouping = (enum aggstats_grouping)i;
        const bool has_missed = aggstats_grouping_has_objects(grouping);
        for (size_t row = 0; row < kind->count && !error; row++)
            error = append_calls(sum, &kind->rows[row].group, has_missed ? missed_of(kind, &kind->rows[row]) : 0);
        if (kind->count > 0)
            sum->groupings |= 1U << grouping;
        if (!error && kind->has_remainder && kind->count > 0)
            error = give_remainder(sum, grouping);
    }
    if (error)
        merging_groups_drop(sum);
    else if (count > 0)
        qsort(sum->groups, sum->group_count, sizeof(*sum->groups), compare_groups);
    return error;
}

void merging_groups_drop(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->group_count; i++)
        aggstats_profile_finish(&profile->groups[i].profile);
    free(profile->groups);
    profile->groups = NULL;
    profile->group_count = 0;
    profile->groupings = 0;
}

void merging_groups_finish(struct merging_groups *groups) {
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS; grouping++) {
        struct merging_kind *kind = &groups->kinds[grouping];
        for (size_t i = 0; i < kind->count; i++)
            aggstats_profile_finish(&kind->rows[i].group.profile);
        free(kind->rows);
        free(kind->index);
    }
    *groups = (struct merging_groups){.profile_count = 0};
}

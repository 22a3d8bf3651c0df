/* From calls to the groups of one grouping. */
#include "grouping_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "base.h"

static_assert(AGGSTATS_GROUPS_MAX <= CALLERS_MAX, "as many objects as callers may be due");

/* ---- Callers by key ----------------------------------------------------------------------------- */

/* Uses the top bits of the product with 2^64 / the golden ratio, which differ for neighbours and for multiples. */
static struct caller *set_of(struct callers *callers, uint64_t key) {
    return callers->sets[key * UINT64_C(11400714819323198485) / (UINT64_MAX / CALLERS_SETS + 1)];
}

/* NULL: unknown. */
static struct caller *callers_find(struct callers *callers, uint64_t key) {
    struct caller *set = set_of(callers, key);
    for (unsigned way = 0; way < CALLERS_WAYS; way++)
        if (set[way].is_used && set[way].key == key)
            return &set[way];
    return NULL;
}

/* The place for a new caller: a free place in its set, or the place of the least recently seen caller, identified callers
 * first. The calls of the displaced caller must be taken over. */
static struct caller *callers_place(struct callers *callers, uint64_t key) {
    struct caller *set = set_of(callers, key);
    struct caller *place = &set[0];
    for (unsigned way = 0; way < CALLERS_WAYS; way++) {
        if (!set[way].is_used)
            return &set[way];
        const bool is_known = set[way].group;
        if (is_known != (place->group != NULL) ? is_known : set[way].seen < place->seen)
            place = &set[way];
    }
    return place;
}

/* The group is deleted: its callers are unknown now. */
static void callers_forget(struct callers *callers, const struct group *group) {
    for (unsigned set = 0; set < CALLERS_SETS; set++)
        for (unsigned way = 0; way < CALLERS_WAYS; way++)
            if (callers->sets[set][way].group == group) {
                callers->sets[set][way].is_used = false;
                callers->sets[set][way].group = NULL;
            }
}

/* The callers to check now, because they have called since the last time. Returns how many */
static unsigned callers_due(const struct callers *callers, int64_t now_ns, uint64_t ret_keys[CALLERS_MAX]) {
    unsigned count = 0;
    for (unsigned set = 0; set < CALLERS_SETS; set++) {
        for (unsigned way = 0; way < CALLERS_WAYS; way++) {
            const struct caller *caller = &callers->sets[set][way];
            if (caller->is_used && caller->has_called && caller->check_ns <= now_ns)
                ret_keys[count++] = caller->key;
        }
    }
    return count;
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

struct grouping_table *grouping_table_create(const struct aggstats_grouping_options *options,
                                             struct first_calls *first_calls) {
    struct grouping_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->options = *options;
    table->first_calls = first_calls;
    table->has_ids = aggstats_grouping_has_ids(options->grouping);
    return table;
}

void grouping_table_end(struct grouping_table *table) {
    table->is_on = false;
    groups_finish(&table->groups);
    table->groups = (struct groups){.count = 0};
    for (unsigned i = 0; i < CALLERS_MAX && table->callers; i++)
        group_finish(&table->callers->sets[i / CALLERS_WAYS][i % CALLERS_WAYS].pending, table->callers->op_count);
    if (table->heavy)
        heavy_finish(table->heavy);
    free(steal_pointer(&table->callers));
    free(steal_pointer(&table->heavy));
}

void grouping_table_destroy(struct grouping_table *table) {
    if (!table)
        return;
    grouping_table_end(table);
    free(table);
}

int grouping_table_begin(struct grouping_table *table, const struct layout *layout) {
    int err = -ENOMEM;
    if (table->options.name_object) {
        table->heavy = calloc(1, sizeof(*table->heavy));
        if (table->heavy)
            err = heavy_init(table->heavy, layout, table->options.groups_max);
    } else {
        table->callers = calloc(1, sizeof(*table->callers));
        if (table->callers) {
            table->callers->op_count = layout->op_count;
            err = groups_init(&table->groups, layout, table->options.groups_max);
        }
    }
    if (err < 0)
        grouping_table_end(table);
    return err;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

/* The group of an identity, made if there is none. Another group may be folded into `other` for it, but not that of the
 * latest call. NULL: no memory. */
static struct group *find_or_add(struct grouping_table *table, const struct aggstats_identity *identity) {
    bool was_folded = false;
    struct aggstats_identity only_name = {.id = 0};
    if (!table->has_ids) {
        memcpy(only_name.name, identity->name, sizeof(only_name.name));
        identity = &only_name;
    }
    struct group *group = groups_find(&table->groups, identity, table->has_ids);
    if (!group)
        group = groups_add(&table->groups, identity, &was_folded);
    if (group && was_folded)
        callers_forget(table->callers, group);
    return group;
}

/* Used instead of the start time of a process if it is unknown: the process was not looked up in time and may still be
 * identified, or it has ended. Ended processes with the same name are one group. */
enum { START_NOT_ASKED = 0, START_GONE = 1 };
#define START_GONE_NAMED (UINT64_C(1) << 63)

/* Returns the group that its calls are in now; NULL: none of its own. */
static struct group *settle_unknown(struct grouping_table *table, struct caller *caller, bool is_gone) {
    struct aggstats_identity unknown = caller->pending.identity;
    if (caller->pending.seen == 0)
        return NULL;
    unknown.instance = START_NOT_ASKED;
    if (is_gone)
        unknown.instance = unknown.name[0] ? hash_text(HASH_BEGIN, unknown.name) | START_GONE_NAMED : START_GONE;
    struct group *group = table->has_ids ? find_or_add(table, &unknown) : &table->groups.other;
    groups_unite(&table->groups, &caller->pending, group ? group : &table->groups.other);
    return group;
}

/* Takes what was found out at the caller's first call: at least its name. A process is identified for good when its
 * start is known. */
static void take_first_identity(struct grouping_table *table, struct caller *caller) {
    struct aggstats_identity identity;
    if (!table->options.identify_first || !first_calls_find(table->first_calls, (uint32_t)caller->key, &identity))
        return;
    if (!table->has_ids)
        caller->group = find_or_add(table, &identity);
    else if (!caller->group)
        caller->pending.identity = identity;
}

/* A new caller, to be checked now, in the place of an old one. NULL: no memory; the place is free then */
static struct caller *put(struct grouping_table *table, struct caller *place, uint64_t key) {
    if (place->is_used && !place->group)
        settle_unknown(table, place, place->is_gone);
    struct group pending = place->pending;
    const int err = pending.ops ? 0 : group_init(&pending, AGGSTATS_WHO_ID, table->callers->op_count);
    pending.identity = (struct aggstats_identity){.id = key};
    *place = (struct caller){.key = key,
                             .is_used = err == 0,
                             .pending = pending,
                             .check_ns = read_clock_ns(CLOCK_MONOTONIC),
                             .check_interval_ns = CHECK_INTERVAL_MIN_NS};
    if (err < 0)
        return NULL;
    if (!table->options.identify)
        place->group = find_or_add(table, &place->pending.identity);
    else
        take_first_identity(table, place);
    return place;
}

/* A caller that was asked for at a first call again may be another thread with the same number. */
static struct group *group_of(struct grouping_table *table, const struct queued_call *call) {
    const bool is_by_uid = table->options.grouping == AGGSTATS_BY_UID;
    const uint64_t key = is_by_uid ? call->of.uid : call->of.thread;
    if (call->of.thread == 0 && key == 0)
        return &table->groups.kernel;
    struct caller *caller = callers_find(table->callers, key);
    const bool is_asked_again = caller && call->has_asked && table->options.identify_first;
    if (!caller) {
        caller = put(table, callers_place(table->callers, key), key);
    } else if (is_asked_again && caller->is_gone) {
        caller = put(table, caller, key);
    } else if (is_asked_again) {
        take_first_identity(table, caller);
        caller->check_ns = 0;
    }
    if (!caller)
        return &table->groups.other;
    caller->has_called = table->options.identify != NULL;
    caller->seen = table->groups.calls;
    return caller->group ? caller->group : &caller->pending;
}

/* The object for which a call on an object counts. */
static uint64_t object_of(const struct grouping_table *table, uint64_t object) {
    const struct aggstats_grouping_options *options = &table->options;
    return options->place_of && object ? options->place_of(options->context, object) : object;
}

void grouping_table_count(struct grouping_table *table, const struct queued_call *call) {
    const struct groups *groups = table->heavy ? &table->heavy->groups : &table->groups;
    const struct group_calls one = {.calls = 1,
                                    .cycles = call->latency_cycles,
                                    .bucket = aggstats_bucket_of(call->latency_cycles, groups->layout.resolution)};
    if (table->heavy)
        heavy_count_calls(table->heavy, object_of(table, call->of.object), call->op, &one);
    else
        groups_count_calls(&table->groups, group_of(table, call), call->op, &one);
}

/* A caller whose number means one identity for ever is identified at once, and then not again. */
static struct group *group_of_number(struct grouping_table *table, uint64_t number) {
    struct aggstats_identity identity = {0};
    struct caller *caller = callers_find(table->callers, number);
    if (!caller)
        caller = put(table, callers_place(table->callers, number), number);
    if (!caller)
        return &table->groups.other;
    caller->seen = table->groups.calls;
    if (!caller->group && table->options.identify(table->options.context, (uint32_t)number, &identity))
        caller->group = find_or_add(table, &identity);
    return caller->group ? caller->group : &table->groups.other;
}

void grouping_table_add_calls(struct grouping_table *table, const struct aggstats_group_calls *calls) {
    const struct groups *groups = table->heavy ? &table->heavy->groups : &table->groups;
    const struct group_calls added = {
        .calls = calls->calls,
        .cycles = calls->total_cycles,
        .bucket = aggstats_bucket_of(calls->total_cycles / calls->calls, groups->layout.resolution)};
    if (!table->heavy) {
        groups_count_calls(&table->groups, group_of_number(table, calls->caller), calls->op, &added);
        return;
    }
    const uint64_t object = object_of(table, calls->object);
    heavy_count_calls(table->heavy, object, calls->op, &added);
    heavy_add_cache(table->heavy, object, &calls->cache);
}

/* ---- Identifying callers ------------------------------------------------------------------------ */

/* Moves the calls made before the caller was identified to its group, unless it is another process now. They may also be
 * in a group with only a number, if the caller was displaced before it was identified. */
static void move_caller(struct grouping_table *table, struct caller *caller, const struct aggstats_identity *identity) {
    const struct aggstats_identity unknown = {.id = caller->pending.identity.id, .instance = START_NOT_ASKED};
    struct group *group = find_or_add(table, identity);
    if (!group)
        return;
    if (table->has_ids)
        group->identity = *identity; /* the name may have changed */
    group->seen = ++table->groups.calls;
    if (!caller->group)
        groups_unite(&table->groups, &caller->pending, group);
    struct group *before = !caller->group && table->has_ids ? groups_find(&table->groups, &unknown, true) : NULL;
    if (before && before != group) {
        callers_forget(table->callers, before);
        groups_unite(&table->groups, before, group);
    }
    caller->is_used = true; /* its earlier group may just have been folded */
    caller->group = group;
}

void grouping_table_note(struct grouping_table *table, uint64_t key, const struct aggstats_identity *identity) {
    struct caller *caller = table->is_on ? callers_find(table->callers, key) : NULL;
    if (!caller)
        return;
    caller->is_gone = !identity;
    if (identity)
        move_caller(table, caller, identity);
    else
        first_calls_forget(table->first_calls, (uint32_t)key);
    if (caller->is_gone && !caller->group)
        caller->group = settle_unknown(table, caller, true);
    caller->has_called = false; /* the longer the caller is known, the later the next check */
    caller->check_ns = read_clock_ns(CLOCK_MONOTONIC) + caller->check_interval_ns;
    if (caller->check_interval_ns < CHECK_INTERVAL_MAX_NS)
        caller->check_interval_ns *= 2;
}

unsigned grouping_table_due(const struct grouping_table *table, bool all, uint64_t ret_keys[CALLERS_MAX]) {
    if (!table->is_on)
        return 0;
    if (table->heavy)
        return heavy_due(table->heavy, read_clock_ns(CLOCK_MONOTONIC), all, ret_keys);
    return table->options.identify ? callers_due(table->callers, read_clock_ns(CLOCK_MONOTONIC), ret_keys) : 0;
}

/* ---- Reset, showing ----------------------------------------------------------------------------- */

/* Of those not identified yet. */
static struct caller *next_unknown(struct callers *callers, struct caller *caller) {
    struct caller *end = &callers->sets[0][0] + (size_t)CALLERS_MAX;
    for (caller = caller ? caller + 1 : &callers->sets[0][0]; caller < end; caller++)
        if (caller->is_used && !caller->group)
            return caller;
    return NULL;
}

void grouping_table_reset(struct grouping_table *table) {
    struct caller *caller = NULL;
    if (table->heavy) {
        heavy_clear(table->heavy);
        return;
    }
    groups_clear(&table->groups);
    while ((caller = next_unknown(table->callers, caller)))
        group_forget_calls(&caller->pending, table->callers->op_count);
}

/* Shows `other`, and callers that are not identified. If groups have names only, these are shown in `other` until they
 * get a name; or for good, if they are marked there. */
static int show_others(struct grouping_table *table, struct groups_showing *showing) {
    struct caller *caller = NULL;
    struct group others;
    while (!table->has_ids && showing->marks && (caller = next_unknown(table->callers, caller)))
        groups_unite(&table->groups, &caller->pending, &table->groups.other);
    if (table->has_ids || showing->marks) {
        int err = group_show(showing, &table->groups.other);
        while (table->has_ids && err == 0 && (caller = next_unknown(table->callers, caller)))
            err = group_show(showing, &caller->pending);
        return err;
    }
    int err = group_init(&others, AGGSTATS_WHO_OTHER, table->callers->op_count);
    if (err == 0)
        err = groups_add_calls(&table->groups, &table->groups.other, &others);
    while (err == 0 && (caller = next_unknown(table->callers, caller)))
        err = groups_add_calls(&table->groups, &caller->pending, &others);
    if (err == 0)
        err = group_show(showing, &others);
    group_finish(&others, table->callers->op_count);
    return err;
}

int grouping_table_show(struct grouping_table *table, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
                        struct aggstats_profile *profile, uint64_t *ret_unseen) {
    struct groups_showing showing;
    profile->groupings |= 1U << table->options.grouping;
    if (table->heavy)
        return heavy_show(table->heavy, marks, op_names, table->options.grouping, profile, ret_unseen);
    int err = groups_show_begin(&table->groups, marks, op_names, table->options.grouping, profile, &showing);
    if (err == 0)
        err = show_others(table, &showing);
    if (err == 0 && ret_unseen)
        err = groups_show_unseen(&showing, ret_unseen);
    groups_show_end(&showing);
    return err;
}

void grouping_table_end_marks(struct grouping_table *table, bool take) {
    struct caller *caller = NULL;
    if (table->heavy) {
        heavy_end_marks(table->heavy, take);
        return;
    }
    groups_end_marks(&table->groups, take);
    while ((caller = next_unknown(table->callers, caller)))
        group_end_marks(&caller->pending, &table->groups.layout, take);
}

/* Names of groups, reducing a profile to some of them, and their differences between two snapshots. */
#include "groups.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggstats/numbers.h"
#include "aggstats/words.h"
#include "base.h"
#include "figures.h"
#include "str.h"
#include "top_model.h"
#include "wide_count.h"

/* ---- Names -------------------------------------------------------------------------------------- */

enum aggstats_grouping groups_next(const struct aggstats_profile *profile, enum aggstats_grouping grouping) {
    for (unsigned i = 1; i <= AGGSTATS_GROUPINGS; i++) {
        unsigned next = ((unsigned)grouping + i) % AGGSTATS_GROUPINGS;
        if (profile->groupings & 1U << next)
            return (enum aggstats_grouping)next;
    }
    return AGGSTATS_UNGROUPED;
}

enum aggstats_grouping groups_first(const struct aggstats_profile *profile) {
    return groups_next(profile, AGGSTATS_UNGROUPED);
}

const char *groups_name_title(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_UID ? "user" : aggstats_grouping_name(grouping);
}

const char *groups_id_title(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_PROCESS       ? "pid"
           : aggstats_grouping_has_ids(grouping) ? aggstats_grouping_name(grouping)
                                                 : "";
}

const char *groups_name(const struct aggstats_group *group) {
    return group->who == AGGSTATS_WHO_ID ? group->name : aggstats_who_name(group->who);
}

const char *groups_base(const struct aggstats_profile *profile) {
    const char *layer = aggstats_profile_label(profile, "layer");
    const char *lower = aggstats_profile_label(profile, "lower");
    const char *mount = aggstats_profile_label(profile, "mount");
    const bool is_in_place = layer && strcmp(layer, "syscall") == 0; /* its mount may be no place of files */
    const char *base = is_in_place || (lower && lower[0] == '/') ? lower : mount;
    const bool is_of_mount = is_in_place || (layer && (strcmp(layer, "fs") == 0 || strcmp(layer, "daemon") == 0));
    return is_of_mount && base && strcmp(base, "/") != 0 && base[0] ? base : NULL;
}

void groups_format_id(const struct aggstats_group *group, char ret_text[GROUPS_ID_SIZE]) {
    if (group->who == AGGSTATS_WHO_ID && aggstats_grouping_has_ids(group->grouping))
        snprintf(ret_text, GROUPS_ID_SIZE, "%" PRIu64, group->id);
    else
        ret_text[0] = '\0';
}

/* ---- The directory that paths are in ------------------------------------------------------------ */

/* The component of the group's directory behind a prefix: a slash and a name. Returns its length; 0: there is none. */
static size_t next_component(const struct aggstats_group *group, const struct groups_prefix *prefix) {
    const char *name = group->name;
    const size_t length =
        group->grouping == AGGSTATS_BY_FILE && strrchr(name, '/') ? (size_t)(strrchr(name, '/') - name) : strlen(name);
    if (group->who != AGGSTATS_WHO_ID || name[0] != '/' || length <= prefix->length + 1 ||
        (prefix->length > 0 && strncmp(name, prefix->path, prefix->length) != 0) || name[prefix->length] != '/')
        return 0;
    const size_t size = 1 + strcspn(name + prefix->length + 1, "/");
    return prefix->length + size < length ? size : length - prefix->length;
}

/* The only directory in the prefix that may have more than half of the weight: each other group takes away as much as it
 * has (R. S. Boyer, J S. Moore: MJRTY, 1981). Returns one without a path if there are no directories. */
static struct groups_prefix find_majority(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                          const struct groups_prefix *prefix, groups_weigh_fn weigh,
                                          const void *context) {
    struct groups_prefix found = {NULL, 0, 0};
    double lead = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        const size_t size = group->grouping == grouping ? next_component(group, prefix) : 0;
        const double weight = size > 0 ? weigh(group, context) : 0;
        const bool is_same =
            found.path && found.length == prefix->length + size && strncmp(found.path, group->name, found.length) == 0;
        if (weight > lead && !is_same)
            found = (struct groups_prefix){group->name, prefix->length + size, 0};
        lead = is_same ? lead + weight : fabs(lead - weight);
    }
    return found;
}

struct groups_prefix groups_find_prefix(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                        double least, groups_weigh_fn weigh, const void *context) {
    struct groups_prefix prefix = {NULL, 0, 0};
    for (;;) {
        struct groups_prefix deeper = find_majority(profile, grouping, &prefix, weigh, context);
        for (size_t i = 0; i < profile->group_count && deeper.path; i++) {
            const struct aggstats_group *group = &profile->groups[i];
            const size_t size = group->grouping == grouping ? next_component(group, &prefix) : 0;
            if (size > 0 && prefix.length + size == deeper.length &&
                strncmp(group->name, deeper.path, deeper.length) == 0)
                deeper.weight += weigh(group, context);
        }
        if (!deeper.path || deeper.weight < least)
            return prefix;
        prefix = deeper;
    }
}

/* ---- Choosing ----------------------------------------------------------------------------------- */

/* Programs choose their own names: one that is named like a number, or "kernel", is found only by its number. */
static bool is_meant(const struct aggstats_group *group, const char *who) {
    char id[GROUPS_ID_SIZE];
    if (group->who != AGGSTATS_WHO_ID || strcmp(who, "kernel") == 0 || strcmp(who, "other") == 0)
        return group->who != AGGSTATS_WHO_ID && strcmp(groups_name(group), who) == 0;
    snprintf(id, sizeof(id), "%" PRIu64, group->id);
    if (aggstats_grouping_has_objects(group->grouping) && who[0] != '/' && group->name[0] == '/')
        return strcmp(group->name + 1, who) == 0;
    bool is_number = aggstats_grouping_has_ids(group->grouping) && who[strspn(who, "0123456789")] == '\0';
    return strcmp(is_number ? id : group->name, who) == 0;
}

#define HEADING(constant, word, several, heading, ...) [AGGSTATS_BY_##constant] = heading,
static const char *const headings[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(HEADING, HEADING, HEADING, HEADING)};

const struct aggstats_label *groups_chosen(const struct aggstats_profile *profile) {
    for (size_t i = profile->chosen_groups > 0 ? profile->label_count : 0; i > 0; i--)
        for (size_t grouping = 0; grouping < AGGSTATS_GROUPINGS; grouping++)
            if (headings[grouping] && strcmp(headings[grouping], profile->labels[i - 1].key) == 0)
                return &profile->labels[i - 1];
    return NULL;
}

int groups_select(struct aggstats_profile *profile, enum aggstats_grouping grouping, const char *who) {
    struct aggstats_profile sum = {0};
    size_t count = 0;
    wide_count missed_cycles_max = 0;
    int error = 0;
    char value[AGGSTATS_GROUP_NAME_SIZE];
    snprintf(value, sizeof(value), "%s", who);
    for (size_t i = 0; i < profile->group_count && grouping == AGGSTATS_UNGROUPED; i++)
        if (is_meant(&profile->groups[i], who))
            grouping = profile->groups[i].grouping;
    for (size_t i = 0; i < profile->group_count && !error; i++) {
        if (profile->groups[i].grouping != grouping || !is_meant(&profile->groups[i], who))
            continue;
        error = aggstats_profile_add(&sum, &profile->groups[i].profile);
        missed_cycles_max += profile->groups[i].missed_cycles_max;
        count++;
    }
    if (!error && count == 0)
        error = -ENOENT;
    for (size_t i = 0; i < profile->label_count && !error; i++)
        error = aggstats_profile_add_label(&sum, profile->labels[i].key, profile->labels[i].value);
    if (!error)
        error = aggstats_profile_add_label(&sum, headings[grouping], value); /* names the groups */
    if (!error)
        error = aggstats_profile_describe(&sum, profile);
    if (error) {
        aggstats_profile_finish(&sum);
        return error;
    }
    sum.chosen_groups = count;
    sum.missed_cycles_max = missed_cycles_max > UINT64_MAX ? UINT64_MAX : (uint64_t)missed_cycles_max;
    sum.has_start = profile->has_start;
    sum.start_ns = profile->start_ns;
    sum.has_elapsed = profile->has_elapsed;
    sum.elapsed_cycles = profile->elapsed_cycles;
    sum.incomplete = profile->incomplete;
    aggstats_profile_finish(profile);
    *profile = sum;
    return 0;
}

/* ---- Operations --------------------------------------------------------------------------------- */

/* Replaces the ops of a profile, which is a copy that owns nothing, by those that are listed. Returns the room behind
 * them. */
static struct aggstats_op_profile *list_kept(struct aggstats_profile *profile, const char *const *names, size_t count,
                                             struct aggstats_op_profile *room) {
    const struct aggstats_op_profile *ops = profile->ops;
    const size_t op_count = profile->op_count;
    profile->ops = room;
    profile->op_count = 0;
    for (size_t i = 0; i < op_count; i++)
        for (size_t j = 0; j < count; j++)
            if (strcasecmp(ops[i].name, names[j]) == 0) {
                profile->ops[profile->op_count++] = ops[i];
                break;
            }
    return room + profile->op_count;
}

int groups_keep_ops(struct aggstats_profile *profile, const char *const *names, size_t count) {
    CLEANUP_STR struct str text = {0};
    struct aggstats_profile kept = *profile; /* owns nothing */
    struct aggstats_profile copy = {0};
    size_t most = profile->op_count;
    for (size_t i = 0; i < profile->group_count; i++)
        most += profile->groups[i].profile.op_count;
    CLEANUP_FREE struct aggstats_op_profile *ops = calloc(most + 1, sizeof(*ops));
    CLEANUP_FREE struct aggstats_group *groups = calloc(profile->group_count + 1, sizeof(*groups));
    if (!ops || !groups)
        return -ENOMEM;
    struct aggstats_op_profile *room = list_kept(&kept, names, count, ops);
    kept.groups = groups;
    kept.group_count = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        struct aggstats_group group = profile->groups[i];
        room = list_kept(&group.profile, names, count, room);
        if (group.profile.op_count > 0)
            groups[kept.group_count++] = group;
    }
    int error = aggstats_profile_copy(&kept, &copy);
    for (size_t i = 0; i < copy.op_count && !error; i++) /* "calls of READ, WRITE" */
        str_addf(&text, "%s%s", i == 0 ? "calls of " : ", ", copy.ops[i].name);
    if (!error)
        error = text.failed ? -ENOMEM : aggstats_profile_add_label(&copy, "only", str_text(&text));
    if (error) {
        aggstats_profile_finish(&copy);
        return error;
    }
    aggstats_profile_sort(&copy);
    aggstats_profile_finish(profile);
    *profile = copy;
    return 0;
}

/* ---- Differences of a group --------------------------------------------------------------------- */

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

/* Subtracts as much of `before` as is there. */
static void reduce_op(struct aggstats_op_profile *op, const struct aggstats_op_profile *before, unsigned resolution) {
    op->calls = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        uint64_t *count = &op->buckets[bucket];
        *count -= before->buckets[bucket] < *count ? before->buckets[bucket] : *count;
        op->calls += *count;
    }
    op->total_cycles -= before->total_cycles < op->total_cycles ? before->total_cycles : op->total_cycles;
    figures_limit_total(op, resolution);
}

/* Ops without calls are dropped. */
static void reduce(struct aggstats_profile *profile, const struct aggstats_profile *before) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(before, profile->ops[i].name);
        if (op)
            reduce_op(&profile->ops[i], op, profile->resolution);
        if (profile->ops[i].calls > 0)
            profile->ops[kept++] = profile->ops[i];
        else
            free(profile->ops[i].buckets); /* all that an op of a group has */
    }
    profile->op_count = kept;
    aggstats_profile_sort(profile);
}

/* ---- Differences of all groups ------------------------------------------------------------------ */

/* Groups of the later snapshot, which become differences. */
struct later {
    struct aggstats_group *groups;
    bool *is_taken; /* [count]: its earlier state is known */
    size_t count;
    struct aggstats_group *other[AGGSTATS_GROUPINGS]; /* `other`, with its increase since the earlier snapshot; NULL:
                                                       * there is none */
};

/* A number can occur twice: processes one after the other. Counts only grow, so the group that goes on has all calls of
 * the earlier one; of two such, the one that gained less is likelier. */
static struct aggstats_group *find_later(const struct later *later, const struct aggstats_group *before) {
    const bool has_ids = aggstats_grouping_has_ids(before->grouping);
    struct aggstats_group *found = NULL;
    uint64_t found_missing = 0;
    for (size_t i = 0; i < later->count; i++) {
        struct aggstats_group *group = &later->groups[i];
        if (later->is_taken[i] || group->grouping != before->grouping || group->who != before->who ||
            group->id != before->id || (!has_ids && strcmp(group->name, before->name) != 0))
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

/* A group may have been added to `other` since, which is assumed if most of its calls are there; then they are subtracted
 * there. Not all need be there: `other`, too, may show less than it has. If a group has vanished and its calls are not in
 * `other`, its callers were not identified yet: that lasts only an instant, and concerns a few calls. */
static void reduce_group(const struct later *later, const struct aggstats_group *before) {
    struct aggstats_group *group = find_later(later, before);
    struct aggstats_group *other = later->other[before->grouping];
    if (group)
        later->is_taken[group - later->groups] = true;
    bool is_whole = group && calls_missing(&group->profile, &before->profile) == 0;
    if (!is_whole && before->who == AGGSTATS_WHO_ID && other &&
        calls_missing(&other->profile, &before->profile) <= ended_calls(&before->profile) / 2)
        reduce(&other->profile, &before->profile);
    else if (group)
        reduce(&group->profile, &before->profile);
}

static int reduce_groups(struct aggstats_profile *profile, const struct aggstats_profile *before) {
    CLEANUP_FREE bool *is_taken = calloc(profile->group_count + 1, sizeof(*is_taken));
    struct later later = {.groups = profile->groups, .is_taken = is_taken, .count = profile->group_count};
    if (!is_taken)
        return -ENOMEM;
    for (size_t i = 0; i < later.count; i++)
        if (later.groups[i].who == AGGSTATS_WHO_OTHER)
            later.other[later.groups[i].grouping] = &later.groups[i];
    for (int of_others = 1; of_others >= 0; of_others--) /* `other` first: groups may be found there */
        for (size_t i = 0; i < before->group_count; i++)
            if ((before->groups[i].who == AGGSTATS_WHO_OTHER) == of_others)
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

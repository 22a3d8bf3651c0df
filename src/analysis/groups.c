/* Names of groups, and reducing a profile to some of them. */
#include "groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggstats/numbers.h"
#include "aggstats/words.h"
#include "base.h"
#include "str.h"
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

static enum aggstats_grouping find_grouping(const struct aggstats_profile *profile, const char *who) {
    for (size_t i = 0; i < profile->group_count; i++)
        if (is_meant(&profile->groups[i], who))
            return profile->groups[i].grouping;
    return AGGSTATS_UNGROUPED;
}

static int add_meant(const struct aggstats_profile *profile, enum aggstats_grouping grouping, const char *who,
                     struct aggstats_profile *sum, size_t *ret_count, wide_count *ret_missed_cycles_max) {
    int error = 0;
    *ret_count = 0;
    *ret_missed_cycles_max = 0;
    for (size_t i = 0; i < profile->group_count && !error; i++) {
        if (profile->groups[i].grouping != grouping || !is_meant(&profile->groups[i], who))
            continue;
        error = aggstats_profile_add(sum, &profile->groups[i].profile);
        *ret_missed_cycles_max += profile->groups[i].missed_cycles_max;
        ++*ret_count;
    }
    return error;
}

#define HEADING(constant, word, several, heading, ...) [AGGSTATS_BY_##constant] = heading,
static const char *const headings[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(HEADING, HEADING, HEADING, HEADING)};

/* Names the groups, for the heading. */
static int label_sum(struct aggstats_profile *sum, enum aggstats_grouping grouping, const char *who) {
    char value[AGGSTATS_GROUP_NAME_SIZE];
    snprintf(value, sizeof(value), "%s", who);
    return aggstats_profile_add_label(sum, headings[grouping], value);
}

const struct aggstats_label *groups_chosen(const struct aggstats_profile *profile) {
    for (size_t i = profile->chosen_groups > 0 ? profile->label_count : 0; i > 0; i--)
        for (size_t grouping = 0; grouping < AGGSTATS_GROUPINGS; grouping++)
            if (headings[grouping] && strcmp(headings[grouping], profile->labels[i - 1].key) == 0)
                return &profile->labels[i - 1];
    return NULL;
}

int groups_select(struct aggstats_profile *profile, enum aggstats_grouping grouping, const char *who) {
    struct aggstats_profile sum = {0};
    size_t count;
    wide_count missed_cycles_max;
    if (grouping == AGGSTATS_UNGROUPED)
        grouping = find_grouping(profile, who);
    int error = add_meant(profile, grouping, who, &sum, &count, &missed_cycles_max);
    if (!error && count == 0)
        error = -ENOENT;
    for (size_t i = 0; i < profile->label_count && !error; i++)
        error = aggstats_profile_add_label(&sum, profile->labels[i].key, profile->labels[i].value);
    if (!error)
        error = label_sum(&sum, grouping, who);
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

static bool is_listed(const char *op, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(op, names[i]) == 0)
            return true;
    return false;
}

/* Replaces the ops of a profile, which is a copy that owns nothing, by those that are listed. Returns the room behind
 * them. */
static struct aggstats_op_profile *list_kept(struct aggstats_profile *profile, const char *const *names, size_t count,
                                             struct aggstats_op_profile *room) {
    const struct aggstats_op_profile *ops = profile->ops;
    const size_t op_count = profile->op_count;
    profile->ops = room;
    profile->op_count = 0;
    for (size_t i = 0; i < op_count; i++)
        if (is_listed(ops[i].name, names, count))
            profile->ops[profile->op_count++] = ops[i];
    return room + profile->op_count;
}

/* "calls of READ, WRITE" */
static int label_ops(struct aggstats_profile *profile) {
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < profile->op_count; i++)
        str_addf(&text, "%s%s", i == 0 ? "calls of " : ", ", profile->ops[i].name);
    return text.failed ? -ENOMEM : aggstats_profile_add_label(profile, "only", str_text(&text));
}

int groups_keep_ops(struct aggstats_profile *profile, const char *const *names, size_t count) {
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
    if (!error)
        error = label_ops(&copy);
    if (error) {
        aggstats_profile_finish(&copy);
        return error;
    }
    aggstats_profile_sort(&copy);
    aggstats_profile_finish(profile);
    *profile = copy;
    return 0;
}

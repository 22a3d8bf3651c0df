/* Groups, identified by grouping, number and name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "events_private.h"
#include "events_profile_private.h"

/* ---- Identity ---- */

/* If a text is too long, its end is kept: the end of a path says more. */
static void copy_name(const struct events_text *text, struct aggstats_group *group) {
    size_t length = text->length < sizeof(group->name) ? text->length : sizeof(group->name) - 1;
    memcpy(group->name, text->bytes + (text->length - length), length);
    group->name[length] = '\0';
    make_line(group->name);
}

static void identify_caller(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    struct events_text name;
    uint64_t process = events_task(file, event, &name);
    if (event->thread == 0) {
        group->who = AGGSTATS_WHO_KERNEL;
        return;
    }
    if (group->grouping == AGGSTATS_BY_PROCESS)
        group->id = process ? process : event->thread;
    if (name.bytes && name.length > 0)
        copy_name(&name, group);
    else if (group->grouping == AGGSTATS_BY_PROGRAM)
        group->who = AGGSTATS_WHO_OTHER;
}

/* Reduces a path to its directory: "/" for what is in the root. */
static void leave_directory(struct events_text *path) {
    while (path->length > 1 && path->bytes[path->length - 1] != '/')
        path->length--;
    if (path->length > 1)
        path->length--;
}

static void identify_object(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    char bytes[EVENTS_PATH_SIZE];
    struct events_text path = {.bytes = bytes};
    bool is_directory_op = events_text_of(file, event, "name").bytes;
    path.length = events_whole_path(file, event->node, event->start_cycles, bytes);
    if (path.length == 0) {
        snprintf(group->name, sizeof(group->name), "(node %" PRIu64 ")", event->node);
        return;
    }
    if (group->grouping == AGGSTATS_BY_DIRECTORY && !is_directory_op)
        leave_directory(&path);
    copy_name(&path, group);
}

static void identify_user(const struct event *event, struct aggstats_group *group) {
    if (event->thread == 0 && event->uid == 0)
        group->who = AGGSTATS_WHO_KERNEL;
    else
        group->id = event->uid;
}

static void identify(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    if (group->grouping == AGGSTATS_BY_UID)
        identify_user(event, group);
    else if (aggstats_grouping_has_objects(group->grouping))
        identify_object(file, event, group);
    else
        identify_caller(file, event, group);
}

/* ---- Finding ---- */

static uint64_t hash_of(const struct aggstats_group *group) {
    uint64_t number = group->id ^ (uint64_t)group->who << 56 ^ (uint64_t)group->grouping << 60;
    return hash_text(HASH_BEGIN ^ number * UINT64_C(11400714819323198485), group->name);
}

static bool is_same(const struct aggstats_group *a, const struct aggstats_group *b) {
    return a->grouping == b->grouping && a->who == b->who && a->id == b->id && strcmp(a->name, b->name) == 0;
}

/* Returns the group, which is added if it is new. NULL: no memory. If two groups have the same hash, the later one is
 * stored under the next hash. */
static struct aggstats_group *find_or_add(struct events_groups *groups, const struct aggstats_group *wanted) {
    uint64_t hash = hash_of(wanted);
    for (size_t place; (place = number_map_get(&groups->places, hash)) > 0; hash++)
        if (is_same(&groups->groups[place - 1], wanted))
            return &groups->groups[place - 1];
    if (grow_array(&groups->groups, groups->count, sizeof(*groups->groups)) < 0 ||
        number_map_set(&groups->places, hash, groups->count + 1) < 0)
        return NULL;
    groups->groups[groups->count] = *wanted;
    return &groups->groups[groups->count++];
}

/* ---- Counting ---- */

static int count_in(struct events_groups *groups, enum aggstats_grouping grouping, const struct event *event,
                    const struct aggstats_profile *whole) {
    const struct counted_call call = {.latency_cycles = event->latency_cycles}; /* groups have nothing else */
    struct aggstats_group wanted = {.grouping = grouping,
                                    .profile = {.resolution = whole->resolution, .clock = whole->clock}};
    identify(groups->file, event, &wanted);
    struct aggstats_group *group = find_or_add(groups, &wanted);
    return group ? counted_add(&group->profile, groups->file->ops[event->op].name, &call) : -ENOMEM;
}

int events_groups_count(struct events_groups *groups, const struct event *event, const struct aggstats_profile *whole) {
    int err = 0;
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS && err == 0; grouping++)
        if (groups->groupings & 1U << grouping)
            err = count_in(groups, (enum aggstats_grouping)grouping, event, whole);
    return err;
}

/* ---- Showing ---- */

/* Merges a group into the group `other` of its grouping, the last group shown. If there is none, the group itself
 * becomes the group `other`. */
static int fold(struct aggstats_profile *profile, struct aggstats_group *group) {
    struct aggstats_group *last = profile->group_count > 0 ? &profile->groups[profile->group_count - 1] : NULL;
    if (!last || last->grouping != group->grouping || last->who != AGGSTATS_WHO_OTHER) {
        last = &profile->groups[profile->group_count++];
        *last = *group;
        last->who = AGGSTATS_WHO_OTHER;
        last->id = 0;
        last->name[0] = '\0';
        return 0;
    }
    int err = counted_add_ops(&last->profile, &group->profile);
    aggstats_profile_finish(&group->profile);
    return err;
}

/* Groups for which there is no room, and calls of which no group is known, are shown as one group. */
static int fold_others(struct aggstats_profile *profile) {
    size_t count = profile->group_count;
    unsigned room = 0;
    int err = 0;
    profile->group_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct aggstats_group group = profile->groups[i];
        if (i == 0 || group.grouping != profile->groups[profile->group_count - 1].grouping)
            room = AGGSTATS_GROUPS_MAX;
        if (err < 0) {
            aggstats_profile_finish(&group.profile);
        } else if (group.who == AGGSTATS_WHO_OTHER || room == 0) {
            err = fold(profile, &group);
        } else {
            profile->groups[profile->group_count++] = group;
            room--;
        }
    }
    return err;
}

int events_groups_hand_over(struct events_groups *groups, struct aggstats_profile *profile) {
    profile->groupings = groups->groupings;
    profile->groups = steal_pointer(&groups->groups);
    profile->group_count = groups->count;
    groups->count = 0;
    counted_sort_groups(profile);
    int err = fold_others(profile);
    counted_sort_groups(profile);
    return err;
}

void events_groups_finish(struct events_groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        aggstats_profile_finish(&groups->groups[i].profile);
    free(groups->groups);
    number_map_finish(&groups->places);
    *groups = (struct events_groups){0};
}

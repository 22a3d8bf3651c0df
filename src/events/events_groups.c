/* A hash table of groups, known by grouping, number and name. */
#include "events_groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/groups.h"
#include "base.h"

#define FIRST_PLACES 64U

/* ---- Who it is ---- */

/* Of a text that is too long, the end: of paths that tells more. */
static void copy_name(const struct events_text *text, struct aggstats_group *group) {
    size_t length = text->length < sizeof(group->name) ? text->length : sizeof(group->name) - 1;
    memcpy(group->name, text->bytes + (text->length - length), length);
    group->name[length] = '\0';
    for (char *at = group->name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

static void identify_caller(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    struct events_text name;
    uint64_t process = events_task(file, event->thread, &name);
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

/* "/" for what is in the root. */
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

static void identify(const struct events_groups *groups, const struct event *event, struct aggstats_group *group) {
    if (group->grouping == AGGSTATS_BY_UID)
        identify_user(event, group);
    else if (aggstats_grouping_has_objects(group->grouping))
        identify_object(groups->file, event, group);
    else
        identify_caller(groups->file, event, group);
}

/* ---- The table ---- */

static uint64_t hash_of(const struct aggstats_group *group) {
    uint64_t number = group->id ^ (uint64_t)group->who << 56 ^ (uint64_t)group->grouping << 60;
    uint64_t hash = hash_text(HASH_BEGIN ^ number * UINT64_C(11400714819323198485), group->name);
    return hash ^ hash >> 32;
}

static bool is_same(const struct aggstats_group *a, const struct aggstats_group *b) {
    return a->grouping == b->grouping && a->who == b->who && a->id == b->id && strcmp(a->name, b->name) == 0;
}

static struct events_group **place_of(struct events_group **places, size_t place_count,
                                      const struct aggstats_group *group, uint64_t hash) {
    size_t at = hash & (place_count - 1);
    while (places[at] && (places[at]->hash != hash || !is_same(&places[at]->group, group)))
        at = (at + 1) & (place_count - 1);
    return &places[at];
}

static int grow(struct events_groups *groups) {
    size_t place_count = groups->place_count ? 2 * groups->place_count : FIRST_PLACES;
    struct events_group **places = calloc(place_count, sizeof(struct events_group *));
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < groups->place_count; i++)
        if (groups->places[i])
            *place_of(places, place_count, &groups->places[i]->group, groups->places[i]->hash) = groups->places[i];
    free(groups->places);
    groups->places = places;
    groups->place_count = place_count;
    return 0;
}

static int count_in(struct events_groups *groups, enum aggstats_grouping grouping, const struct event *event) {
    struct aggstats_group group = {.grouping = grouping};
    int err = 2 * groups->count >= groups->place_count ? grow(groups) : 0;
    if (err < 0)
        return err;
    identify(groups, event, &group);
    uint64_t hash = hash_of(&group);
    struct events_group **place = place_of(groups->places, groups->place_count, &group, hash);
    if (!*place) {
        *place = calloc(1, sizeof(**place));
        if (!*place)
            return -ENOMEM;
        (*place)->group = group;
        (*place)->hash = hash;
        groups->count++;
    }
    return events_tally_count(&(*place)->tally, groups->file, event, groups->resolution);
}

int events_groups_count(struct events_groups *groups, const struct event *event) {
    int err = 0;
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS && err == 0; grouping++)
        if (groups->groupings & 1U << grouping)
            err = count_in(groups, (enum aggstats_grouping)grouping, event);
    return err;
}

/* ---- Showing ---- */

/* By grouping, then by total latency, largest first. */
static int compare_groups(const void *left, const void *right) {
    const struct events_group *a = *(struct events_group *const *)left;
    const struct events_group *b = *(struct events_group *const *)right;
    if (a->group.grouping != b->group.grouping)
        return a->group.grouping < b->group.grouping ? -1 : 1;
    if (a->tally.total_cycles != b->tally.total_cycles)
        return a->tally.total_cycles > b->tally.total_cycles ? -1 : 1;
    return strcmp(a->group.name, b->group.name);
}

static void sort(struct events_groups *groups) {
    size_t kept = 0;
    for (size_t i = 0; i < groups->place_count; i++)
        if (groups->places[i])
            groups->places[kept++] = groups->places[i];
    memset(&groups->places[kept], 0, (groups->place_count - kept) * sizeof(struct events_group *));
    qsort(groups->places, kept, sizeof(struct events_group *), compare_groups);
}

static int show(struct events_groups *groups, struct events_group *from, struct aggstats_profile *profile) {
    struct aggstats_group *shown = &profile->groups[profile->group_count++];
    *shown = from->group;
    shown->profile = (struct aggstats_profile){.clock = profile->clock, .resolution = groups->resolution};
    return events_tally_hand_over(&from->tally, true, &shown->profile);
}

/* What there is no room for, and what nobody is known of, is shown as one. */
static int show_grouping(struct events_groups *groups, struct events_group **first, size_t count,
                         struct aggstats_profile *profile) {
    struct events_group other = {.group = {.grouping = first[0]->group.grouping, .who = AGGSTATS_WHO_OTHER}};
    unsigned room = AGGSTATS_GROUPS_MAX;
    bool has_other = false;
    int err = 0;
    for (size_t i = 0; i < count && err == 0; i++) {
        bool is_other = first[i]->group.who == AGGSTATS_WHO_OTHER || room == 0;
        has_other |= is_other;
        room -= !is_other;
        err = is_other ? events_tally_add(&other.tally, &first[i]->tally, groups->resolution)
                       : show(groups, first[i], profile);
    }
    if (has_other && err == 0)
        err = show(groups, &other, profile);
    events_tally_finish(&other.tally);
    return err;
}

int events_groups_hand_over(struct events_groups *groups, struct aggstats_profile *profile) {
    size_t end;
    int err = 0;
    profile->groupings = groups->groupings;
    profile->groups = calloc(groups->count + AGGSTATS_GROUPINGS, sizeof(*profile->groups));
    if (!profile->groups)
        return -ENOMEM;
    if (groups->count > 0)
        sort(groups);
    for (size_t first = 0; first < groups->count && err == 0; first = end) {
        for (end = first + 1;
             end < groups->count && groups->places[end]->group.grouping == groups->places[first]->group.grouping;)
            end++;
        err = show_grouping(groups, &groups->places[first], end - first, profile);
    }
    return err;
}

void events_groups_finish(struct events_groups *groups) {
    for (size_t i = 0; i < groups->place_count; i++) {
        if (groups->places[i])
            events_tally_finish(&groups->places[i]->tally);
        free(groups->places[i]);
    }
    free(groups->places);
    *groups = (struct events_groups){0};
}

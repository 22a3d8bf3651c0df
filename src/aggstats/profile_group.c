/* The groups of a profile, each of which is a profile of its own. */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

struct aggstats_group *profile_add_group(struct aggstats_profile *profile, enum aggstats_who who, uint64_t id,
                                         const char *name) {
    struct aggstats_group *grown = reallocarray(profile->groups, profile->group_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    profile->groups = grown;
    struct aggstats_group *group = &profile->groups[profile->group_count++];
    *group = (struct aggstats_group){
        .who = who, .id = id, .profile = {.resolution = profile->resolution, .clock = profile->clock}};
    strncat(group->name, name, sizeof(group->name) - 1);
    return group;
}

void profile_drop_last_group(struct aggstats_profile *profile) {
    aggstats_profile_finish(&profile->groups[--profile->group_count].profile);
}

static long double total_cycles(const struct aggstats_profile *profile) {
    long double total = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        total += profile->ops[i].total_cycles;
    return total;
}

static int compare_groups(const void *left, const void *right) {
    const struct aggstats_group *a = left;
    const struct aggstats_group *b = right;
    long double a_cycles = total_cycles(&a->profile);
    long double b_cycles = total_cycles(&b->profile);
    if ((a->who == AGGSTATS_WHO_OTHER) != (b->who == AGGSTATS_WHO_OTHER))
        return a->who == AGGSTATS_WHO_OTHER ? 1 : -1;
    if (a_cycles < b_cycles || a_cycles > b_cycles)
        return a_cycles < b_cycles ? 1 : -1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return strcmp(a->name, b->name);
}

void profile_sort_groups(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->group_count; i++)
        aggstats_profile_sort(&profile->groups[i].profile);
    if (profile->group_count > 1)
        qsort(profile->groups, profile->group_count, sizeof(*profile->groups), compare_groups);
}

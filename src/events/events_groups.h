/* Private: calls by who made them, or what they worked on. */
#ifndef EVENTS_GROUPS_H
#define EVENTS_GROUPS_H

#include "events_tally.h"

struct events_group {
    struct aggstats_group group; /* its profile is empty until it is shown */
    uint64_t hash;
    struct events_tally tally;
};

struct events_groups {
    const struct events_file *file;
    unsigned groupings;
    unsigned resolution;
    struct events_group **places; /* a hash table; NULL: a free place */
    size_t place_count;           /* a power of two, or 0 */
    size_t count;
};

/* Counts a call in a group of each grouping. Errors: as events_tally_count() */
int events_groups_count(struct events_groups *groups, const struct event *event);

/* Hands all groups over to a profile that has none. Errors: -ENOMEM, -EOVERFLOW */
int events_groups_hand_over(struct events_groups *groups, struct aggstats_profile *profile);

void events_groups_finish(struct events_groups *groups);

#endif

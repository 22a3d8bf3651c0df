/* Private: a profile while it is made of events. */
#ifndef EVENTS_PROFILE_PRIVATE_H
#define EVENTS_PROFILE_PRIVATE_H

#include "aggstats/counted.h"
#include "events_reader.h"
#include "number_map.h"

/* ---- Which calls belong to it: the spans of the recorded profile, as marks tell them ---- */

/* From one change of what is counted to the next. */
struct events_span {
    const struct events_mark_seen *mark; /* that it begins with; NULL: recording began */
    uint64_t from_cycles;
    uint64_t counted_cycles; /* for how long the profile had been counting by then, since the beginning */
    bool is_paused;
    unsigned window; /* the so many-th, from 1 */
};

struct events_window {
    uint64_t from_cycles;
    uint64_t to_cycles;
    int64_t from_unix_ns; /* 0: not known */
};

struct events_windows {
    struct events_span *spans;
    size_t span_count;
    struct events_window *windows;
    unsigned window_count;
    uint64_t end_cycles;
    struct number_map places; /* of streams: the span that the latest call was in */
};

/* Owner: the caller finishes it, also after an error. Errors: -ENOMEM */
int events_windows_find(const struct events_file *file, struct events_windows *ret_windows);
void events_windows_finish(struct events_windows *windows);

/* Which window counts the next call of its stream, from 1; 0: none, since it ended in a pause. Calls of a stream must
 * come in their order. */
unsigned events_windows_of(struct events_windows *windows, const struct event *event);

/* How long the profile had been counting at that moment of a window, pauses left out. */
uint64_t events_windows_counted(const struct events_windows *windows, const struct events_window *window,
                                uint64_t cycles);

/* ---- Groups: calls by who made them, or what they worked on ---- */

struct events_groups {
    const struct events_file *file;
    unsigned groupings;
    struct aggstats_group *groups; /* in the order in which they were found */
    size_t count;
    struct number_map places; /* of hashes: in groups, from 1 */
};

/* Counts a call in a group of each grouping. whole: the profile, for its clock and resolution
 * Errors: -ENOMEM, -EOVERFLOW */
int events_groups_count(struct events_groups *groups, const struct event *event, const struct aggstats_profile *whole);

/* Hands all groups over to a profile that has none. Errors: -EOVERFLOW */
int events_groups_hand_over(struct events_groups *groups, struct aggstats_profile *profile);

void events_groups_finish(struct events_groups *groups);

#endif

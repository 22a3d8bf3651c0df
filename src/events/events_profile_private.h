/* Private: a profile that is being made of events. */
#ifndef EVENTS_PROFILE_PRIVATE_H
#define EVENTS_PROFILE_PRIVATE_H

#include "aggstats/counted.h"
#include "events_reader.h"
#include "number_map.h"

/* ---- Which calls belong to the profile: spans of the recorded profile, from the marks ---- */

/* The time from one change of counting (reset, rotation, pause, resume) to the next. */
struct events_span {
    const struct events_mark_seen *mark; /* the mark at its start; NULL: recording began */
    uint64_t from_cycles;
    uint64_t counted_cycles; /* how long the profile had counted until the span's start, since recording began */
    bool is_paused;
    unsigned window; /* number of the window, from 1 */
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
    struct number_map places; /* by stream: index of the span of its latest call */
};

/* Owner: the caller finishes it, also after an error. Errors: -ENOMEM */
int events_windows_find(const struct events_file *file, struct events_windows *ret_windows);
void events_windows_finish(struct events_windows *windows);

/* Number of the window that counts the next call of its stream, from 1; 0: none, because the call ended in a pause.
 * Calls of a stream must be passed in order. */
unsigned events_windows_of(struct events_windows *windows, const struct event *event);

/* How long the profile had counted at that moment of a window, without pauses. */
uint64_t events_windows_counted(const struct events_windows *windows, const struct events_window *window,
                                uint64_t cycles);

/* ---- Groups: calls by caller, or by file or directory ---- */

struct events_groups {
    const struct events_file *file;
    unsigned groupings;
    struct aggstats_group *groups; /* in the order in which they were found */
    size_t count;
    struct number_map places; /* by hash: index in groups + 1 */
};

/* Counts a call in one group of each grouping. whole: the profile, for its clock and resolution
 * Errors:  -ENOMEM, -EOVERFLOW */
int events_groups_count(struct events_groups *groups, const struct event *event, const struct aggstats_profile *whole);

/* Moves all groups into a profile that has none. Errors: -EOVERFLOW */
int events_groups_hand_over(struct events_groups *groups, struct aggstats_profile *profile);

void events_groups_finish(struct events_groups *groups);

#endif

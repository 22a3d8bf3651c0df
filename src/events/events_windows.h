/* Private: the spans of the recorded profile, as marks tell them. */
#ifndef EVENTS_WINDOWS_H
#define EVENTS_WINDOWS_H

#include "events_reader.h"

struct events_pause {
    uint64_t from_cycles;
    uint64_t to_cycles;
    uint64_t before_cycles; /* of all pauses before it */
};

struct events_window {
    uint64_t from_cycles;
    uint64_t to_cycles;
    int64_t from_unix_ns; /* 0: not known */
};

struct events_windows {
    const struct events_file *file;
    uint64_t *rotated; /* numbers of rotations that succeeded, ascending */
    size_t rotated_count;
    const struct events_mark_seen **changes; /* marks that change what is counted */
    size_t change_count;
    struct events_window *windows;
    unsigned window_count;
    struct events_pause *pauses;
    size_t pause_count;
    struct events_place *places; /* [stream_count], sorted by stream */
    size_t place_count;
    uint64_t end_cycles;
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

#endif

/* libaggstats, inside this project: numbered calls.
 *
 * A program that stores calls one by one, beside the recorder, must know on which side of a reset each call is. So it
 * may number them: the calls of a block, which is used by one thread at a time, have the numbers 0, 1, 2... While all
 * calls that end are numbered, windows begin and end between two calls of a block, and a function learns between
 * which. */
#ifndef AGGSTATS_NUMBERED_H
#define AGGSTATS_NUMBERED_H

#include "aggstats/recorder.h"

/* Call before aggstats_end() of a call. Returns its number in span->block. */
static inline uint64_t aggstats_number_begin(const struct aggstats_span *span) {
    uint64_t turns = span->block->turns;
    __atomic_store_n(&span->block->turns, turns + 1, __ATOMIC_RELEASE); /* before what aggstats_end() adds */
    return turns / 2;
}

/* Call after that, when all else that belongs to the same side of a reset is done for the call. */
static inline void aggstats_number_end(const struct aggstats_span *span, uint64_t number) {
    __atomic_store_n(&span->block->turns, 2 * number + 2, __ATOMIC_RELEASE);
}

/* Call instead: the call gets no number, the next call gets this one. */
static inline void aggstats_number_cancel(const struct aggstats_span *span, uint64_t number) {
    __atomic_store_n(&span->block->turns, 2 * number, __ATOMIC_RELEASE);
}

/* The number of calls of a block at a change of window. */
struct aggstats_numbered {
    const struct aggstats_block *block;
    uint64_t count;  /* calls with smaller numbers are before the change, the others after it */
    bool is_inexact; /* a call was being counted all the time: it may be on the other side */
};

enum aggstats_change {
    AGGSTATS_CHANGE_RESET,
    AGGSTATS_CHANGE_PAUSE, /* also if it was paused already; the next, if it was running */
    AGGSTATS_CHANGE_RESUME,
    AGGSTATS_CHANGE_ROTATE,      /* the window ends here if the profile is saved: one of the next two follows */
    AGGSTATS_CHANGE_ROTATED,     /* the profile was saved: a window begins at the end of the saved window; no blocks */
    AGGSTATS_CHANGE_NOT_ROTATED, /* the profile was not saved, or a reset came in between; no blocks */
};

struct aggstats_changed {
    enum aggstats_change change;
    uint64_t cycles; /* the time of the change in the window */
    int64_t realtime_ns;
    const struct aggstats_numbered *blocks; /* the blocks with numbered calls */
    size_t block_count;
};

/* Called at a change of window, while no other can happen; must not use the recorder, and must be quick. */
typedef void (*aggstats_changed_fn)(void *context, const struct aggstats_changed *changed);

/* changed: NULL: none. Threads: any */
void aggstats_recorder_tell_changes(struct aggstats_recorder *recorder, aggstats_changed_fn changed, void *context);

#endif

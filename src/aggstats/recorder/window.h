/* Private: the window of a recorder, which readers subtract from the counters. Reset and pause never touch a counter;
 * they change the window instead.
 *
 * A call belongs to the window in which it ends. So a window's calls are all calls that ever began, less those that
 * ended before it: the calls in flight at a reset are in flight in the new window. Paused time is no part of a window:
 * calls that end during a pause are not counted at all, and while paused no call is shown in flight (calls =
 * sum(buckets)).
 *
 * A longest call cannot be subtracted. So before each change of window the longest calls are taken from the threads,
 * and kept here if they ended in the window and in no pause of it.
 *
 * Owner:   the recorder's live file (live_file.h)
 * Threads: under the recorder's window_lock */
#ifndef WINDOW_H
#define WINDOW_H

#include "tally.h"

/* Layout of the live file: change AGGSTATS_LIVE_VERSION with it. */
struct window {
    uint64_t paused; /* 0 or 1 */
    int64_t start_ns;
    uint64_t start_cycles;
    uint64_t paused_cycles;      /* in pauses that have ended */
    uint64_t pause_start_cycles; /* of the current pause */
    uint64_t clamped_baseline;
    uint64_t clamped_frozen;
    uint64_t reserved;
    /* two tables of counters, calls = sum(buckets): the baseline, which has all calls that ended before the window or
     * in its pauses, and of a shared file those that threads had left when they ended before the window; and frozen,
     * which has all calls that had ended when the current pause began. They hold no longest calls. After them two arrays [op_count] of the longest calls taken from threads: those of the window, and those
     * since the latest window_mark() */
    unsigned char tables[] __attribute__((aligned(CACHE_LINE_BYTES)));
};

static inline size_t window_bytes(const struct layout *layout) {
    size_t longest_bytes = 2 * sizeof(struct longest) * layout->op_count;
    return sizeof(struct window) + 2 * layout_table_bytes(layout) + round_up(longest_bytes, CACHE_LINE_BYTES);
}

static inline const struct longest *window_longest(const struct window *window, const struct layout *layout) {
    return (const struct longest *)(const void *)(window->tables + 2 * layout_table_bytes(layout));
}

static inline const void *window_baseline(const struct window *window) {
    return window->tables;
}

static inline const void *window_frozen(const struct window *window, const struct layout *layout) {
    return window->tables + layout_table_bytes(layout);
}

/* The first window, in zeroed memory: nothing has been counted yet. */
void window_start(struct window *window, uint64_t now_cycles);

/* Keeps the longest calls that were taken from the threads into the tally. Call it before any of those below. */
void window_keep_longest(struct window *window, const struct tally *taken);

/* Each takes the current sum of all blocks, settled. Pausing while paused, or resuming while running, changes
 * nothing. */
void window_reset(struct window *window, const struct tally *settled, uint64_t now_cycles);
void window_pause(struct window *window, const struct tally *settled, uint64_t now_cycles);
void window_resume(struct window *window, const struct tally *settled, uint64_t now_cycles);

/* What a window shows at some moment, to be subtracted from it later. */
struct window_span {
    void *table; /* of counters; the caller's */
    uint64_t clamped;
    int64_t end_ns;
    uint64_t end_cycles;
    uint64_t paused_cycles; /* paused time until then */
};

/* Fills in all but the table's pointer. From now on the longest calls after the span are kept separately. */
void window_mark(struct window *window, const struct tally *settled, uint64_t now_cycles, struct window_span *span);

/* The window now begins where the span ended, and shows the difference. It may have been paused and resumed since, but
 * not reset. */
void window_take(struct window *window, const struct layout *layout, const struct window_span *span);

uint64_t window_elapsed_cycles(const struct window *window, uint64_t now_cycles);

/* What the window shows of one op. tally: the current sum of all blocks; unused while paused.
 * Shape:   counters with as many buckets as tally's layout says, in memory order, and the counters beside them; the
 *          longest call is 0 if none is known that the buckets allow
 * A negative difference counts as 0: updates were lost in a shared block, or blocks are missing in the live file. */
void window_visible(const struct window *window, const struct tally *tally, unsigned op,
                    struct aggstats_counters *ret_counters);
uint64_t window_visible_clamped(const struct window *window, const struct tally *tally);

#endif

/* Reset, pause and resume as arithmetic on tables of counters. */
#include "window.h"

#include <string.h>

#include "clock_pair.h"
#include "profile_owned.h"

static uint64_t difference(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* Tables are arrays of 64-bit words, and what is true of one counter is true of all. */
static size_t table_words(const struct layout *layout) {
    return layout_table_bytes(layout) / sizeof(uint64_t);
}

static uint64_t *baseline_words(struct window *window) {
    return (uint64_t *)(void *)window->tables;
}

static uint64_t *frozen_words(struct window *window, const struct layout *layout) {
    return (uint64_t *)(void *)(window->tables + layout_table_bytes(layout));
}

static struct longest *kept_longest(struct window *window, const struct layout *layout) {
    return (struct longest *)(void *)(window->tables + 2 * layout_table_bytes(layout));
}

static struct longest *kept_since_mark(struct window *window, const struct layout *layout) {
    return kept_longest(window, layout) + layout->op_count;
}

static void freeze(struct window *window, const struct tally *settled) {
    memcpy(frozen_words(window, &settled->layout), settled->table, layout_table_bytes(&settled->layout));
    window->clamped_frozen = settled->clamped;
}

void window_start(struct window *window, uint64_t now_cycles) {
    window->start_ns = (int64_t)clock_realtime_ns();
    window->start_cycles = now_cycles;
    window->paused_cycles = 0;
}

void window_keep_longest(struct window *window, const struct tally *taken) {
    const struct layout *layout = &taken->layout;
    if (window->paused) /* they ended in the pause */
        return;
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct longest longest = longest_get(layout_counters_const(layout, taken->table, op), layout->resolution);
        longest_raise(&kept_longest(window, layout)[op], longest);
        longest_raise(&kept_since_mark(window, layout)[op], longest);
    }
}

void window_reset(struct window *window, const struct tally *settled, uint64_t now_cycles) {
    const struct layout *layout = &settled->layout;
    memset(kept_longest(window, layout), 0, 2 * sizeof(struct longest) * layout->op_count);
    memcpy(baseline_words(window), settled->table, layout_table_bytes(&settled->layout));
    window->clamped_baseline = settled->clamped;
    window_start(window, now_cycles);
    if (!window->paused)
        return;
    freeze(window, settled);
    window->pause_start_cycles = now_cycles;
}

void window_pause(struct window *window, const struct tally *settled, uint64_t now_cycles) {
    if (window->paused)
        return;
    freeze(window, settled);
    window->pause_start_cycles = now_cycles;
    window->paused = 1;
}

void window_resume(struct window *window, const struct tally *settled, uint64_t now_cycles) {
    if (!window->paused)
        return;
    uint64_t *baseline = baseline_words(window);
    const uint64_t *frozen = frozen_words(window, &settled->layout);
    const uint64_t *now = settled->table;
    for (size_t i = 0; i < table_words(&settled->layout); i++)
        baseline[i] += difference(now[i], frozen[i]);
    window->clamped_baseline += difference(settled->clamped, window->clamped_frozen);
    window->paused_cycles += difference(now_cycles, window->pause_start_cycles);
    window->paused = 0;
}

/* ---- Rotation: subtracts what has been shown, whatever was paused and resumed meanwhile ---- */

void window_mark(struct window *window, const struct tally *settled, uint64_t now_cycles, struct window_span *span) {
    const struct layout *layout = &settled->layout;
    memset(kept_since_mark(window, layout), 0, layout->op_count * sizeof(struct longest));
    const uint64_t *baseline = window_baseline(window);
    const uint64_t *seen = window->paused ? window_frozen(window, layout) : settled->table;
    uint64_t *shown = span->table;
    for (size_t i = 0; i < table_words(layout); i++)
        shown[i] = difference(seen[i], baseline[i]);
    span->clamped = window_visible_clamped(window, settled);
    span->end_ns = (int64_t)clock_realtime_ns();
    span->end_cycles = now_cycles;
    span->paused_cycles =
        difference(difference(now_cycles, window->start_cycles), window_elapsed_cycles(window, now_cycles));
}

void window_take(struct window *window, const struct layout *layout, const struct window_span *span) {
    uint64_t *baseline = baseline_words(window);
    const uint64_t *shown = span->table;
    for (size_t i = 0; i < table_words(layout); i++)
        baseline[i] += shown[i];
    memcpy(kept_longest(window, layout), kept_since_mark(window, layout), layout->op_count * sizeof(struct longest));
    window->clamped_baseline += span->clamped;
    window->start_ns = span->end_ns;
    window->start_cycles = span->end_cycles;
    if (window->paused && window->pause_start_cycles < span->end_cycles) { /* the span ended in the same pause */
        window->pause_start_cycles = span->end_cycles;
        window->paused_cycles = 0;
    } else {
        window->paused_cycles = difference(window->paused_cycles, span->paused_cycles);
    }
}

/* ---- Reading ---- */

uint64_t window_elapsed_cycles(const struct window *window, uint64_t now_cycles) {
    uint64_t end_cycles = window->paused ? window->pause_start_cycles : now_cycles;
    return difference(difference(end_cycles, window->start_cycles), window->paused_cycles);
}

/* While paused, those in the threads' blocks belong to the pause. */
static void show_longest(const struct window *window, const struct tally *tally, unsigned op,
                         struct aggstats_counters *counters) {
    const struct layout *layout = &tally->layout;
    struct longest longest = window_longest(window, layout)[op];
    if (!window->paused)
        longest_raise(&longest, longest_get(layout_counters_const(layout, tally->table, op), layout->resolution));
    if (!longest_is_possible(counters->buckets, layout->resolution, longest.cycles))
        longest = (struct longest){0};
    longest_put(counters, layout->resolution, longest);
}

void window_visible(const struct window *window, const struct tally *tally, unsigned op,
                    struct aggstats_counters *ret_counters) {
    const struct layout *layout = &tally->layout;
    const void *table = window->paused ? window_frozen(window, layout) : tally->table;
    const struct aggstats_counters *seen = layout_counters_const(layout, table, op);
    const struct aggstats_counters *baseline = layout_counters_const(layout, window_baseline(window), op);
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++) {
        unsigned slot = aggstats_slot(bucket, layout->resolution);
        ret_counters->buckets[bucket] = difference(seen->buckets[slot], baseline->buckets[slot]);
        finished += ret_counters->buckets[bucket];
    }
    for (unsigned word = layout_bucket_count(layout); word < layout_word_count(layout); word++)
        ret_counters->buckets[word] = difference(seen->buckets[word], baseline->buckets[word]);
    failures_limit(&aggstats_beside(ret_counters, layout->resolution)[AGGSTATS_FAILED], finished);
    ret_counters->total_cycles = difference(seen->total_cycles, baseline->total_cycles);
    ret_counters->calls = difference(seen->calls, baseline->calls);
    if (ret_counters->calls < finished)
        ret_counters->calls = finished;
    show_longest(window, tally, op, ret_counters);
}

uint64_t window_visible_clamped(const struct window *window, const struct tally *tally) {
    return difference(window->paused ? window->clamped_frozen : tally->clamped, window->clamped_baseline);
}

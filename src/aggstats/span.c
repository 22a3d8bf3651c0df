/* Reset, pause and resume as arithmetic on tables of counters. */
#include "span.h"

#include <string.h>

#include "clock.h"

static uint64_t difference(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* Tables are arrays of 64-bit words, and what holds for one counter holds for all. */
static size_t table_words(const struct layout *layout) {
    return layout_table_bytes(layout) / sizeof(uint64_t);
}

static uint64_t *baseline_words(struct span *span) {
    return (uint64_t *)(void *)span->tables;
}

static uint64_t *frozen_words(struct span *span, const struct layout *layout) {
    return (uint64_t *)(void *)(span->tables + layout_table_bytes(layout));
}

static void freeze(struct span *span, const struct tally *settled) {
    memcpy(frozen_words(span, &settled->layout), settled->table, layout_table_bytes(&settled->layout));
    span->clamped_frozen = settled->clamped;
}

void span_start(struct span *span, uint64_t now_cycles) {
    span->start_ns = (int64_t)clock_realtime_ns();
    span->start_cycles = now_cycles;
    span->paused_cycles = 0;
}

void span_reset(struct span *span, const struct tally *settled, uint64_t now_cycles) {
    memcpy(baseline_words(span), settled->table, layout_table_bytes(&settled->layout));
    span->clamped_baseline = settled->clamped;
    span_start(span, now_cycles);
    if (!span->paused)
        return;
    freeze(span, settled);
    span->pause_start_cycles = now_cycles;
}

void span_pause(struct span *span, const struct tally *settled, uint64_t now_cycles) {
    if (span->paused)
        return;
    freeze(span, settled);
    span->pause_start_cycles = now_cycles;
    span->paused = 1;
}

void span_resume(struct span *span, const struct tally *settled, uint64_t now_cycles) {
    if (!span->paused)
        return;
    uint64_t *baseline = baseline_words(span);
    const uint64_t *frozen = frozen_words(span, &settled->layout);
    const uint64_t *now = settled->table;
    for (size_t i = 0; i < table_words(&settled->layout); i++)
        baseline[i] += difference(now[i], frozen[i]);
    span->clamped_baseline += difference(settled->clamped, span->clamped_frozen);
    span->paused_cycles += difference(now_cycles, span->pause_start_cycles);
    span->paused = 0;
}

uint64_t span_elapsed_cycles(const struct span *span, uint64_t now_cycles) {
    uint64_t end_cycles = span->paused ? span->pause_start_cycles : now_cycles;
    return difference(difference(end_cycles, span->start_cycles), span->paused_cycles);
}

void span_visible(const struct span *span, const struct tally *tally, unsigned op,
                  struct aggstats_counters *ret_counters) {
    const struct layout *layout = &tally->layout;
    const void *table = span->paused ? span_frozen(span, layout) : tally->table;
    const struct aggstats_counters *seen = layout_counters_const(layout, table, op);
    const struct aggstats_counters *baseline = layout_counters_const(layout, span_baseline(span), op);
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++) {
        unsigned slot = aggstats_slot(bucket, layout->resolution);
        ret_counters->buckets[bucket] = difference(seen->buckets[slot], baseline->buckets[slot]);
        finished += ret_counters->buckets[bucket];
    }
    ret_counters->total_cycles = difference(seen->total_cycles, baseline->total_cycles);
    ret_counters->calls = difference(seen->calls, baseline->calls);
    if (ret_counters->calls < finished)
        ret_counters->calls = finished;
}

uint64_t span_visible_clamped(const struct span *span, const struct tally *tally) {
    return difference(span->paused ? span->clamped_frozen : tally->clamped, span->clamped_baseline);
}

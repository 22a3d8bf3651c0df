/* A comparison as JSON. */
#include <math.h>

#include "comparison.h"
#include "json_writer.h"

#define JSON_VERSION 3

struct page {
    struct json_writer writer;
    const struct compare_result *result;
    uint64_t frequency_hz; /* 0: unknown */
};

static void write_latency(struct page *page, const char *name, double cycles) {
    json_latency(&page->writer, page->frequency_hz, name, cycles);
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

static void write_peak(struct page *page, const char *key, const struct peak *peak) {
    const unsigned resolution = page->result->a.resolution;
    if (peak->calls == 0)
        return;
    json_begin(&page->writer, key, '{');
    json_count(&page->writer, "first_bucket", peak->first);
    json_count(&page->writer, "last_bucket", peak->last);
    write_latency(page, "lower", peak->first > 0 ? aggstats_bucket_lower(peak->first, resolution) : 0);
    write_latency(page, "upper", aggstats_bucket_upper(peak->last, resolution));
    write_latency(page, "mode", peak->mode_cycles);
    write_latency(page, "centre", exp2(peak->centre));
    json_count(&page->writer, "calls", peak->calls);
    json_real(&page->writer, "latency_share", peak->latency_share);
    json_end(&page->writer, '}');
}

static void write_peaks(struct page *page, const struct compare_op *op) {
    static const char *const changes[] = {
        [PEAK_STAYED] = "stayed",
        [PEAK_MOVED] = "moved",
        [PEAK_APPEARED] = "appeared",
        [PEAK_VANISHED] = "vanished",
    };
    json_begin(&page->writer, "peaks", '[');
    for (size_t i = 0; i < op->peak_count; i++) {
        const struct peak_pair *pair = &op->peaks[i];
        json_begin(&page->writer, NULL, '{');
        json_text(&page->writer, "change", changes[pair->change]);
        json_bool(&page->writer, "matters", compare_peak_matters(page->result, op, pair));
        if (pair->a.calls > 0 && pair->b.calls > 0)
            json_real(&page->writer, "moved_buckets", pair->moved_octaves);
        write_peak(page, "a", &pair->a);
        write_peak(page, "b", &pair->b);
        json_end(&page->writer, '}');
    }
    json_end(&page->writer, ']');
}

/* ---- Ops ---------------------------------------------------------------------------------------- */

static void write_side(struct page *page, const char *key, const struct aggstats_op_profile *op, uint64_t finished) {
    json_begin(&page->writer, key, '{');
    json_count(&page->writer, "calls", op->calls);
    json_count(&page->writer, "finished", finished);
    json_count(&page->writer, "total_cycles", op->total_cycles);
    if (page->frequency_hz > 0)
        json_real(&page->writer, "total_seconds", (double)op->total_cycles / (double)page->frequency_hz);
    if (aggstats_failed_calls(op) > 0)
        json_count(&page->writer, "failed", aggstats_failed_calls(op));
    json_end(&page->writer, '}');
}

static void write_op(struct page *page, const struct compare_op *op) {
    json_begin(&page->writer, NULL, '{');
    json_text(&page->writer, "op", op->name);
    json_bool(&page->writer, "different", compare_is_different(op->verdict));
    json_text(&page->writer, "verdict", comparison_list_name(op->list));
    json_text(&page->writer, "reason", comparison_verdict_name(op->verdict));
    if (op->mean_ratio > 0)
        json_real(&page->writer, "mean_ratio", op->mean_ratio);
    if (op->calls_ratio > 0)
        json_real(&page->writer, "calls_ratio", op->calls_ratio);
    json_real(&page->writer, "score", op->scores[page->result->options.method]);
    json_begin(&page->writer, "scores", '{');
    for (int method = 0; method < DISTANCE_METHOD_COUNT; method++)
        json_real(&page->writer, distance_traits((enum distance_method)method)->name, op->scores[method]);
    json_end(&page->writer, '}');
    write_side(page, "a", op->a, op->a_finished);
    write_side(page, "b", op->b, op->b_finished);
    write_peaks(page, op);
    if (page->result->slot_count > 0)
        json_begin(&page->writer, "slots", '[');
    for (size_t i = 0; i < page->result->slot_count; i++) {
        const struct compare_slot *slot = &op->slots[i];
        json_begin(&page->writer, NULL, '{');
        json_real(&page->writer, "a_calls", slot->a_calls);
        json_real(&page->writer, "b_calls", slot->b_calls);
        write_latency(page, "a_latency", slot->a_latency_cycles);
        write_latency(page, "b_latency", slot->b_latency_cycles);
        json_real(&page->writer, "moved_buckets", slot->score);
        json_end(&page->writer, '}');
    }
    if (page->result->slot_count > 0)
        json_end(&page->writer, ']');
    json_end(&page->writer, '}');
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static void write_profile(struct page *page, const char *key, const char *name,
                          const struct aggstats_profile *profile) {
    json_begin(&page->writer, key, '{');
    json_text(&page->writer, "name", name);
    json_labels(&page->writer, profile);
    if (profile->has_elapsed)
        write_latency(page, "elapsed", (double)profile->elapsed_cycles);
    json_bool(&page->writer, "incomplete", profile->incomplete);
    json_end(&page->writer, '}');
}

void comparison_print_json(const struct comparison *comparison) {
    const struct compare_result *result = comparison->result;
    const struct compare_options *options = &result->options;
    struct page page = {
        .writer = {.stream = stdout},
        .result = result,
        .frequency_hz = result->a.clock.frequency_hz,
    };
    json_begin(&page.writer, NULL, '{');
    json_count(&page.writer, "version", JSON_VERSION);
    json_bool(&page.writer, "different", result->different_count > 0);
    json_bool(&page.writer, "identical", result->is_identical);
    json_text(&page.writer, "method", distance_traits(options->method)->name);
    json_real(&page.writer, "threshold", options->threshold);
    json_begin(&page.writer, "phases", '{');
    json_real(&page.writer, "similar_percent", options->similar_percent);
    json_real(&page.writer, "share_percent", options->share_percent);
    json_real(&page.writer, "calls", options->calls);
    json_real(&page.writer, "apart_calls_percent", options->apart_calls_percent);
    json_real(&page.writer, "apart_latency_percent", options->apart_latency_percent);
    json_real(&page.writer, "peak_percent", options->peak_percent);
    json_bool(&page.writer, "score_only", options->score_only);
    json_end(&page.writer, '}');
    write_profile(&page, "a", comparison->a_name, &result->a);
    write_profile(&page, "b", comparison->b_name, &result->b);
    if (page.frequency_hz > 0)
        json_count(&page.writer, "frequency_hz", page.frequency_hz);
    json_count(&page.writer, "resolution", result->a.resolution);
    json_bool(&page.writer, "rescaled", result->rescaled);
    json_real(&page.writer, "allowance_buckets", result->allowance_buckets);
    if (result->slot_count > 0)
        write_latency(&page, "slot", result->slot_cycles);
    json_begin(&page.writer, "ops", '[');
    for (size_t i = 0; i < result->op_count; i++)
        write_op(&page, &result->ops[i]);
    json_end(&page.writer, ']');
    json_end(&page.writer, '}');
}

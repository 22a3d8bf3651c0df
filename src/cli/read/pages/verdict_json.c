/* Verdicts as JSON. */
#include <math.h>

#include "json_writer.h"
#include "verdict_page.h"

#define JSON_VERSION 3

struct page {
    struct json_writer writer;
    const struct verdict_result *result;
    uint64_t frequency_hz; /* 0: unknown */
};

static void write_latency(struct page *page, const char *name, double cycles) {
    json_latency(&page->writer, page->frequency_hz, name, cycles);
}

static void write_test(struct page *page, const struct effect *effect) {
    json_real(&page->writer, "p", effect->p);
    json_real(&page->writer, "freedom", effect->freedom);
    json_bool(&page->writer, "beyond_chance", effect->is_beyond);
}

/* Written if no side is 0. */
static void write_ratio(struct page *page, const struct verdict_ratio *ratio) {
    if (!verdict_has_ratio(ratio))
        return;
    json_real(&page->writer, "ratio", ratio->ratio);
    json_real(&page->writer, "low", ratio->low);
    json_real(&page->writer, "high", ratio->high);
}

/* What was tested is the op's own change. */
static void write_figure(struct page *page, const struct verdict_op *op, enum verdict_figure figure) {
    const struct verdict_ratio *ratio = &op->ratios[figure];
    const struct verdict_ratio *own = &op->own[figure];
    json_begin(&page->writer, verdict_figure_name(figure), '{');
    if (figure != VERDICT_CALLS) {
        write_latency(page, "a", ratio->a);
        write_latency(page, "b", ratio->b);
    }
    write_ratio(page, ratio);
    const bool is_beside = figure != VERDICT_CALLS && figure != VERDICT_TOTAL && verdict_has_ratio(ratio);
    if (page->result->common.is_there && is_beside) {
        json_real(&page->writer, "ratio_beside_common", own->ratio);
        json_real(&page->writer, "low_beside_common", own->low);
        json_real(&page->writer, "high_beside_common", own->high);
    }
    write_test(page, &own->effect);
    json_bool(&page->writer, "changed", op->is_changed[figure]);
    json_end(&page->writer, '}');
}

static void write_peaks(struct page *page, const struct verdict_op *op) {
    const unsigned resolution = page->result->a_sum.resolution;
    json_begin(&page->writer, "peaks", '[');
    for (size_t i = 0; i < op->peak_count; i++) {
        const struct verdict_peak *peak = &op->peaks[i];
        json_begin(&page->writer, NULL, '{');
        write_latency(page, "lower", peak->place.first > 0 ? aggstats_bucket_lower(peak->place.first, resolution) : 0);
        write_latency(page, "upper", aggstats_bucket_upper(peak->place.last, resolution));
        write_latency(page, "centre", exp2(peak->place.centre));
        json_real(&page->writer, "a_share", peak->a_share);
        json_real(&page->writer, "b_share", peak->b_share);
        json_real(&page->writer, "cost", peak->cost);
        if (peak->effect.is_known)
            write_test(page, &peak->effect);
        json_bool(&page->writer, "changed", peak->is_changed);
        json_end(&page->writer, '}');
    }
    json_end(&page->writer, ']');
}

static void write_op(struct page *page, const struct verdict_op *op) {
    const struct verdict_tail *tail = &op->tail;
    const struct verdict_failures *failures = &op->failures;
    json_begin(&page->writer, NULL, '{');
    json_text(&page->writer, "name", op->name);
    json_text(&page->writer, "verdict", verdict_word_name(op->word));
    json_text(&page->writer, "calls_verdict", verdict_word_name(op->calls_word));
    if (op->word <= VERDICT_FASTER_THAN_REST)
        json_text(&page->writer, "decided_by", verdict_figure_name(op->decided_by));
    json_real(&page->writer, "a_calls", op->a_calls);
    json_real(&page->writer, "b_calls", op->b_calls);
    write_latency(page, "a_total", op->a_total_cycles);
    write_latency(page, "b_total", op->b_total_cycles);
    if (op->word == VERDICT_UNDECIDED && op->more_runs > 0)
        json_count(&page->writer, "more_runs", op->more_runs);
    json_begin(&page->writer, "figures", '{');
    for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
        if (op->ratios[figure].effect.is_known)
            write_figure(page, op, figure);
    json_end(&page->writer, '}');
    if (tail->effect.is_known) { /* a call is slow, and both sides have enough runs */
        json_begin(&page->writer, "slow_calls", '{');
        write_latency(page, "beyond", aggstats_bucket_lower(tail->first, page->result->a_sum.resolution));
        json_real(&page->writer, "a_share", tail->a_share);
        json_real(&page->writer, "b_share", tail->b_share);
        json_real(&page->writer, "times_typical", tail->times);
        json_real(&page->writer, "cost", tail->cost);
        write_test(page, &tail->effect);
        json_bool(&page->writer, "changed", tail->is_changed);
        json_end(&page->writer, '}');
    }
    if (failures->effect.is_known) { /* a call has failed, and failures were judged */
        json_begin(&page->writer, "failures", '{');
        json_real(&page->writer, "a_share", failures->a_share);
        json_real(&page->writer, "b_share", failures->b_share);
        write_test(page, &failures->effect);
        json_bool(&page->writer, "changed", failures->is_changed);
        json_end(&page->writer, '}');
    }
    write_peaks(page, op);
    json_end(&page->writer, '}');
}

/* Opens an object. */
static void begin_change(struct page *page, const char *key, const struct verdict_change *change) {
    json_begin(&page->writer, key, '{');
    json_text(&page->writer, "verdict", verdict_word_name(change->word));
    write_ratio(page, &change->ratio);
    write_test(page, &change->ratio.effect);
    if (change->word == VERDICT_UNDECIDED && change->more_runs > 0)
        json_count(&page->writer, "more_runs", change->more_runs);
}

/* Written if all runs have it. */
static void write_time(struct page *page, const char *key, const struct verdict_change *time) {
    if (!time->is_there)
        return;
    begin_change(page, key, time);
    write_latency(page, "a", time->ratio.a);
    write_latency(page, "b", time->ratio.b);
    json_end(&page->writer, '}');
}

void verdict_page_print_json(const struct verdict_page *page) {
    const struct verdict_result *result = page->result;
    struct page json = {
        .writer = {.stream = stdout},
        .result = result,
        .frequency_hz = result->a_sum.clock.frequency_hz,
    };
    json_begin(&json.writer, NULL, '{');
    json_count(&json.writer, "version", JSON_VERSION);
    json_bool(&json.writer, "changed", verdict_is_so(result, VERDICT_ON_CHANGE));
    json_real(&json.writer, "at_least", result->options.at_least);
    json_real(&json.writer, "alpha", result->options.alpha);
    json_real(&json.writer, "confidence", EFFECT_CONFIDENCE);
    json_count(&json.writer, "a_runs", result->a_count);
    json_count(&json.writer, "b_runs", result->b_count);
    if (json.frequency_hz > 0)
        json_count(&json.writer, "frequency_hz", json.frequency_hz);
    json_count(&json.writer, "resolution", result->a_sum.resolution);
    json_bool(&json.writer, "rescaled", result->rescaled);
    write_time(&json, "elapsed", &result->elapsed);
    write_time(&json, "total", &result->total);
    if (result->common.is_there) {
        begin_change(&json, "common", &result->common);
        json_real(&json.writer, "spread", result->common_spread);
        if (result->has_trend)
            json_real(&json.writer, "trend", result->trend);
        json_end(&json.writer, '}');
    }
    json_begin(&json.writer, "ops", '[');
    for (size_t i = 0; i < result->op_count; i++)
        write_op(&json, &result->ops[i]);
    json_end(&json.writer, ']');
    json_end(&json.writer, '}');
}

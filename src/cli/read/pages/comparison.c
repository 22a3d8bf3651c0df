/* A comparison for people. */
#include "comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "figures.h"
#include "layers.h"
#include "peak_labels.h"

#define SCORE_TEXT_SIZE 48
#define LAYER_COLUMNS_MAX 16
#define TIMES_SHOWN_MIN 0.001 /* smaller factors are shown as less than this */

struct page {
    const struct comparison *comparison;
    const struct compare_result *result;
    struct sheet *sheet;
    const char *arrow;
};

const char *comparison_verdict_name(enum compare_verdict verdict) {
    static const char *const names[] = {
        [COMPARE_ALIKE] = "no change", [COMPARE_SIMILAR] = "similar",    [COMPARE_CHEAP] = "cheap",
        [COMPARE_RARE] = "rare",       [COMPARE_SCORE] = "score",        [COMPARE_TOTALS] = "totals",
        [COMPARE_PEAKS] = "peaks",     [COMPARE_ONE_SIDED] = "one side",
    };
    return names[verdict];
}

const char *comparison_list_name(enum compare_list list) {
    static const char *const names[] = {
        [COMPARE_CHANGED] = "changed",
        [COMPARE_MAYBE_NOISE] = "may be noise",
        [COMPARE_SAME] = "the same",
    };
    return names[list];
}

/* ---- Words -------------------------------------------------------------------------------------- */

static void format_score(const struct page *page, double score, char ret_text[SCORE_TEXT_SIZE]) {
    const struct distance_traits *traits = distance_traits(page->result->options.method);
    bool is_percent = strcmp(traits->unit, "%") == 0;
    snprintf(ret_text, SCORE_TEXT_SIZE, is_percent ? "%.1f %s" : "%.2f %s", score, traits->unit);
}

/* "2.35", "1,370" */
static struct units_text factor_text(double factor) {
    struct units_text text;
    if (factor >= 99.95)
        return units_count((uint64_t)fmin(factor, 0x1p63));
    snprintf(text.text, sizeof(text.text), "%.3g", factor);
    return text;
}

static struct units_text place_of(const struct page *page, const struct peak *peak) {
    return units_cycles(&page->sheet->units, peak->p50_cycles);
}

/* "2.0", "0.48", "1,370", "<0.001" */
static struct units_text times_text(double ratio) {
    struct units_text text;
    if (ratio >= 9.95 || (ratio < 0.0995 && ratio >= TIMES_SHOWN_MIN))
        return factor_text(ratio);
    if (ratio < TIMES_SHOWN_MIN)
        snprintf(text.text, sizeof(text.text), "<%g", TIMES_SHOWN_MIN);
    else
        snprintf(text.text, sizeof(text.text), "%.*f", fabs(ratio - 1) < 0.2 ? 2 : 1 + (ratio < 1), ratio);
    return text;
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static void put_profile(const struct page *page, const char *key, const char *name,
                        const struct aggstats_profile *profile) {
    const struct figures_sum sum = figures_sum(profile);
    struct sheet *sheet = page->sheet;
    sheet_entry(sheet, FORM_KEYED, key, "%s", name);
    sheet_ink(sheet, INK_STRONG);
    if (sum.calls == 0)
        sheet_span(sheet, INK_PLAIN, ": no operation has been called");
    else
        sheet_span(sheet, INK_PLAIN, ": %s in %s call%s", units_cycles(&sheet->units, sum.total_cycles).text,
                   units_count(sum.calls).text, units_plural(sum.calls));
    if (profile->has_elapsed)
        sheet_span(sheet, INK_PLAIN, ", taken for %s",
                   units_cycles(&sheet->units, (double)profile->elapsed_cycles).text);
    if (profile->incomplete)
        sheet_span(sheet, INK_PLAIN, "; incomplete");
}

/* Labels with different values: where and how the profiles were taken. */
static void put_differing_labels(const struct page *page) {
    static const struct {
        const char *key;
        const char *missing; /* the meaning of a missing label */
    } labels[] = {
        {"layer", "(unknown)"}, {"host", "(unknown)"},   {"lower", "(unknown)"}, {"cache", "(unknown)"},
        {"data", "copy"},       {"workers", "adaptive"}, {"io_uring", "no"},     {"locks", "not forwarded"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
        const char *a = aggstats_profile_label(&page->result->a, labels[i].key);
        const char *b = aggstats_profile_label(&page->result->b, labels[i].key);
        if (strcmp(a ? a : "", b ? b : "") == 0)
            continue;
        sheet_entry(page->sheet, FORM_KEYED, labels[i].key, "%s", a && a[0] ? a : labels[i].missing);
        sheet_span(page->sheet, INK_PLAIN, " %s %s", page->arrow, b && b[0] ? b : labels[i].missing);
    }
}

static void put_method(const struct page *page) {
    const struct compare_options *options = &page->result->options;
    const struct distance_traits *traits = distance_traits(options->method);
    const double allowance = options->method == DISTANCE_EARTHMOVER ? page->result->allowance_buckets : 0;
    char threshold[SCORE_TEXT_SIZE];
    format_score(page, options->threshold + allowance, threshold);
    sheet_entry(page->sheet, FORM_KEYED, "method", "%s, %s", traits->name, traits->means);
    sheet_entry(page->sheet, FORM_KEYED, "differ", "%zu of %zu operation%s: score above %s",
                page->result->different_count, page->result->op_count, units_plural(page->result->op_count), threshold);
    if (!options->score_only)
        sheet_span(page->sheet, INK_PLAIN, ", calls %g %% or latency %g %% apart, or other peaks",
                   options->apart_calls_percent, options->apart_latency_percent);
}

/* "2 of 11 operations changed, 3 may be noise, 6 are the same.", and what was compared. */
static void put_heading(const struct page *page) {
    const struct compare_result *result = page->result;
    const size_t same = result->list_counts[COMPARE_SAME];
    struct sheet *sheet = page->sheet;
    const char *a = aggstats_profile_label(&result->a, "layer");
    const char *b = aggstats_profile_label(&result->b, "layer");
    CLEANUP_FREE char *a_shown = a ? screen_cut(&sheet->screen, a, LAYER_COLUMNS_MAX, SCREEN_BEGINNING) : NULL;
    CLEANUP_FREE char *b_shown = b ? screen_cut(&sheet->screen, b, LAYER_COLUMNS_MAX, SCREEN_BEGINNING) : NULL;
    if (a_shown && b_shown && strcmp(a, b) != 0)
        sheet_warning(sheet,
                      "A is of the layer %s, B of the layer %s: operations of the same name are other calls there.",
                      a_shown, b_shown);
    if (result->op_count == 0)
        sheet_line(sheet, 0, "Nothing to compare: neither profile has calls.");
    else if (result->is_identical)
        sheet_line(sheet, 0, "A and B are identical: the same calls and latencies in %zu operation%s.",
                   result->op_count, units_plural(result->op_count));
    else
        sheet_line(sheet, 0, "%zu of %zu operation%s changed, %zu may be noise, %zu %s the same.",
                   result->list_counts[COMPARE_CHANGED], result->op_count, units_plural(result->op_count),
                   result->list_counts[COMPARE_MAYBE_NOISE], same, same == 1 ? "is" : "are");
    sheet_gap(sheet);
    put_profile(page, "A", page->comparison->a_name, &result->a);
    put_profile(page, "B", page->comparison->b_name, &result->b);
    put_differing_labels(page);
    if (result->rescaled)
        sheet_entry(sheet, FORM_KEYED, "clock", "both at %.3f MHz", (double)result->a.clock.frequency_hz / 1e6);
    if (result->rescaled && result->allowance_buckets > 0)
        sheet_span(sheet, INK_PLAIN, "; that alone may move calls by %.2g buckets", result->allowance_buckets);
    if (page->comparison->verbose)
        put_method(page);
}

/* ---- Table -------------------------------------------------------------------------------------- */

/* A ratio follows its two figures. */
enum column {
    COLUMN_NAME,
    COLUMN_LIST,
    COLUMN_A_MEAN,
    COLUMN_B_MEAN,
    COLUMN_MEAN_RATIO,
    COLUMN_A_CALLS,
    COLUMN_B_CALLS,
    COLUMN_CALLS_RATIO,
    COLUMN_SCORE,
    COLUMN_VERDICT,
};

static const struct sheet_column columns[] = {
    [COLUMN_NAME] = {"operation", SHEET_NAME, 0},
    [COLUMN_LIST] = {"", SHEET_NUMBER, 6, 14},
    [COLUMN_A_MEAN] = {"mean, A", SHEET_NUMBER, 4, 10},
    [COLUMN_B_MEAN] = {"mean, B", SHEET_NUMBER, 5, 10},
    [COLUMN_MEAN_RATIO] = {"mean, B/A", SHEET_NUMBER, 3, 11},
    [COLUMN_A_CALLS] = {"calls, A", SHEET_NUMBER, 7, 10},
    [COLUMN_B_CALLS] = {"calls, B", SHEET_NUMBER, 8, 10},
    [COLUMN_CALLS_RATIO] = {"calls, B/A", SHEET_NUMBER, 9, 12},
    [COLUMN_SCORE] = {"score", SHEET_NUMBER, 1, 8},
    [COLUMN_VERDICT] = {"differs by", SHEET_NUMBER, 2, 12},
};

static void add_mean(struct sheet *sheet, double calls, double latency_cycles) {
    sheet_add_cycles(sheet, calls > 0 ? latency_cycles / calls : NAN);
}

static void add_ratio(struct sheet *sheet, double ratio) {
    sheet_add(sheet, ratio > 0 ? times_text(ratio).text : "-");
}

/* ---- An op -------------------------------------------------------------------------------------- */

/* "  calls 3 → 12: 4 times as much", "... 16.8 times less", "... +12.0 %"; a, b: the two as texts */
static void put_change(const struct page *page, const char *what, uint64_t from, uint64_t to, struct units_text a,
                       struct units_text b) {
    const double ratio = from > 0 ? (double)to / (double)from : 0;
    const struct units_text factor = factor_text(ratio >= 1 || ratio == 0 ? ratio : (double)from / (double)to);
    if (from == to) {
        sheet_line(page->sheet, 2, "%s %s, as before", what, a.text);
        return;
    }
    sheet_line(page->sheet, 2, "%s %s %s %s: ", what, a.text, page->arrow, b.text);
    if (from == 0 || to == 0)
        sheet_span(page->sheet, INK_PLAIN, "%s", to > from ? "new" : "gone");
    else if (to / 2.0 > (double)from || from / 2.0 > (double)to)
        sheet_span(page->sheet, INK_PLAIN, "%s times %s", factor.text, to > from ? "as much" : "less");
    else
        sheet_span(page->sheet, INK_PLAIN, "%+.1f %%", 100 * ((double)to - (double)from) / (double)from);
}

static void put_changes(const struct page *page, const struct compare_op *op) {
    const uint64_t a_failed = aggstats_failed_calls(op->a);
    const uint64_t b_failed = aggstats_failed_calls(op->b);
    put_change(page, "calls", op->a->calls, op->b->calls, units_count(op->a->calls), units_count(op->b->calls));
    put_change(page, "total latency", op->a->total_cycles, op->b->total_cycles,
               units_cycles(&page->sheet->units, (double)op->a->total_cycles),
               units_cycles(&page->sheet->units, (double)op->b->total_cycles));
    if (a_failed != b_failed)
        put_change(page, "failed", a_failed, b_failed, units_count(a_failed), units_count(b_failed));
    for (size_t side = 0; side < 2; side++) {
        const uint64_t left = side == 0 ? op->a->calls - op->a_finished : op->b->calls - op->b_finished;
        if (left > 0)
            sheet_line(page->sheet, 2, "%s of %s not returned, and not compared", units_count(left).text,
                       side == 0 ? "A" : "B");
    }
}

/* What became of it, and its names, which are one line if both are the same. */
static void put_peak(const struct page *page, const struct compare_op *op, const struct peak_pair *pair) {
    const bool is_new = pair->change == PEAK_APPEARED;
    const bool is_lone = is_new || pair->change == PEAK_VANISHED;
    const struct peak *first = is_new ? &pair->b : &pair->a;
    const struct units_text place = place_of(page, first);
    const struct units_text calls = units_count(first->calls);
    const char *a = is_new ? "" : peak_labels_name(&page->result->a, page->comparison->a_times, op->a, &pair->a);
    const char *b = pair->change == PEAK_VANISHED
                        ? ""
                        : peak_labels_name(&page->result->b, page->comparison->b_times, op->b, &pair->b);
    const bool are_same = is_lone || strcmp(a, b) == 0;
    struct sheet *sheet = page->sheet;
    if (is_lone)
        sheet_line(sheet, 2, "peak %s around %s: %s call%s, %.1f %% of the latency", is_new ? "appeared" : "vanished",
                   place.text, calls.text, units_plural(first->calls), 100 * first->latency_share);
    else if (pair->change == PEAK_MOVED)
        sheet_line(sheet, 2, "peak moved from %s to %s", place.text, place_of(page, &pair->b).text);
    else
        sheet_line(sheet, 2, "peak stayed around %s", place.text);
    if (!is_lone && pair->a.calls == pair->b.calls)
        sheet_span(sheet, INK_PLAIN, ": %s call%s", calls.text, units_plural(pair->a.calls));
    else if (!is_lone)
        sheet_span(sheet, INK_PLAIN, ": %s %s %s calls", calls.text, page->arrow, units_count(pair->b.calls).text);
    if (a[0])
        sheet_line(sheet, 4, "%s%s", are_same ? "" : "A: ", a);
    if (b[0] && !(are_same && a[0]))
        sheet_line(sheet, 4, "%s%s", are_same ? "" : "B: ", b);
}

/* ---- Over time ---- */

static const struct sheet_column slot_columns[] = {
    {"time", SHEET_NAME, 0},          {"calls, A", SHEET_NUMBER, 1, 10}, {"calls, B", SHEET_NUMBER, 2, 10},
    {"mean, A", SHEET_NUMBER, 3, 10}, {"mean, B", SHEET_NUMBER, 4, 10},  {"mean, B/A", SHEET_NUMBER, 5, 11},
};

/* The parts of an op's time that have calls. */
static void put_slots(const struct page *page, const struct compare_op *op) {
    struct sheet *sheet = page->sheet;
    bool is_begun = false;
    for (size_t i = 0; i < page->result->slot_count; i++) {
        const struct compare_slot *slot = &op->slots[i];
        if (slot->a_calls + slot->b_calls <= 0)
            continue;
        if (!is_begun) {
            sheet_gap(sheet);
            SHEET_TABLE(sheet, slot_columns);
        }
        is_begun = true;
        sheet_add_cycles(sheet, (double)i * page->result->slot_cycles);
        sheet_ink(sheet, INK_FAINT);
        sheet_addf(sheet, slot->a_calls < 1e9 ? "%.0f" : "%.3g", slot->a_calls);
        sheet_addf(sheet, slot->b_calls < 1e9 ? "%.0f" : "%.3g", slot->b_calls);
        add_mean(sheet, slot->a_calls, slot->a_latency_cycles);
        add_mean(sheet, slot->b_calls, slot->b_latency_cycles);
        add_ratio(sheet, slot->a_calls > 0 && slot->b_calls > 0
                             ? slot->b_latency_cycles / slot->b_calls / (slot->a_latency_cycles / slot->a_calls)
                             : 0);
    }
    if (is_begun)
        sheet_gap(sheet);
}

/* ---- The whole of it ---- */

/* Continues the line that an op's name begins: "took 2.0 times as long and was called 1.3 times as often"; "took 1.02 times
 * as long, in other latencies"; "took 1.00 us a call after 0 ns". */
static void put_what(const struct page *page, const struct compare_op *op, const char *after_name) {
    const struct units *units = &page->sheet->units;
    const double least = page->result->options.similar_percent / 100;
    const bool is_same_mean = op->a->total_cycles == 0 && op->b->total_cycles == 0;
    const bool is_small_mean = is_same_mean || fabs(op->mean_ratio - 1) < least;
    const bool is_small = is_small_mean && fabs(op->calls_ratio - 1) < least;
    const bool has_mean = !is_same_mean && (is_small || !is_small_mean);
    const bool has_calls = is_small ? op->a->calls != op->b->calls : fabs(op->calls_ratio - 1) >= least;
    CLEANUP_STR struct str text = {0};
    if ((op->a_finished == 0) != (op->b_finished == 0)) {
        sheet_span(page->sheet, INK_PLAIN, ": only in %s", op->a_finished > 0 ? "A" : "B");
        return;
    }
    if (op->a_finished == 0) {
        str_add(&text, "has no calls that returned");
    } else if (op->list == COMPARE_SAME) {
        str_add(&text, "is the same");
    } else {
        if (has_mean && op->mean_ratio > 0)
            str_addf(&text, "took %s times as long", times_text(op->mean_ratio).text);
        else if (has_mean)
            str_addf(&text, "took %s a call after %s",
                     units_cycles(units, (double)op->b->total_cycles / (double)op->b_finished).text,
                     units_cycles(units, (double)op->a->total_cycles / (double)op->a_finished).text);
        if (has_calls)
            str_addf(&text, "%swas called %s times as often", has_mean ? " and " : "",
                     times_text(op->calls_ratio).text);
        str_add(&text, is_small && op->list == COMPARE_CHANGED ? ", in other latencies" : "");
    }
    sheet_span(page->sheet, INK_PLAIN, "%s %s", after_name, str_text(&text));
}

/* Of an op that only one side has, and the other's kernel may have had, nothing is known there. */
static void put_op(const struct page *page, const struct compare_op *op) {
    const bool is_of_data = strcmp(op->name, "READ") == 0 || strcmp(op->name, "WRITE") == 0;
    const bool a_has = layers_has_kernel_data(&page->result->a);
    char score[SCORE_TEXT_SIZE];
    sheet_heading(page->sheet, "%s", op->name);
    put_what(page, op, ":");
    if (is_of_data && a_has != layers_has_kernel_data(&page->result->b)) {
        sheet_line(page->sheet, 2, "in %s " LAYERS_KERNEL_DATA, a_has ? "A" : "B");
        return;
    }
    format_score(page, op->scores[page->result->options.method], score);
    if (page->comparison->verbose && op->verdict != COMPARE_ONE_SIDED)
        sheet_line(page->sheet, 2, "score %s", score);
    put_changes(page, op);
    for (size_t i = 0; i < op->peak_count; i++)
        put_peak(page, op, &op->peaks[i]);
    put_slots(page, op);
    if (op->a_finished + op->b_finished == 0)
        return;
    const struct aggstats_op_profile *const ops[2] = {op->a, op->b};
    const unsigned resolution = page->result->a.resolution;
    const struct chart_axis axis = chart_pair_axis_of(ops, resolution, &page->sheet->screen);
    sheet_picture(page->sheet, op->name);
    sheet_chart(page->sheet, NULL, &axis, resolution, op->a, op->b);
}

/* ---- The rest ----------------------------------------------------------------------------------- */

/* The names of some operations behind why they are there; nothing if there are none. verdict: -1: any */
static void put_names(const struct page *page, enum compare_list list, int verdict, const char *why, double percent,
                      const char *behind) {
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < page->result->op_count; i++) {
        const struct compare_op *op = &page->result->ops[i];
        if (op->list != list || (verdict >= 0 && (int)op->verdict != verdict))
            continue;
        if (text.length == 0)
            str_addf(&text, "%s %g %%%s:", why, percent, behind);
        str_addf(&text, " %s", op->name);
    }
    if (text.length == 0)
        return;
    sheet_gap(page->sheet);
    sheet_put(page->sheet, FORM_WORDS, INK_PLAIN, 0, "%s", str_text(&text));
}

/* "  READ took 2.0 times as long and was called 3.4 times as often, 17 calls after 5"; "..., 5 calls", of one side. What is
 * said is true of the two profiles; only whether it is so in other runs is not known. */
static void put_noise(const struct page *page) {
    if (page->result->list_counts[COMPARE_MAYBE_NOISE] == 0)
        return;
    sheet_title(page->sheet,
                "Different in these two, but maybe by noise; repeat to decide, as with osprof run --repeat 5 --vs");
    for (size_t i = 0; i < page->result->op_count; i++) {
        const struct compare_op *op = &page->result->ops[i];
        const uint64_t a = op->a->calls;
        const uint64_t b = op->b->calls;
        const uint64_t only = op->a_finished > 0 ? a : b;
        if (op->list != COMPARE_MAYBE_NOISE)
            continue;
        sheet_line(page->sheet, 2, "%s", op->name);
        put_what(page, op, "");
        if (op->a_finished > 0 && op->b_finished > 0 && a != b)
            sheet_span(page->sheet, INK_PLAIN, ", %s call%s after %s", units_count(b).text, units_plural(b),
                       units_count(a).text);
        else if ((op->a_finished > 0) != (op->b_finished > 0))
            sheet_span(page->sheet, INK_PLAIN, ", %s call%s", units_count(only).text, units_plural(only));
    }
}

/* Of operations that changed, those with too small a part of the latency to make a difference have no details. */
static void put_summary(const struct page *page) {
    const struct compare_options *options = &page->result->options;
    const size_t row_count =
        page->comparison->all ? page->result->op_count : page->result->list_counts[COMPARE_CHANGED];
    struct sheet *sheet = page->sheet;
    put_heading(page);
    sheet_gap(sheet);
    if (row_count > 0)
        SHEET_TABLE(sheet, columns)->hidden =
            (page->comparison->all ? 0 : 1U << COLUMN_LIST) |
            (page->comparison->verbose ? 0 : 1U << COLUMN_SCORE | 1U << COLUMN_VERDICT);
    for (size_t i = 0; i < row_count; i++) {
        const struct compare_op *op = &page->result->ops[i];
        sheet_add(sheet, op->name);
        sheet_ink(sheet, op->list == COMPARE_CHANGED ? INK_STRONG : INK_PLAIN);
        sheet_add(sheet, comparison_list_name(op->list));
        add_mean(sheet, (double)op->a_finished, (double)op->a->total_cycles);
        add_mean(sheet, (double)op->b_finished, (double)op->b->total_cycles);
        add_ratio(sheet, op->mean_ratio);
        sheet_add_count(sheet, op->a->calls);
        sheet_add_count(sheet, op->b->calls);
        add_ratio(sheet, op->calls_ratio);
        if (op->verdict == COMPARE_ONE_SIDED)
            sheet_add(sheet, "-");
        else
            sheet_addf(sheet, "%.2f", op->scores[options->method]);
        sheet_add(sheet, comparison_verdict_name(op->verdict));
    }
    put_names(page, COMPARE_CHANGED, COMPARE_CHEAP, "Less than", options->share_percent,
              " of the latency, so not in the exit status");
    if (page->comparison->all)
        return;
    put_noise(page);
    put_names(page, COMPARE_SAME, -1, "The same within", options->similar_percent, "");
}

void comparison_print_parts(const struct comparison *comparison, bool has_summary, bool has_ops,
                            const struct screen *screen) {
    const struct compare_result *result = comparison->result;
    CLEANUP_SHEET struct sheet sheet = sheet_of(screen, result->a.clock.frequency_hz);
    const struct page page = {comparison, result, &sheet, screen->ascii ? "->" : "→"};
    sheet.pictures = comparison->pictures;
    if (has_summary)
        put_summary(&page);
    for (size_t i = 0; has_ops && i < (comparison->all ? result->op_count : result->different_count); i++)
        put_op(&page, &result->ops[i]);
    sheet_print(&sheet);
}

void comparison_print(const struct comparison *comparison, const struct screen *screen) {
    comparison_print_parts(comparison, true, true, screen);
}

void comparison_complain(const char *a_name, const char *b_name, const struct aggstats_profile *a, int error) {
    const bool is_a_silent = a->clock.frequency_hz == 0;
    if (error == -EDOM)
        complain(
            "cannot compare %s with %s: only %s tells its clock's rate; add a line \"# clock: tsc HZ Hz\" to %s if you "
            "know it",
            a_name, b_name, is_a_silent ? b_name : a_name, is_a_silent ? a_name : b_name);
    else if (error == -EOVERFLOW)
        complain("cannot compare %s with %s: their clock rates are too far apart for these latencies", a_name, b_name);
    else
        complain("cannot compare %s with %s: %s", a_name, b_name, strerror(-error));
}

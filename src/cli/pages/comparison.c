/* A comparison for people. */
#include "comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "chart.h"
#include "command.h"
#include "figures.h"
#include "layers.h"
#include "peak_labels.h"
#include "sheet.h"
#include "units.h"

#define SCORE_TEXT_SIZE 48
#define CHANGE_TEXT_SIZE 48
#define SENTENCE_SIZE 256
#define MEAN_SENTENCE_SIZE 128
#define LAYER_COLUMNS_MAX 16
#define TIMES_SHOWN_MIN 0.001 /* smaller factors are shown as less than this */

struct page {
    const struct comparison *comparison;
    const struct compare_result *result;
    const struct screen *screen;
    FILE *stream;
    struct units units;
    const char *arrow;
};

const char *comparison_verdict_name(enum compare_verdict verdict) {
    static const char *const names[] = {
        [COMPARE_ALIKE] = "alike", [COMPARE_SIMILAR] = "similar",    [COMPARE_CHEAP] = "cheap",
        [COMPARE_RARE] = "rare",   [COMPARE_SCORE] = "score",        [COMPARE_TOTALS] = "totals",
        [COMPARE_PEAKS] = "peaks", [COMPARE_ONE_SIDED] = "one side",
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

const char *comparison_change_name(enum peak_change change) {
    static const char *const names[] = {
        [PEAK_STAYED] = "stayed",
        [PEAK_MOVED] = "moved",
        [PEAK_APPEARED] = "appeared",
        [PEAK_VANISHED] = "vanished",
    };
    return names[change];
}

/* ---- Words -------------------------------------------------------------------------------------- */

static void format_score(const struct page *page, double score, char ret_text[SCORE_TEXT_SIZE]) {
    const struct distance_traits *traits = distance_traits(page->result->options.method);
    bool is_percent = strcmp(traits->unit, "%") == 0;
    snprintf(ret_text, SCORE_TEXT_SIZE, is_percent ? "%.1f %s" : "%.2f %s", score, traits->unit);
}

/* "2.35", "1,370" */
static void format_factor(double factor, char ret_text[UNITS_TEXT_SIZE]) {
    if (factor < 99.95)
        snprintf(ret_text, UNITS_TEXT_SIZE, "%.3g", factor);
    else
        units_format_count((uint64_t)fmin(factor, 0x1p63), ret_text);
}

/* "+12.0 %", "16.8 times less"; they are not equal */
static void format_change(double from, double to, char ret_text[CHANGE_TEXT_SIZE]) {
    char factor[UNITS_TEXT_SIZE] = "";
    if (from > 0 && to > 0)
        format_factor(to > from ? to / from : from / to, factor);
    if (from <= 0 || to <= 0)
        snprintf(ret_text, CHANGE_TEXT_SIZE, "%s", to > from ? "new" : "gone");
    else if (to > 2 * from)
        snprintf(ret_text, CHANGE_TEXT_SIZE, "%s times as much", factor);
    else if (from > 2 * to)
        snprintf(ret_text, CHANGE_TEXT_SIZE, "%s times less", factor);
    else
        snprintf(ret_text, CHANGE_TEXT_SIZE, "%+.1f %%", 100 * (to - from) / from);
}

static struct units_text place_of(const struct page *page, const struct peak *peak) {
    return units_cycles(&page->units, peak->p50_cycles);
}

/* "2.0", "0.48", "1,370", "<0.001" */
static void format_times(double ratio, char ret_text[UNITS_TEXT_SIZE]) {
    if (ratio < TIMES_SHOWN_MIN)
        snprintf(ret_text, UNITS_TEXT_SIZE, "<%g", TIMES_SHOWN_MIN);
    else if (ratio >= 9.95 || ratio < 0.0995)
        format_factor(ratio, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "%.*f", fabs(ratio - 1) < 0.2 ? 2 : 1 + (ratio < 1), ratio);
}

/* "took 2.0 times as long"; "took 1.00 us a call after 0 ns" */
static void format_mean_change(const struct page *page, const struct compare_op *op,
                               char ret_text[MEAN_SENTENCE_SIZE]) {
    char times[UNITS_TEXT_SIZE];
    format_times(op->mean_ratio, times);
    if (op->mean_ratio > 0)
        snprintf(ret_text, MEAN_SENTENCE_SIZE, "took %s times as long", times);
    else
        snprintf(ret_text, MEAN_SENTENCE_SIZE, "took %s a call after %s",
                 units_cycles(&page->units, (double)op->b->total_cycles / (double)op->b_finished).text,
                 units_cycles(&page->units, (double)op->a->total_cycles / (double)op->a_finished).text);
}

/* The sentence about an op that both have: "took 2.0 times as long and was called 1.3 times as often"; "took 1.02 times
 * as long, in other latencies". */
static void format_sentence(const struct page *page, const struct compare_op *op, char ret_text[SENTENCE_SIZE]) {
    const double least = page->result->options.similar_percent / 100;
    const bool is_same_mean = op->a->total_cycles == 0 && op->b->total_cycles == 0;
    const bool is_small_mean = is_same_mean || fabs(op->mean_ratio - 1) < least;
    const bool is_small = is_small_mean && fabs(op->calls_ratio - 1) < least;
    const bool has_mean = !is_same_mean && (is_small || !is_small_mean);
    const bool has_calls = is_small ? op->a->calls != op->b->calls : fabs(op->calls_ratio - 1) >= least;
    char mean[MEAN_SENTENCE_SIZE] = "";
    char calls[UNITS_TEXT_SIZE] = "";
    if (has_mean)
        format_mean_change(page, op, mean);
    format_times(op->calls_ratio, calls);
    snprintf(ret_text, SENTENCE_SIZE, "%s%s%s%s%s%s", mean, has_mean && has_calls ? " and " : "",
             has_calls ? "was called " : "", has_calls ? calls : "", has_calls ? " times as often" : "",
             is_small && op->list == COMPARE_CHANGED ? ", in other latencies" : "");
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static void print_profile(const struct page *page, const char *key, const char *name,
                          const struct aggstats_profile *profile) {
    struct figures_sum sum = figures_sum(profile);
    char elapsed[UNITS_TEXT_SIZE];
    screen_begin_entry(page->screen, key);
    screen_print_untrusted(page->screen, INK_STRONG, name);
    if (sum.calls == 0)
        screen_printf(page->screen, ": no operation has been called");
    else
        screen_printf(page->screen, ": %s in %s call%s", units_cycles(&page->units, sum.total_cycles).text,
                      units_count(sum.calls).text, units_plural(sum.calls));
    if (profile->has_elapsed) {
        units_format_cycles(&page->units, (double)profile->elapsed_cycles, elapsed);
        screen_printf(page->screen, ", taken for %s", elapsed);
    }
    if (profile->incomplete)
        screen_printf(page->screen, "; incomplete");
    screen_end_line(page->screen);
}

/* Labels that differ: where and how they were taken. */
static void print_differing_labels(const struct page *page) {
    static const struct {
        const char *key;
        const char *missing; /* what it means that there is no such label */
    } labels[] = {
        {"layer", "(unknown)"}, {"host", "(unknown)"},   {"lower", "(unknown)"}, {"cache", "(unknown)"},
        {"data", "copy"},       {"workers", "adaptive"}, {"io_uring", "no"},     {"locks", "not forwarded"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
        const char *a = aggstats_profile_label(&page->result->a, labels[i].key);
        const char *b = aggstats_profile_label(&page->result->b, labels[i].key);
        if (strcmp(a ? a : "", b ? b : "") == 0)
            continue;
        screen_begin_entry(page->screen, labels[i].key);
        screen_print_untrusted(page->screen, INK_PLAIN, a && a[0] ? a : labels[i].missing);
        screen_printf(page->screen, " %s ", page->arrow);
        screen_print_untrusted(page->screen, INK_PLAIN, b && b[0] ? b : labels[i].missing);
        screen_end_line(page->screen);
    }
}

static void print_method(const struct page *page) {
    const struct distance_traits *traits = distance_traits(page->result->options.method);
    const double allowance = page->result->options.method == DISTANCE_EARTHMOVER ? page->result->allowance_buckets : 0;
    char threshold[SCORE_TEXT_SIZE];
    format_score(page, page->result->options.threshold + allowance, threshold);
    screen_begin_entry(page->screen, "method");
    screen_printf(page->screen, "%s, %s", traits->name, traits->means);
    screen_end_line(page->screen);
    screen_begin_entry(page->screen, "differ");
    screen_printf(page->screen, "%zu of %zu operation%s: score above %s", page->result->different_count,
                  page->result->op_count, units_plural(page->result->op_count), threshold);
    if (!page->result->options.score_only)
        screen_printf(page->screen, ", calls %g %% or latency %g %% apart, or other peaks",
                      page->result->options.apart_calls_percent, page->result->options.apart_latency_percent);
    screen_end_line(page->screen);
}

static void print_clock(const struct page *page) {
    if (!page->result->rescaled)
        return;
    screen_begin_entry(page->screen, "clock");
    screen_printf(page->screen, "both at %.3f MHz", (double)page->result->a.clock.frequency_hz / 1e6);
    if (page->result->allowance_buckets > 0)
        screen_printf(page->screen, "; that alone may move calls by %.2g buckets", page->result->allowance_buckets);
    screen_end_line(page->screen);
}

/* "A is of the layer user, B of the layer fs: operations of the same name are other calls there." */
static void warn_of_layers(const struct page *page) {
    const char *a = aggstats_profile_label(&page->result->a, "layer");
    const char *b = aggstats_profile_label(&page->result->b, "layer");
    CLEANUP_FREE char *a_shown = a ? screen_cut(page->screen, a, LAYER_COLUMNS_MAX, SCREEN_BEGINNING) : NULL;
    CLEANUP_FREE char *b_shown = b ? screen_cut(page->screen, b, LAYER_COLUMNS_MAX, SCREEN_BEGINNING) : NULL;
    char text[256];
    if (!a_shown || !b_shown || strcmp(a, b) == 0)
        return;
    snprintf(text, sizeof(text),
             "A is of the layer %.64s, B of the layer %.64s: operations of the same name are other calls there.",
             a_shown, b_shown);
    screen_print_in_ink(page->screen, INK_WARNING, text);
}

/* "2 of 11 operations changed, 3 may be noise, 6 are the same." */
static void print_answer(const struct page *page) {
    const struct compare_result *result = page->result;
    const size_t changed = result->list_counts[COMPARE_CHANGED];
    const size_t noise = result->list_counts[COMPARE_MAYBE_NOISE];
    const size_t same = result->list_counts[COMPARE_SAME];
    if (result->op_count == 0)
        screen_print_line(page->screen, 0, "Nothing to compare: neither profile has calls.");
    else if (result->is_identical)
        screen_print_line(page->screen, 0, "A and B are identical: the same calls and latencies in %zu operation%s.",
                          result->op_count, units_plural(result->op_count));
    else
        screen_print_line(page->screen, 0, "%zu of %zu operation%s changed, %zu may be noise, %zu %s the same.",
                          changed, result->op_count, units_plural(result->op_count), noise, same,
                          same == 1 ? "is" : "are");
    screen_print_gap(page->screen);
}

static void print_heading(const struct page *page) {
    warn_of_layers(page);
    print_answer(page);
    print_profile(page, "A", page->comparison->a_name, &page->result->a);
    print_profile(page, "B", page->comparison->b_name, &page->result->b);
    print_differing_labels(page);
    print_clock(page);
    if (page->comparison->verbose)
        print_method(page);
}

/* ---- Table -------------------------------------------------------------------------------------- */

/* Operations with details. */
static size_t shown_count(const struct page *page) {
    return page->comparison->all ? page->result->op_count : page->result->different_count;
}

/* Operations with a line in the table. */
static size_t row_count(const struct page *page) {
    return page->comparison->all ? page->result->op_count : page->result->list_counts[COMPARE_CHANGED];
}

/* Ratios stand behind the figures that they are of. */
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

static void add_mean(struct sheet_table *table, double calls, double latency_cycles) {
    sheet_add_cycles(table, calls > 0 ? latency_cycles / calls : NAN);
}

static void add_ratio(struct sheet_table *table, double ratio) {
    char text[UNITS_TEXT_SIZE] = "-";
    if (ratio > 0)
        format_times(ratio, text);
    sheet_add(table, text);
}

static void add_op(const struct page *page, struct sheet_table *table, const struct compare_op *op) {
    sheet_add(table, op->name);
    sheet_ink(table, op->list == COMPARE_CHANGED ? INK_STRONG : INK_PLAIN);
    sheet_add(table, comparison_list_name(op->list));
    add_mean(table, (double)op->a_finished, (double)op->a->total_cycles);
    add_mean(table, (double)op->b_finished, (double)op->b->total_cycles);
    add_ratio(table, op->mean_ratio);
    sheet_add_count(table, op->a->calls);
    sheet_add_count(table, op->b->calls);
    add_ratio(table, op->calls_ratio);
    if (op->verdict == COMPARE_ONE_SIDED)
        sheet_add(table, "-");
    else
        sheet_addf(table, "%.2f", op->scores[page->result->options.method]);
    sheet_add(table, comparison_verdict_name(op->verdict));
}

static void print_table(const struct page *page) {
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(columns, &page->units);
    table.hidden = (page->comparison->all ? 0 : 1U << COLUMN_LIST) |
                   (page->comparison->verbose ? 0 : 1U << COLUMN_SCORE | 1U << COLUMN_VERDICT);
    for (size_t i = 0; i < row_count(page); i++)
        add_op(page, &table, &page->result->ops[i]);
    screen_print_gap(page->screen);
    sheet_print(&table, page->screen);
}

/* ---- An op -------------------------------------------------------------------------------------- */

/* "  calls 3 → 12: 4 times as much"; a, b: the two as texts */
static void print_change(const struct page *page, const char *what, uint64_t from, uint64_t to, struct units_text a,
                         struct units_text b) {
    char change[CHANGE_TEXT_SIZE];
    if (from == to) {
        screen_print_line(page->screen, 2, "%s %s, as before", what, a.text);
        return;
    }
    format_change((double)from, (double)to, change);
    screen_print_line(page->screen, 2, "%s %s %s %s: %s", what, a.text, page->arrow, b.text, change);
}

static void print_changes(const struct page *page, const struct compare_op *op) {
    const uint64_t a_failed = aggstats_failed_calls(op->a);
    const uint64_t b_failed = aggstats_failed_calls(op->b);
    print_change(page, "calls", op->a->calls, op->b->calls, units_count(op->a->calls), units_count(op->b->calls));
    print_change(page, "total latency", op->a->total_cycles, op->b->total_cycles,
                 units_cycles(&page->units, (double)op->a->total_cycles),
                 units_cycles(&page->units, (double)op->b->total_cycles));
    if (a_failed != b_failed)
        print_change(page, "failed", a_failed, b_failed, units_count(a_failed), units_count(b_failed));
}

static void print_unfinished(const struct page *page, const char *name, uint64_t calls, uint64_t finished) {
    if (calls == finished)
        return;
    screen_print_line(page->screen, 2, "%s of %s not returned, and not compared", units_count(calls - finished).text,
                      name);
}

static void print_lone_peak(const struct page *page, const struct peak *peak, const char *what) {
    screen_print_line(page->screen, 2, "peak %s around %s: %s call%s, %.1f %% of the latency", what,
                      place_of(page, peak).text, units_count(peak->calls).text, units_plural(peak->calls),
                      100 * peak->latency_share);
}

static void print_peak_pair(const struct page *page, const struct peak_pair *pair) {
    const struct units_text a_place = place_of(page, &pair->a);
    const struct units_text a_calls = units_count(pair->a.calls);
    screen_begin_line(page->screen, 2);
    if (pair->change == PEAK_MOVED)
        screen_printf(page->screen, "peak moved from %s to %s", a_place.text, place_of(page, &pair->b).text);
    else
        screen_printf(page->screen, "peak stayed around %s", a_place.text);
    if (pair->a.calls == pair->b.calls)
        screen_printf(page->screen, ": %s call%s", a_calls.text, units_plural(pair->a.calls));
    else
        screen_printf(page->screen, ": %s %s %s calls", a_calls.text, page->arrow, units_count(pair->b.calls).text);
    screen_end_line(page->screen);
}

/* The name of a peak; empty: unknown, or there is no such peak. */
static const char *label_of(const struct calibration *calibration, const struct aggstats_profile *profile,
                            const struct aggstats_op_profile *op, const struct peak *peak) {
    const struct peak_times times = peak_labels_times(profile, calibration);
    if (peak->calls == 0)
        return "";
    const struct peak_reason reason = peak_reason_of(op, peak, &times);
    return peak_reason_text(&reason, op);
}

/* Printed once if both are the same. */
static void print_peak_labels(const struct page *page, const struct compare_op *op, const struct peak_pair *pair) {
    const char *a = "";
    const char *b = "";
    if (pair->change != PEAK_APPEARED)
        a = label_of(page->comparison->a_times, &page->result->a, op->a, &pair->a);
    if (pair->change != PEAK_VANISHED)
        b = label_of(page->comparison->b_times, &page->result->b, op->b, &pair->b);
    bool is_lone = pair->change == PEAK_APPEARED || pair->change == PEAK_VANISHED;
    if (is_lone || strcmp(a, b) == 0) {
        if (a[0] || b[0])
            screen_print_line(page->screen, 4, "%s", a[0] ? a : b);
        return;
    }
    if (a[0])
        screen_print_line(page->screen, 4, "A: %s", a);
    if (b[0])
        screen_print_line(page->screen, 4, "B: %s", b);
}

static void print_peaks(const struct page *page, const struct compare_op *op) {
    for (size_t i = 0; i < op->peak_count; i++) {
        const struct peak_pair *pair = &op->peaks[i];
        if (pair->change == PEAK_APPEARED)
            print_lone_peak(page, &pair->b, "appeared");
        else if (pair->change == PEAK_VANISHED)
            print_lone_peak(page, &pair->a, "vanished");
        else
            print_peak_pair(page, pair);
        print_peak_labels(page, op, pair);
    }
}

/* ---- Over time ---- */

static const struct sheet_column slot_columns[] = {
    {"time", SHEET_NAME, 0},          {"calls, A", SHEET_NUMBER, 1, 10}, {"calls, B", SHEET_NUMBER, 2, 10},
    {"mean, A", SHEET_NUMBER, 3, 10}, {"mean, B", SHEET_NUMBER, 4, 10},  {"mean, B/A", SHEET_NUMBER, 5, 11},
};

/* The parts of an op's time that have calls. */
static void print_slots(const struct page *page, const struct compare_op *op) {
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(slot_columns, &page->units);
    for (size_t i = 0; i < page->result->slot_count; i++) {
        const struct compare_slot *slot = &op->slots[i];
        if (slot->a_calls + slot->b_calls <= 0)
            continue;
        sheet_add_cycles(&table, (double)i * page->result->slot_cycles);
        sheet_ink(&table, INK_FAINT);
        sheet_addf(&table, slot->a_calls < 1e9 ? "%.0f" : "%.3g", slot->a_calls);
        sheet_addf(&table, slot->b_calls < 1e9 ? "%.0f" : "%.3g", slot->b_calls);
        add_mean(&table, slot->a_calls, slot->a_latency_cycles);
        add_mean(&table, slot->b_calls, slot->b_latency_cycles);
        add_ratio(&table, slot->a_calls > 0 && slot->b_calls > 0
                              ? slot->b_latency_cycles / slot->b_calls / (slot->a_latency_cycles / slot->a_calls)
                              : 0);
    }
    if (table.cell_count == 0)
        return;
    screen_print_gap(page->screen);
    sheet_print(&table, page->screen);
    screen_print_gap(page->screen);
}

/* ---- The whole of it ---- */

static void print_charts(const struct page *page, const struct compare_op *op) {
    const struct aggstats_op_profile *const ops[2] = {op->a, op->b};
    if (op->a_finished + op->b_finished == 0)
        return;
    if (page->screen->html) {
        chart_put_picture(page->comparison->pictures, op->name);
        return;
    }
    struct chart_axis axis = chart_pair_axis_of(ops, page->result->a.resolution, page->screen);
    fprintf(page->stream, "%*s", 7, "");
    screen_print(page->screen, INK_FAINT, "A");
    fprintf(page->stream, "%*s", page->screen->width / 2 - 1, "");
    screen_print(page->screen, INK_FAINT, "B");
    putc('\n', page->stream);
    chart_print_pair(&axis, ops, &page->units, page->screen);
}

/* Says for an op that only one side has, and the other's kernel may have had, that nothing is known of it there. Returns
 * whether it is so. */
static bool print_kernels(const struct page *page, const struct compare_op *op) {
    const bool is_of_data = strcmp(op->name, "READ") == 0 || strcmp(op->name, "WRITE") == 0;
    const bool a_has = layers_has_kernel_data(&page->result->a);
    const bool b_has = layers_has_kernel_data(&page->result->b);
    if (!is_of_data || a_has == b_has)
        return false;
    screen_print_line(page->screen, 2, "in %s " LAYERS_KERNEL_DATA, a_has ? "A" : "B");
    return true;
}

/* Continues the line that an op's name begins. */
static void print_what(const struct page *page, const struct compare_op *op, const char *after_name) {
    char sentence[SENTENCE_SIZE];
    format_sentence(page, op, sentence);
    if (op->a_finished == 0 && op->b_finished == 0)
        screen_printf(page->screen, "%s has no calls that returned", after_name);
    else if (op->a_finished == 0 || op->b_finished == 0)
        screen_printf(page->screen, ": only in %s", op->a_finished > 0 ? "A" : "B");
    else
        screen_printf(page->screen, "%s %s", after_name, op->list == COMPARE_SAME ? "is the same" : sentence);
}

static void print_score(const struct page *page, const struct compare_op *op) {
    char score[SCORE_TEXT_SIZE];
    if (!page->comparison->verbose || op->verdict == COMPARE_ONE_SIDED)
        return;
    format_score(page, op->scores[page->result->options.method], score);
    screen_print_line(page->screen, 2, "score %s", score);
}

static void print_op(const struct page *page, const struct compare_op *op) {
    screen_begin_heading(page->screen);
    screen_print(page->screen, INK_STRONG, op->name);
    print_what(page, op, ":");
    screen_end_heading(page->screen);
    if (print_kernels(page, op))
        return;
    print_score(page, op);
    print_changes(page, op);
    print_unfinished(page, "A", op->a->calls, op->a_finished);
    print_unfinished(page, "B", op->b->calls, op->b_finished);
    print_peaks(page, op);
    print_slots(page, op);
    print_charts(page, op);
}

/* ---- The rest ----------------------------------------------------------------------------------- */

/* What changed, but has too small a part of the latency to make a difference. */
static void print_cheap(const struct page *page) {
    const size_t count = page->result->list_counts[COMPARE_CHANGED] - page->result->different_count;
    char why[96];
    if (count == 0)
        return;
    snprintf(why, sizeof(why), "Less than %g %% of the latency, so not in the exit status",
             page->result->options.share_percent);
    int column = screen_begin_words(page->screen, why);
    for (size_t i = 0; i < page->result->op_count; i++)
        if (page->result->ops[i].list == COMPARE_CHANGED && page->result->ops[i].verdict == COMPARE_CHEAP)
            column = screen_print_word(page->screen, column, page->result->ops[i].name);
    screen_end_line(page->screen);
}

/* Continues a line about an op: ", 17 calls after 5"; ", 5 calls", of one side. */
static void print_counts(const struct page *page, const struct compare_op *op) {
    const uint64_t a = op->a->calls;
    const uint64_t b = op->b->calls;
    if (op->a_finished > 0 && op->b_finished > 0 && a != b)
        screen_printf(page->screen, ", %s call%s after %s", units_count(b).text, units_plural(b), units_count(a).text);
    else if ((op->a_finished > 0) != (op->b_finished > 0))
        screen_printf(page->screen, ", %s call%s", units_count(op->a_finished > 0 ? a : b).text,
                      units_plural(op->a_finished > 0 ? a : b));
}

/* "  READ took 2.0 times as long and was called 3.4 times as often, 17 calls after 5". What is said is true of the two
 * profiles; only whether it is so in other runs is not known. */
static void print_noise(const struct page *page) {
    if (page->result->list_counts[COMPARE_MAYBE_NOISE] == 0)
        return;
    screen_print_title(
        page->screen,
        "Different in these two, but maybe by noise; repeat to decide, as with osprof run --repeat 5 --vs");
    for (size_t i = 0; i < page->result->op_count; i++) {
        const struct compare_op *op = &page->result->ops[i];
        if (op->list != COMPARE_MAYBE_NOISE)
            continue;
        screen_begin_line(page->screen, 2);
        screen_printf(page->screen, "%s", op->name);
        print_what(page, op, "");
        print_counts(page, op);
        screen_end_line(page->screen);
    }
}

static void print_same(const struct page *page) {
    int column = 0;
    char why[64];
    snprintf(why, sizeof(why), "The same within %g %%", page->result->options.similar_percent);
    for (size_t i = 0; i < page->result->op_count; i++) {
        if (page->result->ops[i].list != COMPARE_SAME)
            continue;
        if (column == 0)
            column = screen_begin_words(page->screen, why);
        column = screen_print_word(page->screen, column, page->result->ops[i].name);
    }
    if (column > 0)
        screen_end_line(page->screen);
}

static struct page page_of(const struct comparison *comparison, const struct screen *screen) {
    return (struct page){
        .comparison = comparison,
        .result = comparison->result,
        .screen = screen,
        .stream = screen->stream,
        .units = {.frequency_hz = comparison->result->a.clock.frequency_hz, .ascii = screen->ascii},
        .arrow = screen->ascii ? "->" : "→",
    };
}

void comparison_print_summary(const struct comparison *comparison, const struct screen *screen) {
    const struct page page = page_of(comparison, screen);
    print_heading(&page);
    if (row_count(&page) > 0)
        print_table(&page);
    print_cheap(&page);
    if (!comparison->all) {
        print_noise(&page);
        print_same(&page);
    }
}

void comparison_print_ops(const struct comparison *comparison, const struct screen *screen) {
    const struct page page = page_of(comparison, screen);
    for (size_t i = 0; i < shown_count(&page); i++)
        print_op(&page, &page.result->ops[i]);
}

void comparison_print(const struct comparison *comparison, const struct screen *screen) {
    comparison_print_summary(comparison, screen);
    comparison_print_ops(comparison, screen);
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

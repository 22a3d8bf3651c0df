/* Verdicts for people. */
#include "verdict_page.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "facts_text.h"

#define SHARE_SHOWN_MIN 1e-5   /* smaller ones are shown as less than this */
#define FACTOR_SHOWN_MIN 0.001 /* likewise */

/* A cell or a part of a sentence. */
struct words {
    char text[96];
};

struct printer {
    struct sheet *sheet;
    const struct verdict_page *page;
    const struct verdict_result *result;
    const char *times; /* the sign */
    const char *to;    /* between the ends of an interval */
    const char *arrow;
};

static struct printer printer_of(const struct verdict_page *page, struct sheet *sheet) {
    const bool ascii = sheet->screen.ascii;
    sheet->pictures = page->pictures;
    return (struct printer){sheet, page, page->result, ascii ? "x" : "×", ascii ? "-" : "–", ascii ? "->" : "→"};
}

static struct sheet sheet_of_page(const struct verdict_page *page, const struct screen *screen) {
    return sheet_of(screen, page->result->a_sum.clock.frequency_hz);
}

__attribute__((format(printf, 1, 2))) static struct words words_of(const char *format, ...) {
    struct words words;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words.text, sizeof(words.text), format, arguments);
    va_end(arguments);
    return words;
}

/* ---- Numbers ------------------------------------------------------------------------------------ */

/* "1.31", "0.047", "1,370", "<0.001" */
static struct units_text text_of(double factor) {
    struct units_text text;
    if (factor >= 99.95)
        return units_count((uint64_t)fmin(factor, 0x1p62));
    if (factor < FACTOR_SHOWN_MIN)
        snprintf(text.text, sizeof(text.text), "<%g", FACTOR_SHOWN_MIN);
    else
        snprintf(text.text, sizeof(text.text), factor >= 9.995 ? "%.1f" : factor >= 0.0995 ? "%.2f" : "%.2g", factor);
    return text;
}

/* "1.31 [1.27–1.36]"; "-": a side is 0 */
static struct words ratio_words(const struct printer *it, const struct verdict_ratio *ratio) {
    if (!verdict_has_ratio(ratio))
        return words_of("-");
    return words_of("%s [%s%s%s]", text_of(ratio->ratio).text, text_of(ratio->low).text, it->to,
                    text_of(ratio->high).text);
}

/* "+1.2 s": per run */
static struct words cost_words(const struct printer *it, const struct verdict_op *op) {
    const double cost = op->b_total_cycles - op->a_total_cycles;
    return words_of("%s%s", cost < 0 ? "-" : "+", units_cycles(&it->sheet->units, fabs(cost)).text);
}

static struct words more_runs_words(size_t more) {
    return more == 0 ? words_of("more than %u runs would be needed", VERDICT_RUNS_MOST)
                     : words_of("about %zu more run%s", more, units_plural(more));
}

/* "0.1 %", "<0.001 %" */
static struct words share_words(double share) {
    return share > 0 && share < SHARE_SHOWN_MIN ? words_of("<%g %%", 100 * SHARE_SHOWN_MIN)
                                                : words_of("%.3g %%", 100 * share);
}

/* "0.1 % → 3.4 %" */
static struct words shares_words(const struct printer *it, double from, double to) {
    return words_of("%s %s %s", share_words(from).text, it->arrow, share_words(to).text);
}

static struct words failures_words(const struct printer *it, const struct verdict_op *op) {
    return op->failures.effect.is_known ? shares_words(it, op->failures.a_share, op->failures.b_share) : words_of("-");
}

static bool excludes_one(const struct verdict_ratio *ratio) {
    return ratio->effect.is_known && (ratio->low > 1 || ratio->high < 1);
}

#define more_of_line(it, ...) sheet_span((it)->sheet, INK_PLAIN, __VA_ARGS__)

/* Continues a line about a ratio that is not decided: what is sure of it, or why nothing is although the interval excludes
 * 1, and how many runs would decide. more, less: words for its direction */
static void put_doubt(const struct printer *it, const struct verdict_ratio *ratio, const char *more, const char *less,
                      size_t more_runs) {
    const char *direction = ratio->ratio > 1 ? more : less;
    if (ratio->effect.is_beyond)
        more_of_line(it, "; significantly %s, but not by more than %g %%", direction,
                     100 * it->result->options.at_least);
    else if (excludes_one(ratio))
        more_of_line(it, "; probably %s, but not significant after correction for %zu tests", direction,
                     it->result->tested_count);
    more_of_line(it, "; %s", more_runs_words(more_runs).text);
}

/* ---- The answer --------------------------------------------------------------------------------- */

static bool has_common_change(const struct verdict_result *result) {
    return result->common.is_there && verdict_is_change(result->common.word);
}

/* "3 of 14 operations slower, 1 faster, 2 with more calls." */
static void put_answer(const struct printer *it) {
    const size_t *counts = it->result->word_counts;
    const size_t *calls_counts = it->result->calls_counts;
    const struct {
        size_t count;
        const char *what;
    } others[] = {
        {counts[VERDICT_SOME_SLOWER], "with some calls slower"},
        {counts[VERDICT_SOME_FASTER], "with some calls faster"},
        {counts[VERDICT_SLOWER_THAN_REST], "slower than the rest"},
        {counts[VERDICT_FASTER_THAN_REST], "faster than the rest"},
        {calls_counts[VERDICT_MORE_CALLS], "with more calls"},
        {calls_counts[VERDICT_FEWER_CALLS], "with fewer calls"},
        {counts[VERDICT_FAILS_MORE], "failing more"},
        {counts[VERDICT_FAILS_LESS], "failing less"},
        {counts[VERDICT_ONLY_A] + counts[VERDICT_ONLY_B], "only on one side"},
        {counts[VERDICT_UNDECIDED], "inconclusive"},
    };
    size_t changed = 0;
    for (enum verdict_word word = 0; word < VERDICT_WORDS_OF_OPS; word++)
        changed += verdict_is_change(word) ? counts[word] : 0;
    if (changed == 0)
        sheet_line(it->sheet, 0, "No operation changed significantly by more than %g %%%s, of %zu",
                   100 * it->result->options.at_least, has_common_change(it->result) ? " against the rest" : "",
                   it->result->op_count);
    else
        sheet_line(it->sheet, 0, "%zu of %zu operation%s slower, %zu faster", counts[VERDICT_SLOWER],
                   it->result->op_count, units_plural(it->result->op_count), counts[VERDICT_FASTER]);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (others[i].count > 0)
            more_of_line(it, ", %zu %s", others[i].count, others[i].what);
    more_of_line(it, ".");
}

/* "The job took 1.31 [1.27-1.36] times as long: more time."; "The job took 1.00 ms after 0 ns: more time." */
static void put_time(const struct printer *it, const struct verdict_change *time, const char *subject) {
    const struct units *units = &it->sheet->units;
    if (!time->is_there)
        return;
    if (verdict_has_ratio(&time->ratio))
        sheet_line(it->sheet, 0, "%s %s times as long", subject, ratio_words(it, &time->ratio).text);
    else
        sheet_line(it->sheet, 0, "%s %s after %s", subject, units_cycles(units, time->ratio.b).text,
                   units_cycles(units, time->ratio.a).text);
    more_of_line(it, ": %s", verdict_word_name(time->word));
    if (time->word == VERDICT_UNDECIDED)
        put_doubt(it, &time->ratio, "more", "less", time->more_runs);
    more_of_line(it, ".");
}

static void put_times(const struct printer *it) {
    put_time(it, &it->result->elapsed, it->page->is_job ? "The job took" : "A run took");
    put_time(it, &it->result->total, "The calls of a run took, together,");
}

/* What all operations have in common, and whether the order of runs matters. has_column: "adjusted" is shown */
static void put_common(const struct printer *it, bool has_column) {
    const struct verdict_result *result = it->result;
    const struct verdict_change *common = &result->common;
    const double trend = result->trend;
    if (has_common_change(result)) {
        sheet_line(it->sheet, 0,
                   "All operations together take %s times as long a call: the machine was %s, or all of them changed.",
                   ratio_words(it, &common->ratio).text, common->word == VERDICT_SLOWER ? "busier" : "less busy");
        if (has_column)
            sheet_line(it->sheet, 0, "\"adjusted\" is mean, B/A, without that; \"than the rest\" goes by it.");
    } else if (common->is_there && common->word == VERDICT_UNDECIDED) {
        sheet_line(it->sheet, 0, "Whether all operations changed together is inconclusive: %s times as long a call",
                   ratio_words(it, &common->ratio).text);
        put_doubt(it, &common->ratio, "slower", "faster", common->more_runs);
        more_of_line(it, ".");
    }
    if (common->is_there && (common->word != VERDICT_ALIKE || result->common_spread > 1 + result->options.at_least))
        sheet_line(it->sheet, 0, "The runs of a side differ among themselves by a factor of %s, in all operations.",
                   text_of(result->common_spread).text);
    if (result->has_trend)
        sheet_line(it->sheet, 0,
                   "The runs became %s from one to the next, by a factor of %s: the order of A and B matters.",
                   trend > 1 ? "slower" : "faster", text_of(trend > 1 ? trend : 1 / trend).text);
}

/* ---- The table ---------------------------------------------------------------------------------- */

static bool is_of_latency(enum verdict_word word) {
    return word <= VERDICT_FASTER_THAN_REST;
}

/* "slower"; "some calls slower (mean), more calls": what decided, if that was not the usual latency. If it was, and the mean
 * goes the other way, that is said. More calls stand before what is faster. */
static struct words verdict_words(const struct verdict_op *op) {
    const double usual = op->ratios[VERDICT_USUAL].ratio;
    const struct verdict_ratio *mean = &op->ratios[VERDICT_MEAN];
    const bool is_by_usual = is_of_latency(op->word) && op->decided_by == VERDICT_USUAL;
    const bool is_by_other = is_of_latency(op->word) && !is_by_usual;
    const bool has_mean = is_by_usual && verdict_has_ratio(mean);
    const bool has_other_calls = op->word != op->calls_word && verdict_is_change(op->calls_word);
    const bool are_calls_first =
        op->calls_word == VERDICT_MORE_CALLS &&
        (op->word == VERDICT_FASTER || op->word == VERDICT_SOME_FASTER || op->word == VERDICT_FASTER_THAN_REST);
    const char *calls = has_other_calls ? verdict_word_name(op->calls_word) : "";
    return words_of("%s%s%s%s%s%s%s%s%s", are_calls_first ? calls : "", are_calls_first ? ", " : "",
                    verdict_word_name(op->word), is_by_other ? " (" : "",
                    is_by_other ? verdict_figure_name(op->decided_by) : "", is_by_other ? ")" : "",
                    has_mean && usual < 1 && mean->ratio > 1   ? ", mean longer"
                    : has_mean && usual > 1 && mean->ratio < 1 ? ", mean shorter"
                                                               : "",
                    has_other_calls && !are_calls_first ? ", " : "", are_calls_first ? "" : calls);
}

/* A ratio stands behind the figures that it is of. */
enum column { NAME, WORD, COST, USUAL, A_MEAN, B_MEAN, MEAN, OWN, CALLS, FAILURES };

#define RATIO_COLUMNS 20

static const struct sheet_column columns[] = {
    [NAME] = {"operation", SHEET_NAME, 0},
    [WORD] = {"verdict", SHEET_WORD, 1, 12},
    [COST] = {"cost a run", SHEET_NUMBER, 4, 12},
    [USUAL] = {"typical, B/A", SHEET_NUMBER, 7, RATIO_COLUMNS},
    [A_MEAN] = {"mean, A", SHEET_NUMBER, 5, 10},
    [B_MEAN] = {"mean, B", SHEET_NUMBER, 6, 10},
    [MEAN] = {"mean, B/A", SHEET_NUMBER, 2, RATIO_COLUMNS},
    [OWN] = {"adjusted", SHEET_NUMBER, 3, RATIO_COLUMNS},
    [CALLS] = {"calls, B/A", SHEET_NUMBER, 8, RATIO_COLUMNS},
    [FAILURES] = {"failures, A, B", SHEET_NUMBER, 9, RATIO_COLUMNS},
};

/* If calls changed, a screen of 80 columns has room for their ratio: it is not left out before figures of latency. */
#define RATIO_COLUMNS_BESIDE_CALLS 18

static struct sheet_table *begin_table(const struct printer *it, size_t op_count) {
    static const unsigned ranks_with_calls[ARRAY_SIZE(columns)] = {
        [NAME] = 0, [WORD] = 1,   [CALLS] = 2,  [MEAN] = 3,  [OWN] = 4,
        [COST] = 5, [A_MEAN] = 6, [B_MEAN] = 7, [USUAL] = 8, [FAILURES] = 9};
    struct sheet_column shown[ARRAY_SIZE(columns)];
    bool has_calls = false;
    memcpy(shown, columns, sizeof(columns));
    for (size_t i = 0; i < op_count; i++)
        has_calls |= verdict_is_change(it->result->ops[i].calls_word);
    for (size_t i = 0; has_calls && i < ARRAY_SIZE(shown); i++) {
        shown[i].rank = ranks_with_calls[i];
        if (shown[i].width == RATIO_COLUMNS)
            shown[i].width = RATIO_COLUMNS_BESIDE_CALLS;
    }
    struct sheet_table *table = SHEET_TABLE(it->sheet, shown);
    table->hidden = has_common_change(it->result) ? 0 : 1U << OWN;
    return table;
}

static size_t change_count(const struct verdict_result *result) {
    size_t count = 0;
    while (count < result->op_count && verdict_is_change(result->ops[count].word))
        count++;
    return count;
}

/* Of the first operations. */
static struct sheet_table *put_table(const struct printer *it, size_t op_count) {
    struct sheet *sheet = it->sheet;
    struct sheet_table *table = begin_table(it, op_count);
    for (size_t i = 0; i < op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        const struct verdict_ratio *mean = &op->ratios[VERDICT_MEAN];
        sheet_add(sheet, op->name);
        sheet_add(sheet, verdict_words(op).text);
        sheet_add(sheet, cost_words(it, op).text);
        sheet_add(sheet, ratio_words(it, &op->ratios[VERDICT_USUAL]).text);
        sheet_add_cycles(sheet, mean->effect.a_count > 0 ? mean->a : NAN);
        sheet_add_cycles(sheet, mean->effect.b_count > 0 ? mean->b : NAN);
        sheet_add(sheet, ratio_words(it, mean).text);
        sheet_add(sheet, ratio_words(it, &op->own[VERDICT_MEAN]).text);
        sheet_add(sheet, ratio_words(it, &op->ratios[VERDICT_CALLS]).text);
        sheet_add(sheet, failures_words(it, op).text);
    }
    return table;
}

/* ---- An op that changed ------------------------------------------------------------------------- */

static struct units_text calls_a_run(double calls) {
    struct units_text text;
    if (calls >= VERDICT_CALLS_MIN)
        return units_count(figures_count(calls));
    snprintf(text.text, sizeof(text.text), "%.2g", calls);
    return text;
}

/* "804 → 8" */
static struct words sides_words(const struct printer *it, const struct verdict_op *op, enum verdict_figure figure) {
    const struct verdict_ratio *ratio = &op->ratios[figure];
    const struct units *units = &it->sheet->units;
    const bool is_of_calls = figure == VERDICT_CALLS;
    return words_of("%s %s %s", is_of_calls ? calls_a_run(op->a_calls).text : units_cycles(units, ratio->a).text,
                    it->arrow, is_of_calls ? calls_a_run(op->b_calls).text : units_cycles(units, ratio->b).text);
}

/* "  usual 1.00 us → 1.31 us: ×1.31 [1.27–1.36]"; "  calls a run 0 → 1" */
static void put_figure(const struct printer *it, const struct verdict_op *op, enum verdict_figure figure) {
    const struct verdict_ratio *ratio = &op->ratios[figure];
    const double most = 1 + it->result->options.at_least;
    sheet_line(it->sheet, 2, "%s%s %s", verdict_figure_name(figure), figure == VERDICT_CALLS ? " a run" : "",
               sides_words(it, op, figure).text);
    if (verdict_has_ratio(ratio))
        more_of_line(it, ": %s%s", it->times, ratio_words(it, ratio).text);
    /* Unless all of it lies within what does not matter. */
    if (ratio->effect.is_known && !excludes_one(ratio) && (ratio->high > most || ratio->low < 1 / most))
        more_of_line(it, ", which alone proves nothing");
}

/* "slow calls 0.01 % → 1 % of the calls, about 64 times A's usual latency"; "failures 0.1 % → 3.4 % of the calls, most of
 * B's EIO" */
static void put_changes(const struct printer *it, const struct verdict_op *op) {
    const unsigned failure = op->b_sum ? facts_text_commonest_failure(op->b_sum) : AGGSTATS_FAILURES;
    for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
        if (op->is_changed[figure] || (figure <= VERDICT_MEAN && is_of_latency(op->word)) ||
            (figure == VERDICT_CALLS && (op->word == VERDICT_ONLY_A || op->word == VERDICT_ONLY_B)))
            put_figure(it, op, figure);
    if (op->tail.is_changed)
        sheet_line(it->sheet, 2, "slow calls %s of the calls, about %s times A's typical latency",
                   shares_words(it, op->tail.a_share, op->tail.b_share).text,
                   units_count((uint64_t)fmin(op->tail.times, 0x1p62)).text);
    /* Of the figure that decided, or of the mean. */
    const enum verdict_figure own = op->decided_by < VERDICT_FIGURE_COUNT ? op->decided_by : VERDICT_USUAL;
    const bool is_relative = op->word == VERDICT_SLOWER_THAN_REST || op->word == VERDICT_FASTER_THAN_REST;
    if (is_of_latency(op->word) && (is_relative || has_common_change(it->result)) && verdict_has_ratio(&op->own[own]))
        sheet_line(it->sheet, 2, "%s latency adjusted for what all operations have in common: %s%s",
                   verdict_figure_name(own), it->times, ratio_words(it, &op->own[own]).text);
    if (op->failures.is_changed) {
        sheet_line(it->sheet, 2, "failures %s of the calls", failures_words(it, op).text);
        if (failure < AGGSTATS_FAILURES)
            more_of_line(it, ", most of B's %s", aggstats_failure_name(failure));
    }
    if (op->dilution.is_there)
        sheet_sentence(
            it->sheet, 2,
            "shorter mean: a run has %s more failures and %s more calls below %s; the other calls are no faster",
            calls_a_run(op->dilution.failed).text, calls_a_run(op->dilution.short_calls).text,
            screen_firm(units_cycles(&it->sheet->units, op->dilution.most_cycles)).text);
    for (size_t i = 0; i < op->peak_count; i++) {
        const struct verdict_peak *peak = &op->peaks[i];
        if (!peak->is_changed)
            continue;
        sheet_line(it->sheet, 2, "calls around %s: %s, ",
                   units_cycles(&it->sheet->units, exp2(peak->place.centre)).text,
                   shares_words(it, peak->a_share, peak->b_share).text);
        if (peak->cost >= 1)
            more_of_line(it, "which alone makes the mean latency %s%s", it->times, text_of(1 + peak->cost).text);
        else
            more_of_line(it, "%+.3g %% of the mean latency", 100 * fmax(-1, peak->cost));
    }
}

/* Few calls, whose number is exact, have no charts. */
static void put_op(const struct printer *it, const struct verdict_op *op) {
    const struct aggstats_op_profile *const ops[2] = {op->a_sum, op->b_sum};
    const unsigned resolution = it->result->a_sum.resolution;
    sheet_heading(it->sheet, "%s", op->name);
    more_of_line(it, ": %s", verdict_words(op).text);
    put_changes(it, op);
    sheet_picture(it->sheet, op->name);
    if (!op->a_sum || !op->b_sum || it->page->no_charts || op->has_exact_calls)
        return;
    const struct chart_axis axis = chart_axis_of(ops, 2, resolution, &it->sheet->screen);
    sheet_chart(it->sheet, "A, all runs", &axis, resolution, ops[0], NULL);
    sheet_chart(it->sheet, "B, all runs", &axis, resolution, ops[1], NULL);
}

/* ---- The rest ----------------------------------------------------------------------------------- */

/* Too few calls to judge, but their total matters: what a run costs has changed by at least this share of the larger side's
 * latency. */
#define WEIGHTY_SHARE_MIN 0.01

static bool is_weighty(const struct printer *it, const struct verdict_op *op) {
    double a_cycles = 0;
    double b_cycles = 0;
    for (size_t i = 0; i < it->result->op_count; i++) {
        a_cycles += it->result->ops[i].a_total_cycles;
        b_cycles += it->result->ops[i].b_total_cycles;
    }
    const double cost = fabs(op->b_total_cycles - op->a_total_cycles);
    return op->word == VERDICT_FEW && cost > 0 && cost >= WEIGHTY_SHARE_MIN * fmax(a_cycles, b_cycles);
}

static void put_names(const struct printer *it, enum verdict_word word, struct words why) {
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        if (op->word != word || is_weighty(it, op))
            continue;
        str_addf(&text, "%s%s %s", text.length == 0 ? why.text : "", text.length == 0 ? ":" : "", op->name);
    }
    if (text.length == 0)
        return;
    sheet_gap(it->sheet);
    sheet_put(it->sheet, FORM_WORDS, INK_PLAIN, 0, "%s", str_text(&text));
}

/* Those that did not change. Of the undecided: "  READ: mean ×1.05 [0.92-1.21]; about 3 more runs"; "  FSYNC: calls 0 → 1 in
 * all runs, but with so few runs that may be chance; about 1 more run" */
static void put_others(const struct printer *it) {
    const double percent = 100 * it->result->options.at_least;
    bool is_first = true;
    put_names(it, VERDICT_ALIKE, words_of("No change beyond %g %%", percent));
    put_names(it, VERDICT_AS_REST,
              words_of("As the rest: within %g %% of what all operations have in common", percent));
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        const enum verdict_figure figure = op->decided_by;
        const bool is_of_calls = figure == VERDICT_CALLS;
        if (op->word != VERDICT_UNDECIDED)
            continue;
        if (is_first)
            sheet_title(it->sheet, "Inconclusive");
        is_first = false;
        if (op->has_exact_calls) {
            sheet_line(it->sheet, 2, "%s: calls %s in all runs, but with so few runs that may be chance; %s", op->name,
                       sides_words(it, op, VERDICT_CALLS).text, more_runs_words(op->more_runs).text);
            continue;
        }
        const bool has_ratio = verdict_has_ratio(&op->ratios[figure]);
        sheet_line(it->sheet, 2, "%s: %s %s%s", op->name, verdict_figure_name(figure), has_ratio ? it->times : "",
                   has_ratio ? ratio_words(it, &op->ratios[figure]).text : sides_words(it, op, figure).text);
        if (!is_of_calls && it->result->common.is_there && has_ratio)
            more_of_line(it, ", adjusted %s%s", it->times, ratio_words(it, &op->own[figure]).text);
        put_doubt(it, &op->own[figure], is_of_calls ? "more" : "slower", is_of_calls ? "fewer" : "faster",
                  op->more_runs);
    }
    put_names(it, VERDICT_FEW, words_of("Fewer than %u calls a run", VERDICT_CALLS_MIN));
}

/* Of what is not judged, but matters: "  FSYNC: 804 → 8 calls a run, -239 ms a run" */
static void put_summary(const struct printer *it) {
    const bool are_times_first = it->page->is_headed_by_time && it->page->is_job && it->result->elapsed.is_there;
    bool has_unjudged = false;
    if (are_times_first)
        put_times(it);
    put_answer(it);
    if (!are_times_first)
        put_times(it);
    put_common(it, change_count(it->result) > 0);
    sheet_gap(it->sheet);
    for (size_t side = 0; side < 2; side++) {
        const size_t count = side == 0 ? it->result->a_count : it->result->b_count;
        sheet_entry(it->sheet, FORM_KEYED, side == 0 ? "A" : "B", "%zu run%s: ", count, units_plural(count));
        sheet_span(it->sheet, INK_STRONG, "%s", side == 0 ? it->page->a_name : it->page->b_name);
    }
    if (it->result->rescaled)
        sheet_line(it->sheet, 0, "Clock rates differ: buckets are approximate.");
    sheet_gap(it->sheet);
    if (change_count(it->result) > 0)
        put_table(it, change_count(it->result));
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        if (!is_weighty(it, op))
            continue;
        if (!has_unjudged)
            sheet_title(it->sheet, "Not judged, with fewer than %u calls a run in A or B", VERDICT_CALLS_MIN);
        has_unjudged = true;
        sheet_line(it->sheet, 2, "%s: %s calls a run, %s a run", op->name, sides_words(it, op, VERDICT_CALLS).text,
                   cost_words(it, op).text);
    }
}

void verdict_page_print_parts(const struct verdict_page *page, bool has_summary, bool has_ops,
                              const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of_page(page, screen);
    const struct printer it = printer_of(page, &sheet);
    if (has_summary)
        put_summary(&it);
    for (size_t i = 0; has_ops && i < change_count(it.result); i++)
        put_op(&it, &it.result->ops[i]);
    if (has_summary)
        put_others(&it);
    sheet_print(&sheet);
}

void verdict_page_print(const struct verdict_page *page, const struct screen *screen) {
    verdict_page_print_parts(page, true, true, screen);
}

/* ---- Other forms -------------------------------------------------------------------------------- */

void verdict_page_print_brief(const struct verdict_page *page, const struct screen *screen) {
    struct sheet sheet = sheet_of_page(page, screen);
    const struct printer it = printer_of(page, &sheet);
    int names = (int)strlen(columns[NAME].title);
    int words = 0;
    for (size_t i = 0; i < page->result->op_count; i++) {
        const int name = (int)strlen(page->result->ops[i].name);
        const int word = (int)strlen(verdict_words(&page->result->ops[i]).text);
        names = name > names ? name : names;
        words = word > words ? word : words;
    }
    for (size_t i = 0; i < page->result->op_count; i++) {
        const struct verdict_op *op = &page->result->ops[i];
        fprintf(screen->stream, "%-*s  %-*s  mean %s, calls %s", names, op->name, words, verdict_words(op).text,
                ratio_words(&it, &op->ratios[VERDICT_MEAN]).text, ratio_words(&it, &op->ratios[VERDICT_CALLS]).text);
        if (has_common_change(page->result))
            fprintf(screen->stream, ", adjusted %s", ratio_words(&it, &op->own[VERDICT_MEAN]).text);
        putc('\n', screen->stream);
    }
}

/* Operation names are capitals, digits and underscores; '_' alone between letters is no markup. */
void verdict_page_print_markdown(const struct verdict_page *page, const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of_page(page, screen);
    const struct printer it = printer_of(page, &sheet);
    put_answer(&it);
    put_times(&it);
    put_common(&it, true);
    sheet_gap(&sheet);
    put_table(&it, page->result->op_count)->is_markdown = true;
    sheet_print(&sheet);
}

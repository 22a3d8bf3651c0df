/* Verdicts for people. */
#include "verdict_page.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "chart.h"
#include "outcome_line.h"
#include "sheet.h"
#include "units.h"

#define CELL_SIZE 96
#define SHARE_SHOWN_MIN 1e-5   /* smaller ones are shown as less than this */
#define FACTOR_SHOWN_MIN 0.001 /* likewise */

struct printer {
    const struct verdict_page *page;
    const struct verdict_result *result;
    const struct screen *screen;
    FILE *stream;
    struct units units;
    const char *times; /* the sign */
    const char *to;    /* between the ends of an interval */
};

static struct printer printer_of(const struct verdict_page *page, const struct screen *screen) {
    return (struct printer){
        .page = page,
        .result = page->result,
        .screen = screen,
        .stream = screen->stream,
        .units = {.frequency_hz = page->result->a_sum.clock.frequency_hz, .ascii = screen->ascii},
        .times = screen->ascii ? "x" : "×",
        .to = screen->ascii ? "-" : "–",
    };
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

/* "[1.27–1.36]" */
static void format_interval(const struct printer *it, const struct verdict_ratio *ratio, char ret_text[CELL_SIZE]) {
    snprintf(ret_text, CELL_SIZE, "[%s%s%s]", text_of(ratio->low).text, it->to, text_of(ratio->high).text);
}

/* "1.31 [1.27–1.36]"; "-": a side is 0 */
static void format_ratio(const struct printer *it, const struct verdict_ratio *ratio, char ret_text[CELL_SIZE]) {
    char interval[CELL_SIZE];
    if (!verdict_has_ratio(ratio)) {
        snprintf(ret_text, CELL_SIZE, "-");
        return;
    }
    format_interval(it, ratio, interval);
    snprintf(ret_text, CELL_SIZE, "%s %.60s", text_of(ratio->ratio).text, interval);
}

/* "+1.2 s": per run */
static void format_cost(const struct printer *it, const struct verdict_op *op, char ret_text[CELL_SIZE]) {
    double cost = op->b_total_cycles - op->a_total_cycles;
    snprintf(ret_text, CELL_SIZE, "%s%s", cost < 0 ? "-" : "+", units_cycles(&it->units, fabs(cost)).text);
}

static void format_more_runs(size_t more, char ret_text[CELL_SIZE]) {
    if (more == 0)
        snprintf(ret_text, CELL_SIZE, "more than %u runs would be needed", VERDICT_RUNS_MOST);
    else
        snprintf(ret_text, CELL_SIZE, "about %zu more run%s", more, units_plural(more));
}

/* "0.1 %", "<0.001 %" */
static void format_share(double share, char ret_text[CELL_SIZE]) {
    if (share > 0 && share < SHARE_SHOWN_MIN)
        snprintf(ret_text, CELL_SIZE, "<%g %%", 100 * SHARE_SHOWN_MIN);
    else
        snprintf(ret_text, CELL_SIZE, "%.3g %%", 100 * share);
}

static bool excludes_one(const struct verdict_ratio *ratio) {
    return ratio->effect.is_known && (ratio->low > 1 || ratio->high < 1);
}

/* Continues a line about a ratio that is not decided: what is sure of it, or why nothing is although the interval excludes
 * 1, and how many runs would decide. more, less: words for its direction */
static void print_doubt(const struct printer *it, const struct verdict_ratio *ratio, const char *more, const char *less,
                        size_t more_runs) {
    const char *direction = ratio->ratio > 1 ? more : less;
    char runs[CELL_SIZE];
    format_more_runs(more_runs, runs);
    if (ratio->effect.is_beyond)
        screen_printf(it->screen, "; surely %s, but not surely by more than %g %%; %s", direction,
                      100 * it->result->options.at_least, runs);
    else if (excludes_one(ratio))
        screen_printf(it->screen, "; probably %s, but %zu figures are compared, and chance may move one that far; %s",
                      direction, it->result->tested_count, runs);
    else
        screen_printf(it->screen, "; %s", runs);
}

/* ---- The answer --------------------------------------------------------------------------------- */

static bool has_common_change(const struct verdict_result *result) {
    return result->common.is_there && verdict_is_change(result->common.word);
}

static void print_set(const struct printer *it, const char *key, const char *name, size_t count) {
    screen_begin_entry(it->screen, key);
    screen_printf(it->screen, "%zu run%s: ", count, units_plural(count));
    screen_print_untrusted(it->screen, INK_STRONG, name);
    screen_end_line(it->screen);
}

static void end_sentence(const struct printer *it) {
    screen_printf(it->screen, ".");
    screen_end_line(it->screen);
}

static void print_count(const struct printer *it, size_t count, const char *what) {
    if (count > 0)
        screen_printf(it->screen, ", %zu %s", count, what);
}

/* "3 of 14 operations slower, 1 faster, 2 with more calls." */
static void print_answer(const struct printer *it) {
    const size_t *counts = it->result->word_counts;
    const size_t *calls_counts = it->result->calls_counts;
    const size_t undecided = counts[VERDICT_UNDECIDED];
    size_t changed = 0;
    for (enum verdict_word word = 0; word < VERDICT_WORDS_OF_OPS; word++)
        changed += verdict_is_change(word) ? counts[word] : 0;
    screen_begin_line(it->screen, 0);
    if (changed == 0)
        screen_printf(it->screen, "No operation surely changed by more than %g %%%s, of %zu",
                      100 * it->result->options.at_least, has_common_change(it->result) ? " against the rest" : "",
                      it->result->op_count);
    else
        screen_printf(it->screen, "%zu of %zu operation%s slower, %zu faster", counts[VERDICT_SLOWER],
                      it->result->op_count, units_plural(it->result->op_count), counts[VERDICT_FASTER]);
    print_count(it, counts[VERDICT_SOME_SLOWER], "with some calls slower");
    print_count(it, counts[VERDICT_SOME_FASTER], "with some calls faster");
    print_count(it, counts[VERDICT_SLOWER_THAN_REST], "slower than the rest");
    print_count(it, counts[VERDICT_FASTER_THAN_REST], "faster than the rest");
    print_count(it, calls_counts[VERDICT_MORE_CALLS], "with more calls");
    print_count(it, calls_counts[VERDICT_FEWER_CALLS], "with fewer calls");
    print_count(it, counts[VERDICT_FAILS_MORE], "failing more");
    print_count(it, counts[VERDICT_FAILS_LESS], "failing less");
    print_count(it, counts[VERDICT_ONLY_A] + counts[VERDICT_ONLY_B], "only on one side");
    print_count(it, undecided, "not decided");
    end_sentence(it);
}

/* "The job took 1.31 [1.27-1.36] times as long: more time."; "The job took 1.00 ms after 0 ns: more time." */
static void print_time(const struct printer *it, const struct verdict_change *time, const char *subject) {
    char ratio[CELL_SIZE];
    if (!time->is_there)
        return;
    screen_begin_line(it->screen, 0);
    format_ratio(it, &time->ratio, ratio);
    if (verdict_has_ratio(&time->ratio))
        screen_printf(it->screen, "%s %s times as long: %s", subject, ratio, verdict_word_name(time->word));
    else
        screen_printf(it->screen, "%s %s after %s: %s", subject, units_cycles(&it->units, time->ratio.b).text,
                      units_cycles(&it->units, time->ratio.a).text, verdict_word_name(time->word));
    if (time->word == VERDICT_UNDECIDED)
        print_doubt(it, &time->ratio, "more", "less", time->more_runs);
    end_sentence(it);
}

static void print_times(const struct printer *it) {
    print_time(it, &it->result->elapsed, it->page->is_job ? "The job took" : "A run took");
    print_time(it, &it->result->total, "The calls of a run took, together,");
}

/* has_column: the column "own change" is shown */
static void print_common(const struct printer *it, bool has_column) {
    const struct verdict_result *result = it->result;
    const struct verdict_change *common = &result->common;
    char text[CELL_SIZE];
    if (!common->is_there)
        return;
    format_ratio(it, &common->ratio, text);
    if (has_common_change(result)) {
        screen_print_line(
            it->screen, 0,
            "All operations together take %s times as long a call: the machine was %s, or all of them changed.", text,
            common->word == VERDICT_SLOWER ? "busier" : "less busy");
        if (has_column)
            screen_print_line(
                it->screen, 0,
                "\"Own change\" is what is left of mean, B/A without that; \"than the rest\" goes by it.");
    } else if (common->word == VERDICT_UNDECIDED) {
        screen_begin_line(it->screen, 0);
        screen_printf(it->screen, "Whether all operations changed together is not decided: %s times as long a call",
                      text);
        print_doubt(it, &common->ratio, "slower", "faster", common->more_runs);
        end_sentence(it);
    }
    if (common->word != VERDICT_ALIKE || result->common_spread > 1 + result->options.at_least)
        screen_print_line(it->screen, 0,
                          "The runs of a side differ among themselves by a factor of %s, in all operations.",
                          text_of(result->common_spread).text);
}

static void print_trend(const struct printer *it) {
    double trend = it->result->trend;
    if (!it->result->has_trend)
        return;
    screen_print_line(it->screen, 0,
                      "The runs became %s from one to the next, by a factor of %s: the order of A and B matters.",
                      trend > 1 ? "slower" : "faster", text_of(trend > 1 ? trend : 1 / trend).text);
}

/* ---- The table ---------------------------------------------------------------------------------- */

/* "0.1 % → 3.4 %" */
static void format_shares(const struct printer *it, double from, double to, char ret_text[CELL_SIZE]) {
    char a[CELL_SIZE];
    char b[CELL_SIZE];
    format_share(from, a);
    format_share(to, b);
    snprintf(ret_text, CELL_SIZE, "%.20s %s %.20s", a, it->screen->ascii ? "->" : "→", b);
}

static void format_failures(const struct printer *it, const struct verdict_op *op, char ret_text[CELL_SIZE]) {
    if (op->failures.effect.is_known)
        format_shares(it, op->failures.a_share, op->failures.b_share, ret_text);
    else
        snprintf(ret_text, CELL_SIZE, "-");
}

static bool is_of_latency(enum verdict_word word) {
    return word <= VERDICT_FASTER_THAN_REST;
}

/* What is said of the mean where the usual latency decides, and the mean goes the other way; "": it does not */
static const char *mean_against_usual(const struct verdict_op *op) {
    const double usual = op->ratios[VERDICT_USUAL].ratio;
    const double mean = op->ratios[VERDICT_MEAN].ratio;
    if (!is_of_latency(op->word) || op->decided_by != VERDICT_USUAL || !verdict_has_ratio(&op->ratios[VERDICT_MEAN]))
        return "";
    return usual < 1 && mean > 1 ? ", mean longer" : usual > 1 && mean < 1 ? ", mean shorter" : "";
}

/* "slower"; "some calls slower (mean), more calls": what decided, if that was not the usual latency */
static void format_word(const struct verdict_op *op, char ret_text[CELL_SIZE]) {
    const bool is_by_other = is_of_latency(op->word) && op->decided_by != VERDICT_USUAL;
    const bool has_other_calls = op->word != op->calls_word && verdict_is_change(op->calls_word);
    snprintf(ret_text, CELL_SIZE, "%s%s%s%s%s%s%s", verdict_word_name(op->word), is_by_other ? " (" : "",
             is_by_other ? verdict_figure_name(op->decided_by) : "", is_by_other ? ")" : "", mean_against_usual(op),
             has_other_calls ? ", " : "", has_other_calls ? verdict_word_name(op->calls_word) : "");
}

/* A ratio stands behind the figures that it is of. */
enum column { NAME, WORD, COST, USUAL, A_MEAN, B_MEAN, MEAN, OWN, CALLS, FAILURES };

static const struct sheet_column columns[] = {
    [NAME] = {"operation", SHEET_NAME, 0},         [WORD] = {"verdict", SHEET_WORD, 1, 12},
    [COST] = {"cost a run", SHEET_NUMBER, 4, 12},  [USUAL] = {"usual, B/A", SHEET_NUMBER, 7, 20},
    [A_MEAN] = {"mean, A", SHEET_NUMBER, 5, 10},   [B_MEAN] = {"mean, B", SHEET_NUMBER, 6, 10},
    [MEAN] = {"mean, B/A", SHEET_NUMBER, 2, 20},   [OWN] = {"own change", SHEET_NUMBER, 3, 20},
    [CALLS] = {"calls, B/A", SHEET_NUMBER, 8, 20}, [FAILURES] = {"failures, A, B", SHEET_NUMBER, 9, 20},
};

static void add_ratio(const struct printer *it, struct sheet_table *table, const struct verdict_ratio *ratio) {
    char text[CELL_SIZE];
    format_ratio(it, ratio, text);
    sheet_add(table, text);
}

/* The first operations. */
static struct sheet_table make_table(const struct printer *it, size_t op_count) {
    struct sheet_table table = SHEET_TABLE(columns, &it->units);
    table.hidden = has_common_change(it->result) ? 0 : 1U << OWN;
    for (size_t i = 0; i < op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        const struct verdict_ratio *mean = &op->ratios[VERDICT_MEAN];
        char text[CELL_SIZE];
        sheet_add(&table, op->name);
        format_word(op, text);
        sheet_add(&table, text);
        format_cost(it, op, text);
        sheet_add(&table, text);
        add_ratio(it, &table, &op->ratios[VERDICT_USUAL]);
        sheet_add_cycles(&table, mean->effect.a_count > 0 ? mean->a : NAN);
        sheet_add_cycles(&table, mean->effect.b_count > 0 ? mean->b : NAN);
        add_ratio(it, &table, mean);
        add_ratio(it, &table, &op->own[VERDICT_MEAN]);
        add_ratio(it, &table, &op->ratios[VERDICT_CALLS]);
        format_failures(it, op, text);
        sheet_add(&table, text);
    }
    return table;
}

static size_t change_count(const struct verdict_result *result) {
    size_t count = 0;
    while (count < result->op_count && verdict_is_change(result->ops[count].word))
        count++;
    return count;
}

static void print_table(const struct printer *it) {
    CLEANUP_SHEET struct sheet_table table = make_table(it, change_count(it->result));
    if (table.cell_count == 0)
        return;
    screen_print_gap(it->screen);
    sheet_print(&table, it->screen);
}

/* ---- An op that changed ------------------------------------------------------------------------- */

/* True if a ratio lies within what does not matter. */
static bool is_small(const struct printer *it, const struct verdict_ratio *ratio) {
    const double most = 1 + it->result->options.at_least;
    return ratio->effect.is_known && ratio->high <= most && ratio->low >= 1 / most;
}

static struct units_text calls_a_run(double calls) {
    struct units_text text;
    if (calls >= VERDICT_CALLS_MIN)
        return units_count(figures_count(calls));
    snprintf(text.text, sizeof(text.text), "%.2g", calls);
    return text;
}

/* "804 → 8" */
static void print_sides(const struct printer *it, const struct verdict_op *op, enum verdict_figure figure) {
    const struct verdict_ratio *ratio = &op->ratios[figure];
    const bool is_of_calls = figure == VERDICT_CALLS;
    screen_printf(it->screen, "%s %s %s",
                  is_of_calls ? calls_a_run(op->a_calls).text : units_cycles(&it->units, ratio->a).text,
                  it->screen->ascii ? "->" : "→",
                  is_of_calls ? calls_a_run(op->b_calls).text : units_cycles(&it->units, ratio->b).text);
}

/* "  usual 1.00 us → 1.31 us: ×1.31 [1.27–1.36]"; "  calls a run 0 → 1" */
static void print_figure(const struct printer *it, const struct verdict_op *op, enum verdict_figure figure) {
    const struct verdict_ratio *ratio = &op->ratios[figure];
    char text[CELL_SIZE];
    screen_begin_line(it->screen, 2);
    screen_printf(it->screen, "%s%s ", verdict_figure_name(figure), figure == VERDICT_CALLS ? " a run" : "");
    print_sides(it, op, figure);
    format_ratio(it, ratio, text);
    if (verdict_has_ratio(ratio))
        screen_printf(it->screen, ": %s%s", it->times, text);
    const bool is_doubtful = ratio->effect.is_known && !excludes_one(ratio) && !is_small(it, ratio);
    if (is_doubtful)
        screen_printf(it->screen, ", which alone proves nothing");
    screen_end_line(it->screen);
}

/* The change of the figure that decided, or of the mean, without what all ops have in common. */
static void print_own_change(const struct printer *it, const struct verdict_op *op) {
    const enum verdict_figure figure = op->decided_by < VERDICT_FIGURE_COUNT ? op->decided_by : VERDICT_USUAL;
    const bool is_relative = op->word == VERDICT_SLOWER_THAN_REST || op->word == VERDICT_FASTER_THAN_REST;
    char text[CELL_SIZE];
    if ((!is_relative && !has_common_change(it->result)) || !verdict_has_ratio(&op->own[figure]))
        return;
    format_ratio(it, &op->own[figure], text);
    screen_print_line(it->screen, 2, "own change of the %s latency, without what all operations have in common: %s%s",
                      verdict_figure_name(figure), it->times, text);
}

/* "slow calls 0.01 % → 1 % of the calls, about 64 times A's usual latency" */
static void print_tail(const struct printer *it, const struct verdict_tail *tail) {
    char shares[CELL_SIZE];
    format_shares(it, tail->a_share, tail->b_share, shares);
    screen_print_line(it->screen, 2, "slow calls %s of the calls, about %s times A's usual latency", shares,
                      units_count((uint64_t)fmin(tail->times, 0x1p62)).text);
}

/* "+64 % of the mean latency"; "which alone makes the mean ×36" */
static void print_peak(const struct printer *it, const struct verdict_peak *peak) {
    char shares[CELL_SIZE];
    format_shares(it, peak->a_share, peak->b_share, shares);
    screen_begin_line(it->screen, 2);
    screen_printf(it->screen, "calls around %s: %s, ", units_cycles(&it->units, exp2(peak->place.centre)).text, shares);
    if (peak->cost >= 1)
        screen_printf(it->screen, "which alone makes the mean latency %s%s", it->times, text_of(1 + peak->cost).text);
    else
        screen_printf(it->screen, "%+.3g %% of the mean latency", 100 * fmax(-1, peak->cost));
    screen_end_line(it->screen);
}

/* "failures 0.1 % → 3.4 % of the calls, most of B's EIO" */
static void print_failures(const struct printer *it, const struct verdict_op *op) {
    char shares[CELL_SIZE];
    unsigned failure = op->b_sum ? outcome_commonest_failure(op->b_sum) : AGGSTATS_FAILURES;
    format_failures(it, op, shares);
    screen_begin_line(it->screen, 2);
    screen_printf(it->screen, "failures %s of the calls", shares);
    if (failure < AGGSTATS_FAILURES)
        screen_printf(it->screen, ", most of B's %s", aggstats_failure_name(failure));
    screen_end_line(it->screen);
}

static bool is_of_one_side(enum verdict_word word) {
    return word == VERDICT_ONLY_A || word == VERDICT_ONLY_B;
}

static void print_chart(const struct printer *it, const struct aggstats_op_profile *const ops[2]) {
    const struct chart_axis axis = chart_axis_of(ops, 2, it->result->a_sum.resolution, it->screen);
    for (size_t side = 0; side < 2; side++) {
        screen_printf(it->screen, "  ");
        screen_print(it->screen, INK_FAINT, side == 0 ? "A, all runs" : "B, all runs");
        putc('\n', it->stream);
        chart_print(&axis, ops[side], &it->units, it->screen);
    }
}

static void print_op(const struct printer *it, const struct verdict_op *op) {
    const struct aggstats_op_profile *const ops[2] = {op->a_sum, op->b_sum};
    char word[CELL_SIZE];
    format_word(op, word);
    screen_begin_heading(it->screen);
    screen_print(it->screen, INK_STRONG, op->name);
    screen_printf(it->screen, ": %s", word);
    screen_end_heading(it->screen);
    for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
        if (op->is_changed[figure] || (figure <= VERDICT_MEAN && is_of_latency(op->word)) ||
            (figure == VERDICT_CALLS && is_of_one_side(op->word)))
            print_figure(it, op, figure);
    if (op->tail.is_changed)
        print_tail(it, &op->tail);
    if (is_of_latency(op->word))
        print_own_change(it, op);
    if (op->failures.is_changed)
        print_failures(it, op);
    for (size_t i = 0; i < op->peak_count; i++)
        if (op->peaks[i].is_changed)
            print_peak(it, &op->peaks[i]);
    if (it->screen->html)
        chart_put_picture(it->page->pictures, op->name);
    else if (op->a_sum && op->b_sum && !it->page->no_charts && !op->has_exact_calls) /* else there are few calls */
        print_chart(it, ops);
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

/* "  FSYNC: 804 → 8 calls a run, -239 ms a run" */
static void print_unjudged(const struct printer *it) {
    bool is_first = true;
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        char title[CELL_SIZE];
        char cost[CELL_SIZE];
        if (!is_weighty(it, op))
            continue;
        snprintf(title, sizeof(title), "Not judged, with fewer than %u calls a run in A or B", VERDICT_CALLS_MIN);
        if (is_first)
            screen_print_title(it->screen, title);
        format_cost(it, op, cost);
        screen_begin_line(it->screen, 2);
        screen_printf(it->screen, "%s: ", op->name);
        print_sides(it, op, VERDICT_CALLS);
        screen_printf(it->screen, " calls a run, %s a run", cost);
        screen_end_line(it->screen);
        is_first = false;
    }
}

static void print_names(const struct printer *it, enum verdict_word word, const char *why) {
    int column = 0;
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        if (op->word != word || is_weighty(it, op))
            continue;
        if (column == 0)
            column = screen_begin_words(it->screen, why);
        column = screen_print_word(it->screen, column, op->name);
    }
    if (column > 0)
        screen_end_line(it->screen);
}

/* "  FSYNC: calls 0 → 1 in all runs, but with so few runs that may be chance; about 1 more run" */
static void print_undecided_calls(const struct printer *it, const struct verdict_op *op) {
    char runs[CELL_SIZE];
    format_more_runs(op->more_runs, runs);
    screen_begin_line(it->screen, 2);
    screen_printf(it->screen, "%s: calls ", op->name);
    print_sides(it, op, VERDICT_CALLS);
    screen_printf(it->screen, " in all runs, but with so few runs that may be chance; %s", runs);
    screen_end_line(it->screen);
}

/* "  READ: mean ×1.05 [0.92-1.21]; about 3 more runs" */
static void print_undecided_op(const struct printer *it, const struct verdict_op *op) {
    const enum verdict_figure figure = op->decided_by;
    const bool is_of_calls = figure == VERDICT_CALLS;
    const bool has_ratio = verdict_has_ratio(&op->ratios[figure]);
    char text[CELL_SIZE];
    screen_begin_line(it->screen, 2);
    screen_printf(it->screen, "%s: %s ", op->name, verdict_figure_name(figure));
    format_ratio(it, &op->ratios[figure], text);
    if (has_ratio)
        screen_printf(it->screen, "%s%s", it->times, text);
    else
        print_sides(it, op, figure);
    if (!is_of_calls && it->result->common.is_there && has_ratio) {
        format_ratio(it, &op->own[figure], text);
        screen_printf(it->screen, ", of its own %s%s", it->times, text);
    }
    print_doubt(it, &op->own[figure], is_of_calls ? "more" : "slower", is_of_calls ? "fewer" : "faster", op->more_runs);
    screen_end_line(it->screen);
}

static void print_undecided(const struct printer *it) {
    bool is_first = true;
    for (size_t i = 0; i < it->result->op_count; i++) {
        if (it->result->ops[i].word != VERDICT_UNDECIDED)
            continue;
        if (is_first)
            screen_print_title(it->screen, "Not decided");
        if (it->result->ops[i].has_exact_calls)
            print_undecided_calls(it, &it->result->ops[i]);
        else
            print_undecided_op(it, &it->result->ops[i]);
        is_first = false;
    }
}

static void print_others(const struct printer *it) {
    char alike[CELL_SIZE];
    char few[CELL_SIZE];
    char as_rest[CELL_SIZE];
    snprintf(as_rest, sizeof(as_rest), "As the rest: within %g %% of what all operations have in common",
             100 * it->result->options.at_least);
    snprintf(alike, sizeof(alike), "Alike within %g %%", 100 * it->result->options.at_least);
    snprintf(few, sizeof(few), "Fewer than %u calls a run", VERDICT_CALLS_MIN);
    print_names(it, VERDICT_ALIKE, alike);
    print_names(it, VERDICT_AS_REST, as_rest);
    print_undecided(it);
    print_names(it, VERDICT_FEW, few);
}

/* The first line of a page of HTML is its headline: that of a job is how long it took. */
static void print_summary(const struct printer *it) {
    const bool are_times_first = it->screen->html && it->page->is_job && it->result->elapsed.is_there;
    if (are_times_first)
        print_times(it);
    print_answer(it);
    if (!are_times_first)
        print_times(it);
    print_common(it, change_count(it->result) > 0);
    print_trend(it);
    screen_print_gap(it->screen);
    print_set(it, "A", it->page->a_name, it->result->a_count);
    print_set(it, "B", it->page->b_name, it->result->b_count);
    if (it->result->rescaled)
        screen_print_line(it->screen, 0, "Clock rates differ: buckets are approximate.");
    print_table(it);
    print_unjudged(it);
}

static void print_changed_ops(const struct printer *it) {
    for (size_t i = 0; i < change_count(it->result); i++)
        print_op(it, &it->result->ops[i]);
}

void verdict_page_print(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    print_summary(&it);
    print_changed_ops(&it);
    print_others(&it);
}

void verdict_page_print_summary(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    print_summary(&it);
    print_others(&it);
}

void verdict_page_print_ops(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    print_changed_ops(&it);
}

/* ---- Other forms -------------------------------------------------------------------------------- */

void verdict_page_print_brief(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    int names = (int)strlen(columns[NAME].title);
    int words = 0;
    for (size_t i = 0; i < page->result->op_count; i++) {
        char word[CELL_SIZE];
        format_word(&page->result->ops[i], word);
        names = (int)strlen(page->result->ops[i].name) > names ? (int)strlen(page->result->ops[i].name) : names;
        words = (int)strlen(word) > words ? (int)strlen(word) : words;
    }
    for (size_t i = 0; i < page->result->op_count; i++) {
        const struct verdict_op *op = &page->result->ops[i];
        char word[CELL_SIZE];
        char mean[CELL_SIZE];
        char calls[CELL_SIZE];
        format_word(op, word);
        format_ratio(&it, &op->ratios[VERDICT_MEAN], mean);
        format_ratio(&it, &op->ratios[VERDICT_CALLS], calls);
        fprintf(it.stream, "%-*s  %-*s  mean %s, calls %s", names, op->name, words, word, mean, calls);
        if (has_common_change(page->result)) {
            format_ratio(&it, &op->own[VERDICT_MEAN], mean);
            fprintf(it.stream, ", own change %s", mean);
        }
        putc('\n', it.stream);
    }
}

/* Operation names are capitals, digits and underscores; '_' alone between letters is no markup. */
void verdict_page_print_markdown(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    print_answer(&it);
    print_times(&it);
    print_common(&it, true);
    print_trend(&it);
    CLEANUP_SHEET struct sheet_table table = make_table(&it, page->result->op_count);
    screen_print_gap(screen);
    sheet_print_markdown(&table, it.stream);
}

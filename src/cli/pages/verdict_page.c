/* Verdicts for people. */
#include "verdict_page.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "chart.h"
#include "columns.h"
#include "outcome_line.h"
#include "units.h"

#define CELL_SIZE COLUMNS_CELL_SIZE

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

/* "1.31", "0.047", "1,370" */
static struct units_text text_of(double factor) {
    struct units_text text;
    if (factor >= 99.95)
        return units_count((uint64_t)fmin(factor, 0x1p62));
    snprintf(text.text, sizeof(text.text), factor >= 9.995 ? "%.1f" : factor >= 0.0995 ? "%.2f" : "%.2g", factor);
    return text;
}

/* "[1.27–1.36]" */
static void format_interval(const struct printer *it, const struct verdict_ratio *ratio, char ret_text[CELL_SIZE]) {
    snprintf(ret_text, CELL_SIZE, "[%s%s%s]", text_of(ratio->low).text, it->to, text_of(ratio->high).text);
}

/* "1.31 [1.27–1.36]" */
static void format_ratio(const struct printer *it, const struct verdict_ratio *ratio, char ret_text[CELL_SIZE]) {
    char interval[CELL_SIZE];
    if (!ratio->effect.is_known) {
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

static void format_mean(const struct printer *it, double cycles, bool is_known, char ret_text[CELL_SIZE]) {
    char text[UNITS_TEXT_SIZE] = "-";
    if (is_known)
        units_format_cycles(&it->units, cycles, text);
    snprintf(ret_text, CELL_SIZE, "%s", text);
}

static void format_more_runs(size_t more, char ret_text[CELL_SIZE]) {
    if (more == 0)
        snprintf(ret_text, CELL_SIZE, "more than %u runs would be needed", VERDICT_RUNS_MOST);
    else
        snprintf(ret_text, CELL_SIZE, "about %zu more run%s", more, units_plural(more));
}

/* ---- The answer --------------------------------------------------------------------------------- */

static void print_set(const struct printer *it, const char *key, const char *name, size_t count) {
    screen_print_key(it->screen, key);
    fprintf(it->stream, "%zu run%s: ", count, units_plural(count));
    screen_print_untrusted(it->screen, INK_STRONG, name);
    putc('\n', it->stream);
}

static void print_job(const struct printer *it) {
    char ratio[CELL_SIZE];
    if (!it->page->is_job || !it->result->has_elapsed)
        return;
    format_ratio(it, &it->result->elapsed, ratio);
    fprintf(it->stream, "; the job took %s times as long", ratio);
}

/* "3 of 14 operations slower, 1 faster; the job took 1.31 [1.27–1.36] times as long" */
static void print_answer(const struct printer *it) {
    const size_t *counts = it->result->word_counts;
    size_t one_sided = counts[VERDICT_ONLY_A] + counts[VERDICT_ONLY_B];
    size_t failing = counts[VERDICT_FAILS_MORE] + counts[VERDICT_FAILS_LESS];
    if (counts[VERDICT_SLOWER] + counts[VERDICT_FASTER] + failing + one_sided == 0)
        fprintf(it->stream, "No operation surely changed, of %zu", it->result->op_count);
    else
        fprintf(it->stream, "%zu of %zu operation%s slower, %zu faster", counts[VERDICT_SLOWER], it->result->op_count,
                units_plural(it->result->op_count), counts[VERDICT_FASTER]);
    if (counts[VERDICT_FAILS_MORE] > 0)
        fprintf(it->stream, ", %zu failing more", counts[VERDICT_FAILS_MORE]);
    if (counts[VERDICT_FAILS_LESS] > 0)
        fprintf(it->stream, ", %zu failing less", counts[VERDICT_FAILS_LESS]);
    if (one_sided > 0)
        fprintf(it->stream, ", %zu only on one side", one_sided);
    if (counts[VERDICT_UNDECIDED] > 0)
        fprintf(it->stream, ", %zu not decided", counts[VERDICT_UNDECIDED]);
    print_job(it);
    fputs(".\n", it->stream);
}

static void print_common_change(const struct printer *it) {
    const struct verdict_result *result = it->result;
    char interval[CELL_SIZE];
    bool is_slower = result->common_word == VERDICT_SLOWER;
    const struct verdict_ratio *common = &result->common;
    const struct verdict_ratio inverse = {.ratio = 1 / common->ratio, .low = 1 / common->high, .high = 1 / common->low};
    format_interval(it, is_slower ? common : &inverse, interval);
    fprintf(it->stream,
            "Everything is %s times %s %s: a machine that was %s, or all of it changed. What follows is beside that.\n",
            text_of(is_slower ? common->ratio : inverse.ratio).text, is_slower ? "slower" : "faster", interval,
            is_slower ? "busier" : "less busy");
}

static void print_common(const struct printer *it) {
    const struct verdict_result *result = it->result;
    char text[CELL_SIZE];
    if (!result->has_common)
        return;
    if (verdict_is_change(result->common_word)) {
        print_common_change(it);
    } else if (result->common_word == VERDICT_UNDECIDED) {
        char more[CELL_SIZE];
        format_ratio(it, &result->common, text);
        format_more_runs(result->common_more_runs, more);
        fprintf(it->stream, "Whether everything has changed together is not decided: %s times as long; %s.\n", text,
                more);
    }
    if (result->common_word != VERDICT_ALIKE || result->common_spread > 1 + result->options.at_least)
        fprintf(it->stream, "All operations together, the runs of a side differ by a factor of %s.\n",
                text_of(result->common_spread).text);
}

static void print_trend(const struct printer *it) {
    double trend = it->result->trend;
    if (!it->result->has_trend)
        return;
    fprintf(it->stream, "The runs became %s from one to the next, by a factor of %s: the order of A and B matters.\n",
            trend > 1 ? "slower" : "faster", text_of(trend > 1 ? trend : 1 / trend).text);
}

/* ---- The table ---------------------------------------------------------------------------------- */

static void format_calls(const struct printer *it, const struct verdict_op *op, char ret_text[CELL_SIZE]) {
    if (op->a_calls > 0 && op->b_calls > 0)
        format_ratio(it, &op->ratios[VERDICT_CALLS], ret_text);
    else
        snprintf(ret_text, CELL_SIZE, "-");
}

/* "0.1 % → 3.4 %" */
static void format_failures(const struct printer *it, const struct verdict_op *op, char ret_text[CELL_SIZE]) {
    if (op->failures.effect.is_known)
        snprintf(ret_text, CELL_SIZE, "%.3g %% %s %.3g %%", 100 * op->failures.a_share, it->screen->ascii ? "->" : "→",
                 100 * op->failures.b_share);
    else
        snprintf(ret_text, CELL_SIZE, "-");
}

/* In order of need: as many as fit are shown. */
enum column { WORD, COST, MEAN, A_MEAN, B_MEAN, CALLS, P99, FAILURES, COLUMN_COUNT };

static const struct columns_column columns[COLUMN_COUNT] = {
    {"verdict", 12}, {"cost a run", 12}, {"mean, B/A", 21}, {"mean, A", 10},
    {"mean, B", 10}, {"calls, B/A", 21}, {"p99, B/A", 21},  {"failures, A, B", 21},
};

static void format_cell(const void *context, size_t row, unsigned column, char ret_text[CELL_SIZE]) {
    const struct printer *it = context;
    const struct verdict_op *op = &it->result->ops[row];
    const struct verdict_ratio *mean = &op->ratios[VERDICT_MEAN];
    if (column == WORD)
        snprintf(ret_text, CELL_SIZE, "%s", verdict_word_name(op->word));
    else if (column == COST)
        format_cost(it, op, ret_text);
    else if (column == MEAN)
        format_ratio(it, mean, ret_text);
    else if (column == A_MEAN)
        format_mean(it, mean->a, mean->effect.a_count > 0, ret_text);
    else if (column == B_MEAN)
        format_mean(it, mean->b, mean->effect.b_count > 0, ret_text);
    else if (column == CALLS)
        format_calls(it, op, ret_text);
    else if (column == P99)
        format_ratio(it, &op->ratios[VERDICT_P99], ret_text);
    else
        format_failures(it, op, ret_text);
}

static const char *name_of(const void *context, size_t row, enum ink *ret_ink) {
    const struct printer *it = context;
    *ret_ink = INK_STRONG;
    return it->result->ops[row].name;
}

static size_t change_count(const struct verdict_result *result) {
    size_t count = 0;
    while (count < result->op_count && verdict_is_change(result->ops[count].word))
        count++;
    return count;
}

static struct columns_table table_of(const struct printer *it, size_t row_count) {
    return (struct columns_table){
        .screen = it->screen,
        .columns = columns,
        .column_count = COLUMN_COUNT,
        .row_count = row_count,
        .page = it,
        .format = format_cell,
        .name_of = name_of,
    };
}

static void print_table(const struct printer *it) {
    struct columns_table table = table_of(it, change_count(it->result));
    if (table.row_count > 0)
        columns_print_table(&table, "operation");
}

/* ---- An op that changed ------------------------------------------------------------------------- */

static void print_figure(const struct printer *it, const struct verdict_op *op, enum verdict_figure figure) {
    const struct verdict_ratio *ratio = &op->ratios[figure];
    char a[UNITS_TEXT_SIZE];
    char b[UNITS_TEXT_SIZE];
    char text[CELL_SIZE];
    if (figure == VERDICT_CALLS) {
        units_format_count(figures_count(op->a_calls), a);
        units_format_count(figures_count(op->b_calls), b);
    } else {
        units_format_cycles(&it->units, ratio->a, a);
        units_format_cycles(&it->units, ratio->b, b);
    }
    format_ratio(it, ratio, text);
    fprintf(it->stream, "  %s %s %s %s: %s%s\n", verdict_figure_name(figure), a, it->screen->ascii ? "->" : "→", b,
            it->times, text);
}

static void print_peak(const struct printer *it, const struct verdict_peak *peak) {
    fprintf(it->stream, "  calls around %s: %.3g %% %s %.3g %%, %+.3g %% of the mean latency\n",
            units_cycles(&it->units, exp2(peak->place.centre)).text, 100 * peak->a_share,
            it->screen->ascii ? "->" : "→", 100 * peak->b_share, 100 * peak->cost);
}

/* "failures 0.1 % → 3.4 % of the calls, most of B's EIO" */
static void print_failures(const struct printer *it, const struct verdict_op *op) {
    char shares[CELL_SIZE];
    unsigned failure = op->b_sum ? outcome_commonest_failure(op->b_sum) : AGGSTATS_FAILURES;
    format_failures(it, op, shares);
    fprintf(it->stream, "  failures %s of the calls", shares);
    if (failure < AGGSTATS_FAILURES)
        fprintf(it->stream, ", most of B's %s", aggstats_failure_name(failure));
    putc('\n', it->stream);
}

static void print_chart(const struct printer *it, const struct aggstats_op_profile *const ops[2]) {
    const struct chart_axis axis = chart_axis_of(ops, 2, it->result->a_sum.resolution, it->screen);
    for (size_t side = 0; side < 2; side++) {
        fprintf(it->stream, "  ");
        screen_print(it->screen, INK_FAINT, side == 0 ? "A, all runs" : "B, all runs");
        putc('\n', it->stream);
        chart_print(&axis, ops[side], &it->units, it->screen);
    }
}

static void print_op(const struct printer *it, const struct verdict_op *op) {
    const struct aggstats_op_profile *const ops[2] = {op->a_sum, op->b_sum};
    putc('\n', it->stream);
    screen_print(it->screen, INK_STRONG, op->name);
    fprintf(it->stream, ": %s\n", verdict_word_name(op->word));
    for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
        if (op->is_changed[figure])
            print_figure(it, op, figure);
    if (op->failures.is_changed)
        print_failures(it, op);
    for (size_t i = 0; i < op->peak_count; i++)
        if (op->peaks[i].is_changed)
            print_peak(it, &op->peaks[i]);
    if (op->a_sum && op->b_sum)
        print_chart(it, ops);
}

/* ---- The rest ----------------------------------------------------------------------------------- */

static void print_names(const struct printer *it, enum verdict_word word, const char *why) {
    int column = 0;
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        if (op->word != word)
            continue;
        if (column == 0)
            column = fprintf(it->stream, "\n%s:", why);
        column = screen_print_word(it->screen, column, op->name);
    }
    if (column > 0)
        putc('\n', it->stream);
}

static void print_undecided(const struct printer *it) {
    bool is_first = true;
    for (size_t i = 0; i < it->result->op_count; i++) {
        const struct verdict_op *op = &it->result->ops[i];
        char ratio[CELL_SIZE];
        char more[CELL_SIZE];
        if (op->word != VERDICT_UNDECIDED)
            continue;
        format_ratio(it, &op->ratios[VERDICT_MEAN], ratio);
        format_more_runs(op->more_runs, more);
        fprintf(it->stream, "%s  %s: %s%s the mean latency; %s\n", is_first ? "\nNot decided:\n" : "", op->name,
                it->times, ratio, more);
        is_first = false;
    }
}

static void print_others(const struct printer *it) {
    char alike[CELL_SIZE];
    char few[CELL_SIZE];
    snprintf(alike, sizeof(alike), "Alike within %g %%", 100 * it->result->options.at_least);
    snprintf(few, sizeof(few), "Fewer than %u calls a run", VERDICT_CALLS_MIN);
    print_names(it, VERDICT_ALIKE, alike);
    print_undecided(it);
    print_names(it, VERDICT_FEW, few);
}

void verdict_page_print(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    print_answer(&it);
    print_common(&it);
    print_trend(&it);
    putc('\n', it.stream);
    print_set(&it, "A", page->a_name, page->result->a_count);
    print_set(&it, "B", page->b_name, page->result->b_count);
    if (page->result->rescaled)
        fputs("Clock rates differ: buckets are approximate.\n", it.stream);
    print_table(&it);
    for (size_t i = 0; i < change_count(page->result); i++)
        print_op(&it, &page->result->ops[i]);
    print_others(&it);
}

/* ---- Other forms -------------------------------------------------------------------------------- */

void verdict_page_print_brief(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    const struct columns_table table = table_of(&it, page->result->op_count);
    const int names = columns_name_width(&table, "operation");
    for (size_t i = 0; i < page->result->op_count; i++) {
        const struct verdict_op *op = &page->result->ops[i];
        char mean[CELL_SIZE];
        char calls[CELL_SIZE];
        format_ratio(&it, &op->ratios[VERDICT_MEAN], mean);
        format_calls(&it, op, calls);
        fprintf(it.stream, "%-*s  %-11s  mean %s, calls %s\n", names, op->name, verdict_word_name(op->word), mean,
                calls);
    }
}

/* Operation names are capitals, digits and underscores; '_' alone between letters is no markup. */
void verdict_page_print_markdown(const struct verdict_page *page, const struct screen *screen) {
    const struct printer it = printer_of(page, screen);
    print_answer(&it);
    print_common(&it);
    print_trend(&it);
    fputs("\n| operation | verdict | cost a run | mean, A | mean, B | mean, B/A | calls, B/A | p99, B/A | failures |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
          it.stream);
    for (size_t i = 0; i < page->result->op_count; i++) {
        static const enum column order[] = {WORD, COST, A_MEAN, B_MEAN, MEAN, CALLS, P99, FAILURES};
        fprintf(it.stream, "| %s |", page->result->ops[i].name);
        for (size_t cell = 0; cell < ARRAY_SIZE(order); cell++) {
            char text[CELL_SIZE];
            format_cell(&it, i, order[cell], text);
            fprintf(it.stream, " %s |", text);
        }
        putc('\n', it.stream);
    }
}

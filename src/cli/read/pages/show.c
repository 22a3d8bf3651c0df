/* A profile for people. First the answer page, then what was profiled, a table of the operations, and on request a
 * histogram of each, all by total latency. */
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/user_label.h"
#include "aggstats/why.h"
#include "base.h"
#include "chart.h"
#include "facts_text.h"
#include "figures.h"
#include "groups.h"
#include "groups_table.h"
#include "layers.h"
#include "peak_labels.h"
#include "views.h"

#define STOLEN_SHARE_MIN 0.01

/* State of all parts of the page. */
struct page {
    struct sheet *sheet;
    const struct input *input;
    const struct aggstats_profile *profile;
    const struct show_options *options;
    struct figures_sum sum;                 /* of the whole profile, even if only some ops are shown */
    const struct aggstats_op_profile **ops; /* those to show, largest total first */
    size_t op_count;
    struct calibration calibration; /* the times for naming peaks */
};

/* ---- Heading ------------------------------------------------------------------------------------ */

#define put_entry(page, key, ...) sheet_entry((page)->sheet, FORM_ENTRY, key, __VA_ARGS__)

static struct units_text cycles_text(const struct page *page, double cycles) {
    return units_cycles(&page->sheet->units, cycles);
}

/* But those that only say how to find the profile again. The groups that were chosen, with how many they are or how much
 * latency of their calls may be missing. */
static void put_labels(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < profile->label_count; i++) {
        const struct aggstats_label *label = &profile->labels[i];
        const char *user_key = user_label_of_key(label->key);
        if (strcmp(label->key, "control") == 0 || strcmp(label->key, "profile") == 0 || !label->value[0])
            continue;
        if (label == groups_chosen(profile) && profile->missed_cycles_max > 0)
            put_entry(page, label->key, "%s, but for %" PRIu64 " cycles at most", label->value,
                      profile->missed_cycles_max);
        else if (label == groups_chosen(profile) && profile->chosen_groups > 1)
            put_entry(page, label->key, "%s, %" PRIu64 " of them", label->value, profile->chosen_groups);
        else if (user_key)
            put_entry(page, "label", "%s=%s", user_key, label->value);
        else
            put_entry(page, label->key, "%s", label->value);
    }
}

/* Calls are timed by the machine's own counter if the kernel trusts it, at some layers. */
static void put_clock(const struct page *page) {
    const struct aggstats_clock *clock = &page->profile->clock;
    const char *name = aggstats_clock_name(clock->kind);
    const char *layer = aggstats_profile_label(page->profile, "layer");
    CLEANUP_STR struct str rate = {0};
    CLEANUP_STR struct str buckets = {0};
    if (clock->kind == AGGSTATS_CLOCK_MONOTONIC && clock->frequency_hz == 1000000000)
        str_addf(&rate, "monotonic, in nanoseconds%s",
                 layer && (strcmp(layer, "fs") == 0 || strcmp(layer, "user") == 0 || strcmp(layer, "daemon") == 0)
                     ? ": no cycle counter that the kernel trusts"
                     : "");
    else if (clock->frequency_hz > 0)
        str_addf(&rate, "%s, %.3f MHz", name ? name : "unknown", (double)clock->frequency_hz / 1e6);
    else
        str_addf(&rate, "%s%sof unknown rate, latencies in cycles", name ? name : "", name ? " " : "");
    if (page->profile->resolution != 1)
        str_addf(&buckets, "%u buckets", page->profile->resolution);
    put_entry(page, "clock", "%s; %s per power of two", str_text(&rate),
              buckets.length > 0 ? str_text(&buckets) : "a bucket");
}

/* Time that the hypervisor took is printed only if it matters: all latencies may include some of it. Calls in flight while
 * the daemon was stopped are longer by that; callers that came then waited unseen. */
static void put_span(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    const double elapsed = (double)profile->elapsed_cycles;
    const double stolen = (double)profile->stolen_ns / 1e9 * (double)profile->clock.frequency_hz;
    const time_t seconds = (time_t)(profile->start_ns / NS_PER_S);
    char start[64];
    struct tm tm;
    if (profile->has_start && localtime_r(&seconds, &tm) &&
        strftime(start, sizeof(start), "%Y-%m-%d %H:%M:%S %Z", &tm) > 0)
        put_entry(page, "start", "%s", start);
    if (profile->has_elapsed)
        put_entry(page, "elapsed", "%s", cycles_text(page, elapsed).text);
    if (profile->has_stolen && profile->has_elapsed && stolen > STOLEN_SHARE_MIN * elapsed)
        put_entry(page, "stolen", "%s, %.1f %% of the time: the hypervisor ran others", cycles_text(page, stolen).text,
                  100 * stolen / elapsed);
    if (profile->stopped_ns > 0)
        put_entry(page, "stopped", "%s: the daemon did not run; what requests waited for it is in no latency",
                  units_seconds(&page->sheet->units, (double)profile->stopped_ns / 1e9).text);
    if (profile->interval_cycles > 0)
        put_entry(page, "intervals", "%zu of %s", profile->interval_count,
                  cycles_text(page, (double)profile->interval_cycles).text);
}

/* Of a mount, its owner, if that is another user; of a live file, whether it still grows. */
static void put_what_was_profiled(const struct page *page) {
    const struct input *input = page->input;
    const bool is_others = input->has_owner && input->owner != geteuid();
    const struct passwd *owner = is_others ? getpwuid(input->owner) : NULL;
    if (owner)
        put_entry(page, "owner", "%s (uid %u)", owner->pw_name, (unsigned)input->owner);
    else if (is_others)
        put_entry(page, "owner", "uid %u", (unsigned)input->owner);
    put_labels(page);
    facts_text_put(page->sheet, page->profile);
    put_clock(page);
    put_span(page);
    if (input->is_live)
        put_entry(page, "state", "%s by process %" PRId64 "%s",
                  input->live.recording ? "being recorded" : "left behind", input->live.pid,
                  input->live.paused ? ", paused" : "");
    if (page->sum.calls == 0)
        put_entry(page, "total", "nothing: no operation has been called");
    else
        put_entry(page, "total", "%s in %s call%s of %zu operation%s", cycles_text(page, page->sum.total_cycles).text,
                  units_count(page->sum.calls).text, units_plural(page->sum.calls), page->profile->op_count,
                  units_plural(page->profile->op_count));
}

/* Of events of some calls: which these are. Of calls that were left: "3 calls never returned (FREAD 2, READ 1): ..." */
static void put_warnings(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    const char *only = aggstats_profile_label(profile, "only");
    const wide_count left_calls = figures_left(profile);
    CLEANUP_STR struct str left = {0};
    if (profile->incomplete && only)
        sheet_warning(page->sheet, "Incomplete: it has only %s.", only);
    else if (profile->incomplete)
        sheet_warning(page->sheet, SHOW_INCOMPLETE);
    for (size_t i = 0; i < profile->op_count; i++)
        if (profile->ops[i].left_calls > 0)
            str_addf(&left, "%s%s %s", left.length > 0 ? ", " : "", profile->ops[i].name,
                     units_count(profile->ops[i].left_calls).text);
    if (left_calls > 0)
        sheet_sentence(
            page->sheet, 0,
            "%s call%s never returned (%s): a jump left them, or their process ended or executed another program.",
            units_count(left_calls).text, units_plural(left_calls), str_text(&left));
    if (profile->clamped > 0)
        sheet_warning(page->sheet, "The clock ran backwards in %s call%s: counted as 0 cycles.",
                      units_count(profile->clamped).text, units_plural(profile->clamped));
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

void show_calls_in_flight(struct sheet *sheet, const struct aggstats_call *const *calls, size_t count) {
    static const struct sheet_column columns[] = {
        {"operation", SHEET_NAME, 0, 18, .gap = 2}, {"age", SHEET_NUMBER, 1, 9}, {"pid", SHEET_NUMBER, 2, 9},
        {"program", SHEET_LINE, 4, 17, 17},         {"path", SHEET_TEXT, 3},
    };
    SHEET_TABLE(sheet, columns);
    for (size_t i = 0; i < count; i++) {
        const struct aggstats_call *call = calls[i];
        char cause[AGGSTATS_WHY_TEXT_SIZE];
        sheet_add(sheet, call->op);
        sheet_ink(sheet, INK_PLAIN);
        sheet_add_cycles(sheet, (double)call->latency_cycles);
        sheet_ink(sheet, INK_STRONG);
        sheet_addf(sheet, "%" PRIu64, call->pid);
        sheet_add(sheet, call->program[0] ? call->program : "-");
        sheet_add(sheet, call->path ? call->path : "(not known)"); /* the number of a node helps nobody */
        if (call->cause.words[0])
            sheet_add_more(sheet, INK_WARNING, aggstats_why_text(&call->cause, cause));
    }
}

static void put_calls_in_flight(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    CLEANUP_FREE const struct aggstats_call **calls =
        calloc(profile->in_flight_count + 1, sizeof(*calls)); /* NOLINT(bugprone-sizeof-expression): of pointers */
    if (profile->in_flight_count == 0 || !calls)
        return;
    for (size_t i = 0; i < profile->in_flight_count; i++)
        calls[i] = &profile->in_flight[i];
    sheet_title(page->sheet, "Calls in flight");
    show_calls_in_flight(page->sheet, calls, profile->in_flight_count);
}

/* ---- Table of operations ------------------------------------------------------------------------ */

enum op_column { OP_NAME, OP_CALLS, OP_SHARE, OP_TOTAL, OP_MEAN, OP_P50, OP_P90, OP_P99, OP_P999, OP_LONGEST };

static const struct sheet_column op_columns[] = {
    [OP_NAME] = {"operation", SHEET_NAME, 0},   [OP_CALLS] = {"calls", SHEET_NUMBER, 1, 12},
    [OP_SHARE] = {"share", SHEET_NUMBER, 2, 8}, [OP_TOTAL] = {"total", SHEET_NUMBER, 3, 8},
    [OP_MEAN] = {"mean", SHEET_NUMBER, 8, 8},   [OP_P50] = {"p50", SHEET_NUMBER, 5, 8},
    [OP_P90] = {"p90", SHEET_NUMBER, 7, 8},     [OP_P99] = {"p99", SHEET_NUMBER, 6, 8},
    [OP_P999] = {"p99.9", SHEET_NUMBER, 9, 8},  [OP_LONGEST] = {"max", SHEET_NUMBER, 4, 8},
};

/* The mean is of the calls that have ended: the others have not added to the total yet. Where the longest call is not
 * known, its bucket's upper bound is no figure of a call. */
static void add_op(const struct page *page, const struct aggstats_op_profile *op) {
    static const unsigned per_mille[] = {500, 900, 990, 999};
    struct sheet *sheet = page->sheet;
    const unsigned resolution = page->profile->resolution;
    const double total = (double)op->total_cycles;
    const uint64_t finished = figures_finished(op, resolution);
    sheet_add(sheet, op->name);
    sheet_add_count(sheet, op->calls);
    sheet_add_share(sheet, page->sum.total_cycles > 0 ? total / page->sum.total_cycles : 0);
    sheet_add_cycles(sheet, total);
    sheet_add_cycles(sheet, finished > 0 ? total / (double)finished : NAN);
    for (size_t i = 0; i < ARRAY_SIZE(per_mille); i++) {
        struct aggstats_percentile percentile;
        sheet_add_cycles(sheet,
                         aggstats_percentile(op, resolution, per_mille[i], &percentile) ? percentile.cycles : NAN);
    }
    sheet_add_cycles(sheet, op->longest_cycles > 0 ? (double)op->longest_cycles : NAN);
}

static void put_table(const struct page *page) {
    const unsigned inexact = 1U << OP_MEAN | 1U << OP_P50 | 1U << OP_P90 | 1U << OP_P99 | 1U << OP_P999;
    struct sheet *sheet = page->sheet;
    const struct aggstats_op_profile *longest = page->ops[0];
    bool has_queued = false;
    sheet_gap(sheet);
    struct sheet_table *table = SHEET_TABLE(sheet, op_columns);
    table->gap = 1;
    table->fills = true;
    for (size_t i = 0; i < page->op_count; i++) {
        longest = page->ops[i]->longest_cycles > longest->longest_cycles ? page->ops[i] : longest;
        has_queued |= layers_is_queued(layers_of_name(layers_name(page->profile)), page->ops[i]->name);
        add_op(page, page->ops[i]);
    }
    table->hidden = longest->longest_cycles > 0 ? 0 : 1U << OP_LONGEST;
    for (size_t i = 0; i < page->op_count; i++)
        if (answer_is_kernels(page->profile, page->ops[i]))
            sheet_legend(sheet, "GETXATTR: the kernel's own, before a file's first write (security.capability).");
    if (has_queued)
        sheet_legend(sheet, ANSWER_QUEUED);
    sheet->only_with = inexact;
    sheet_legend(sheet, "Percentiles are exact to a factor of %.3g%s.",
                 figures_percentile_error(page->profile->resolution),
                 longest->longest_cycles > 0 ? "; max is exact" : "");
    sheet->only_with = 0;
    if (longest->longest_path)
        sheet_text(sheet, 0, "The longest call, %s %s, was on %s", strchr("AEIOU", longest->name[0]) ? "an" : "a",
                   longest->name, longest->longest_path);
}

/* ---- Histograms --------------------------------------------------------------------------------- */

/* If there is only one peak, the chart suffices. */
static void put_places(const struct page *page, const struct aggstats_op_profile *op) {
    struct peak peaks[PEAKS_MAX];
    const unsigned resolution = page->profile->resolution;
    const size_t count = peaks_find(op, resolution, peaks);
    facts_text_put_outcome(page->sheet, op);
    for (size_t i = 0; count > 1 && i < count; i++)
        peak_labels_put_place(page->sheet, &peaks[i], resolution);
}

/* What peaks waited for, and their names, or why there is only an explanation. */
static void put_peak_labels(const struct page *page, const struct aggstats_op_profile *op) {
    const struct peak_times times = peak_labels_times(page->profile, &page->calibration);
    peak_labels_put_waits(page->sheet, page->profile, op);
    if (page->options->explain)
        peak_labels_explain_all(page->sheet, op, &times);
    else
        peak_labels_put(page->sheet, op, &times);
}

static void put_charts(const struct page *page) {
    struct sheet *sheet = page->sheet;
    const unsigned resolution = page->profile->resolution;
    const bool has_rows = page->options->buckets;
    const struct chart_axis axis = chart_axis_of(page->ops, page->op_count, resolution, &sheet->screen);
    sheet_gap(sheet);
    if (has_rows)
        sheet_sentence(sheet, 0, "Calls by latency: a row per bucket, with its lower bound. Bars are logarithmic.");
    else if (axis.merged > axis.resolution)
        sheet_sentence(sheet, 0,
                       "Calls by latency, both logarithmic: a row of a bar is a factor of 10 in calls, a column is %u "
                       "powers of two.",
                       axis.merged / axis.resolution);
    else
        sheet_sentence(sheet, 0, "Calls by latency, both logarithmic: a row of a bar is a factor of 10 in calls.");
    for (size_t i = 0; i < page->op_count; i++) {
        const struct aggstats_op_profile *op = page->ops[i];
        sheet_heading(sheet, "%s", op->name);
        put_places(page, op);
        if (figures_finished(op, resolution) == 0)
            sheet_line(sheet, 2, "no call has ended yet");
        else
            sheet_chart(sheet, NULL, has_rows ? NULL : &axis, resolution, op, NULL);
        put_peak_labels(page, op);
    }
}

static void put_joints(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < page->op_count; i++)
        for (size_t joint = 0; joint < profile->joint_count; joint++)
            if (strcmp(profile->joints[joint].op, page->ops[i]->name) == 0)
                peak_labels_put_joint(page->sheet, &profile->joints[joint], page->ops[i], profile->resolution);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* Chosen ops have charts, and no answer page. */
static bool has_charts(const struct page *page) {
    return page->options->charts || page->options->buckets || page->options->ops.count > 0;
}

static void put_present_problem(const struct page *page) {
    if (page->options->warning)
        sheet_warning(page->sheet, "%s", page->options->warning);
}

static void put_answer(const struct page *page) {
    const struct answer_page answer = {.profile = page->profile,
                                       .calibration = &page->calibration,
                                       .source = &page->options->source,
                                       .no_labels = page->options->no_labels,
                                       .explain = page->options->explain && !has_charts(page)};
    answer_page_put(page->sheet, &answer);
}

static void put_page(const struct page *page) {
    put_present_problem(page);
    if (page->options->ops.count == 0) {
        put_answer(page);
        sheet_gap(page->sheet);
    }
    put_what_was_profiled(page);
    put_warnings(page);
    put_calls_in_flight(page);
    if (page->op_count == 0)
        return;
    put_table(page);
    if (has_charts(page))
        put_charts(page);
    if (page->options->joint)
        put_joints(page);
}

static void put_groups(const struct page *page, unsigned groupings) {
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (groupings & 1U << grouping)
            groups_table_put(page->sheet, page->profile, (enum aggstats_grouping)grouping,
                             page->options->group_rows_max, page->options->how_all_groups);
}

/* With the operations that are wanted, and the times that name their peaks.
 * Errors:  -ENOMEM */
static int page_init(const struct input *input, const struct show_options *options, struct sheet *sheet,
                     struct page *ret_page) {
    const struct aggstats_profile *profile = &input->profile;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are meant */
    const struct aggstats_op_profile **ops = calloc(profile->op_count + 1, sizeof(*ops));
    if (!ops)
        return -ENOMEM;
    *ret_page = (struct page){sheet, input, profile, options, figures_sum(profile), ops};
    for (size_t i = 0; i < profile->op_count; i++)
        if (option_list_wants(&options->ops, profile->ops[i].name))
            ops[ret_page->op_count++] = &profile->ops[i];
    if (options->no_labels)
        ret_page->calibration.is_off = true;
    else
        calibration_for_profile(profile, &ret_page->calibration);
    return 0;
}

static void page_finish(struct page *page) {
    calibration_finish(&page->calibration);
    free(page->ops);
}

static struct sheet sheet_of_options(const struct input *input, const struct show_options *options) {
    const struct screen screen = screen_of(options->stream);
    return sheet_of(&screen, input->profile.clock.frequency_hz);
}

/* groupings: of which there are tables behind it, as bits. A brief page has a screen, and the charts beyond that */
static int show(const struct input *input, unsigned groupings, const struct show_options *options) {
    CLEANUP_SHEET struct sheet sheet = sheet_of_options(input, options);
    struct page page;
    const int error = page_init(input, options, &sheet, &page);
    if (error)
        return error;
    if (options->lines_max > 0) {
        put_answer(&page);
        put_warnings(&page);
        sheet_fit(&sheet, options->lines_max);
        if (options->charts && page.op_count > 0)
            put_charts(&page);
    } else {
        put_page(&page);
    }
    put_groups(&page, groupings);
    sheet_print(&sheet);
    page_finish(&page);
    return 0;
}

int show_page(const struct input *input, const struct show_options *options) {
    return show(input, 0, options);
}

int show_all(const struct input *input, const struct show_options *options) {
    struct show_options all = *options;
    all.joint = input->profile.joint_count > 0;
    return show(input, input->profile.groupings, &all);
}

void show_groups(const struct input *input, unsigned groupings, const struct show_options *options) {
    CLEANUP_SHEET struct sheet sheet = sheet_of_options(input, options);
    const struct page page = {&sheet, input, &input->profile, options, figures_sum(&input->profile)};
    put_present_problem(&page);
    put_what_was_profiled(&page);
    put_warnings(&page);
    put_groups(&page, groupings);
    sheet_print(&sheet);
}

/* ---- Its parts ---------------------------------------------------------------------------------- */

struct show_parts {
    struct page page;
    struct sheet sheet;
};

int show_parts_init(const struct input *input, const struct show_options *options, const struct screen *screen,
                    struct show_parts **ret_parts) {
    struct show_parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        return -ENOMEM;
    parts->sheet = sheet_of(screen, input->profile.clock.frequency_hz);
    int error = page_init(input, options, &parts->sheet, &parts->page);
    if (error)
        free(parts);
    else
        *ret_parts = parts;
    return error;
}

void show_part(struct show_parts *parts, enum show_part part) {
    const struct page *page = &parts->page;
    unsigned groupings = 0;
    switch (part) {
    case SHOW_ANSWER:
        put_present_problem(page);
        put_answer(page);
        put_warnings(page);
        break;
    case SHOW_HEADING:
        put_what_was_profiled(page);
        break;
    case SHOW_IN_FLIGHT:
        put_calls_in_flight(page);
        break;
    case SHOW_TABLE:
        if (page->op_count > 0)
            put_table(page);
        break;
    case SHOW_JOINTS:
        put_joints(page);
        break;
    case SHOW_GROUPS:
        for (size_t i = 0; i < page->profile->group_count; i++)
            groupings |= 1U << page->profile->groups[i].grouping;
        put_groups(page, page->profile->groupings & groupings);
        break;
    }
    sheet_print(&parts->sheet);
}

void show_part_op(struct show_parts *parts, const struct aggstats_op_profile *op) {
    put_places(&parts->page, op);
    put_peak_labels(&parts->page, op);
    sheet_print(&parts->sheet);
}

void show_parts_finish(struct show_parts *parts) {
    page_finish(&parts->page);
    sheet_finish(&parts->sheet);
    free(parts);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

int advice_json_write(const struct aggstats_profile *profile, FILE *stream) {
    struct answer_model model;
    struct view_advice views[ADVICE_MAX];
    const double hz = (double)profile->clock.frequency_hz;
    answer_model_make(profile, NULL, 0, &model);
    for (size_t i = 0; i < model.advice_count; i++) {
        const struct advice *advice = &model.advice[i];
        views[i] = (struct view_advice){
            .rule = advice_rule_name(advice->rule),
            .op = advice->op ? advice->op->name : NULL,
            .program = advice->program ? advice->program->name : NULL,
            .place = advice->place ? advice->place->name : NULL,
            .calls = advice->calls > UINT64_MAX ? UINT64_MAX : (uint64_t)advice->calls,
            .of_calls = advice->of_calls > UINT64_MAX ? UINT64_MAX : (uint64_t)advice->of_calls,
            .busy_seconds = hz > 0 ? advice->busy_cycles / hz : 0,
            .bound = advice->bound,
            .between = advice->between,
        };
    }
    return view_write_advised_json(profile, views, model.advice_count, stream);
}

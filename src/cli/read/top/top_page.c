/* The pages of a mount: the heading, and the views. */
#include "top_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer_page.h"
#include "base.h"
#include "groups.h"
#include "groups_table.h"
#include "layers.h"
#include "show.h"
#include "why_page.h"

/* ---- Heading ------------------------------------------------------------------------------------ */

void top_page_format_time(int64_t unix_ns, bool has_day, char ret_text[TOP_TIME_SIZE]) {
    const time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm tm;
    ret_text[0] = '\0';
    if (localtime_r(&seconds, &tm) && has_day)
        strftime(ret_text, TOP_TIME_SIZE, "%Y-%m-%d %H:%M:%S %Z", &tm);
    else if (localtime_r(&seconds, &tm))
        strftime(ret_text, TOP_TIME_SIZE, "%H:%M:%S", &tm);
}

/* The time that a difference covers: "the last 2.00 s", or "7.00 s since 01:46:40". */
static void add_span(struct str *text, const struct sheet *sheet, const struct aggstats_profile *difference,
                     bool is_interval) {
    const struct units_text elapsed = units_cycles(&sheet->units, (double)difference->elapsed_cycles);
    char start[TOP_TIME_SIZE] = "";
    if (difference->has_start)
        top_page_format_time(difference->start_ns, false, start);
    str_addf(text, "%s%s", is_interval ? "the last " : "", difference->has_elapsed ? elapsed.text : "time not known");
    if (!is_interval)
        str_addf(text, " since %s", start[0] ? start : "the beginning");
}

/* The mount, or the live file. */
static const char *name_of(const struct top_watch *watch) {
    const char *mount = aggstats_profile_label(&watch->latest.profile, "mount");
    return mount && mount[0] ? mount : watch->source.path;
}

#define put_warning(sheet, ...) sheet_put(sheet, FORM_LINE, INK_WARNING, 0, __VA_ARGS__)

/* Beside the calls in flight, which a stopped daemon cannot know. */
static void put_daemon(struct sheet *sheet, const struct top_watch *watch) {
    char text[DAEMON_TEXT_SIZE];
    const uint64_t stopped_ns = watch->frame.profile.stopped_ns;
    const bool is_in_trouble = daemon_state_format(&watch->daemon, text);
    if (is_in_trouble)
        put_warning(sheet, "%s", text);
    if (watch->daemon_is_back)
        put_warning(sheet, "The daemon was stopped or stuck a moment ago, and serves again.");
    if (stopped_ns > 0)
        put_warning(sheet, "The daemon did not run for %s (stopped, frozen or without a CPU).",
                    units_seconds(&sheet->units, (double)stopped_ns / 1e9).text);
    if ((is_in_trouble && watch->daemon.trouble != DAEMON_UNSEEN) || watch->daemon_is_back || stopped_ns > 0)
        put_warning(sheet, "%s", DAEMON_NOT_COUNTED);
}

void top_page_put_notices(struct sheet *sheet, const struct top_watch *watch) {
    if (watch->began_anew)
        put_warning(sheet, "The profile has begun anew (a reset, or another mount): what follows is since then.");
    if (watch->latest.profile.incomplete)
        put_warning(sheet, SHOW_INCOMPLETE);
    if (watch->has_ended)
        put_warning(sheet, "The profile has ended.");
    else if (!watch->is_fresh)
        put_warning(sheet, "No snapshot at this moment: the profile is being reset again and again.");
    else if (watch->is_paused)
        put_warning(sheet, "Counting is paused: calls are not measured.");
}

void top_page_put_heading(struct sheet *sheet, const struct top_watch *watch) {
    const struct top_frame *frame = &watch->frame;
    char time[TOP_TIME_SIZE];
    CLEANUP_STR struct str span = {0};
    sheet->units.frequency_hz = watch->latest.profile.clock.frequency_hz;
    top_page_format_time(watch->latest.taken_ns, true, time);
    add_span(&span, sheet, &frame->profile, !watch->since_beginning && !watch->summing);
    sheet_put(sheet, FORM_LINE, INK_FAINT, 0, "%s", time);
    sheet_span(sheet, INK_PLAIN, "  %s  ", str_text(&span));
    sheet_span(sheet, INK_STRONG, "%s", name_of(watch));
    sheet_line(sheet, 0, "%s call%s ended, %s in all; ", units_count(frame->ended).text, units_plural(frame->ended),
               units_cycles(&sheet->units, frame->total_cycles).text);
    if (frame->call_count == 0)
        sheet_span(sheet, INK_PLAIN, "none in flight");
    else
        sheet_span(sheet, INK_STRONG, "%s in flight, the oldest %s for %s", units_count(frame->call_count).text,
                   frame->calls[0]->op, units_cycles(&sheet->units, (double)frame->calls[0]->latency_cycles).text);
    put_daemon(sheet, watch);
    top_page_put_notices(sheet, watch);
}

/* ---- Summary ------------------------------------------------------------------------------------ */

/* The mount's answer has more than the live file: groups, and the paths of calls in flight. */
static void put_summary(struct sheet *sheet, const struct top_watch *watch) {
    const struct top_callers *callers = &watch->callers;
    const bool has_answer =
        callers->frame.profile.resolution > 0 && callers->error == 0 && !callers->is_late && !watch->has_ended;
    const struct answer_source source = {.profile = name_of(watch)};
    const struct answer_page page = {.profile = has_answer ? &callers->frame.profile : &watch->frame.profile,
                                     .calibration = &watch->calibration,
                                     .source = &source};
    sheet->units.frequency_hz = page.profile->clock.frequency_hz;
    answer_page_put(sheet, &page);
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

/* Returns how many there are. slow_only: those with a known cause */
static size_t put_some_calls(struct sheet *sheet, const struct top_watch *watch, bool slow_only) {
    const struct top_frame *frame = &watch->frame;
    CLEANUP_FREE const struct aggstats_call **calls =
        calloc(frame->call_count + 1, sizeof(*calls)); /* NOLINT(bugprone-sizeof-expression): of pointers */
    size_t count = 0;
    for (size_t i = 0; i < frame->call_count && calls; i++)
        if (!slow_only || frame->calls[i]->cause.words[0])
            calls[count++] = frame->calls[i];
    if (count > 0)
        show_calls_in_flight(sheet, calls, count);
    return count;
}

static void put_calls(struct sheet *sheet, const struct top_watch *watch) {
    if (put_some_calls(sheet, watch, false) == 0)
        sheet_legend(sheet, "No call is in flight.");
}

/* ---- Causes ------------------------------------------------------------------------------------- */

static void put_causes(struct sheet *sheet, const struct top_watch *watch) {
    static const struct option_list all_ops = {0};
    const struct aggstats_profile *latest = &watch->latest.profile;
    const struct aggstats_profile *difference = &watch->frame.profile;
    double total_cycles = 0;
    for (size_t i = 0; i < difference->cause_count; i++)
        total_cycles += (double)difference->causes[i].total_cycles;
    if (latest->slow_cycles == 0)
        put_warning(sheet, "Nobody looks for slow calls; %s does.",
                    strcmp(layers_name(latest), "syscall") == 0 ? "osprof attach --slow 10ms"
                                                                : "osproffs -o slow=10ms");
    if (latest->slow_cycles == 0 && latest->cause_count == 0)
        return;
    if (total_cycles > 0)
        why_page_put_causes(sheet, difference, &all_ops, total_cycles, false);
    else
        sheet_legend(sheet, "No slow call has ended.");
    sheet_gap(sheet);
    if (put_some_calls(sheet, watch, true) == 0)
        sheet_legend(sheet, "No slow call is in flight.");
}

/* ---- Figures of operations and callers ----------------------------------------------------------- */

static void add_figures(struct sheet *sheet, const struct top_figures *figures) {
    sheet_add_share(sheet, figures->share);
    sheet_add_count(sheet, figures->ended);
    sheet_add_cycles(sheet, figures->ended > 0 ? figures->mean_cycles : NAN);
}

/* ---- Operations --------------------------------------------------------------------------------- */

enum op_column { OP_NAME, OP_SHARE, OP_CALLS, OP_MEAN, OP_P999, OP_LONGEST, OP_MOVED, OP_FAILED, OP_CHART };

#define FIGURES_COLUMNS (8 + 11 + 9 + 9 + 10)
#define RATES_COLUMNS (12 + 10)
#define CHART_GAP 2
#define CHART_COLUMNS_MIN 8
#define RATES_CHART_COLUMNS_MIN 24 /* the widths of rates leave room for a useful chart */

/* A number of a frame per second; 0: the time is unknown. */
static double per_second(const struct top_frame *frame, wide_count number) {
    const struct aggstats_profile *profile = &frame->profile;
    if (!profile->has_elapsed || profile->elapsed_cycles == 0)
        return 0;
    return (double)number * (double)profile->clock.frequency_hz / (double)profile->elapsed_cycles;
}

/* Adds "4.10 MiB/s", "12.0/s"; nothing for 0. */
static void add_rates(struct str *moved, struct str *failed, const struct top_frame *frame, wide_count moved_bytes,
                      wide_count failed_calls) {
    if (moved_bytes > 0)
        str_addf(moved, "%s/s", units_bytes(per_second(frame, moved_bytes)).text);
    if (failed_calls > 0)
        str_addf(failed, "%s/s", units_number(per_second(frame, failed_calls)).text);
}

/* If only the bucket of the longest call is known, its upper bound is shown. */
static void add_op(struct sheet *sheet, const struct top_frame *frame, const struct top_op *op,
                   const struct chart_axis *axis) {
    const struct top_figures *figures = &op->figures;
    char chart[CHART_LINE_SIZE] = "";
    CLEANUP_STR struct str moved = {0};
    CLEANUP_STR struct str failed = {0};
    sheet_add(sheet, op->profile->name);
    add_figures(sheet, figures);
    sheet_add_cycles(sheet, figures->ended > 0 ? figures->p999_cycles : NAN);
    if (figures->ended > 0 && figures->longest_cycles == 0)
        sheet_addf(
            sheet, "%s%s", sheet->units.ascii ? "<=" : "≤",
            units_cycles(&sheet->units, aggstats_bucket_upper(figures->max_bucket, frame->profile.resolution)).text);
    else
        sheet_add_cycles(sheet, figures->ended > 0 ? (double)figures->longest_cycles : NAN);
    add_rates(&moved, &failed, frame, op->profile->moved_bytes, aggstats_failed_calls(op->profile));
    sheet_add(sheet, str_text(&moved));
    sheet_add(sheet, str_text(&failed));
    if (axis->column_count > 0)
        chart_format_line(axis, op->profile, sheet->units.ascii, chart);
    sheet_add(sheet, chart);
    sheet_ink(sheet, INK_BAR);
}

/* Of all operations that were ever called. */
static struct chart_axis axis_of(const struct top_frame *frame, int columns) {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX];
    memcpy(buckets, frame->seen_buckets, sizeof(buckets));
    const struct aggstats_op_profile seen = {.buckets = buckets};
    const struct aggstats_op_profile *const ops[] = {&seen};
    return chart_line_axis(ops, 1, frame->profile.resolution, (unsigned)columns);
}

/* The width of the names of all operations ever called, and of their title: so it seldom changes. */
static int name_columns(const struct aggstats_profile *latest) {
    int width = (int)strlen("operation");
    for (size_t i = 0; i < latest->op_count; i++) {
        const int length = (int)strlen(latest->ops[i].name);
        width = length > width ? length : width;
    }
    return width;
}

static void put_table(struct sheet *sheet, const struct top_watch *watch, bool has_rates) {
    static const unsigned orders[TOP_ORDER_COUNT] = {
        [TOP_BY_SHARE] = 1U << OP_SHARE, [TOP_BY_CALLS] = 1U << OP_CALLS, [TOP_BY_MEAN] = 1U << OP_MEAN,
        [TOP_BY_MAX] = 1U << OP_LONGEST, [TOP_BY_NAME] = 1U << OP_NAME,
    };
    const struct top_frame *frame = &watch->frame;
    const int names = name_columns(&watch->latest.profile);
    int left = sheet->screen.width - names - FIGURES_COLUMNS - CHART_GAP;
    struct chart_axis axis = {.column_count = 0};
    char ticks[CHART_LINE_SIZE] = "";
    has_rates = has_rates && left >= RATES_COLUMNS + RATES_CHART_COLUMNS_MIN;
    left -= has_rates ? RATES_COLUMNS : 0;
    if (left >= CHART_COLUMNS_MIN)
        axis = axis_of(frame, left);
    if (axis.column_count > 0)
        chart_format_ticks(&axis, &sheet->units, ticks);
    const struct sheet_column columns[] = {
        [OP_NAME] = {"operation", SHEET_NAME, 0, names},
        [OP_SHARE] = {"share", SHEET_NUMBER, 1, 8},
        [OP_CALLS] = {"calls", SHEET_NUMBER, 2, 11},
        [OP_MEAN] = {"mean", SHEET_NUMBER, 3, 9},
        [OP_P999] = {"p99.9", SHEET_NUMBER, 4, 9},
        [OP_LONGEST] = {"max", SHEET_NUMBER, 5, 10},
        [OP_MOVED] = {"moved", SHEET_NUMBER, 6, 12},
        [OP_FAILED] = {"failed", SHEET_NUMBER, 7, 10},
        [OP_CHART] = {ticks, SHEET_LINE, 8, CHART_GAP + CHART_COLUMNS_MIN},
    };
    struct sheet_table *table = SHEET_TABLE(sheet, columns);
    table->gap = 1;
    table->ordered = orders[watch->order];
    table->hidden = (has_rates ? 0 : 1U << OP_MOVED | 1U << OP_FAILED) | (axis.column_count > 0 ? 0 : 1U << OP_CHART);
    for (size_t i = 0; i < frame->op_count; i++)
        add_op(sheet, frame, &frame->ops[i], &axis);
}

/* The calls in flight are below, as on LatencyTOP's screen. */
static void put_operations(struct sheet *sheet, const struct top_watch *watch) {
    const struct top_frame *frame = &watch->frame;
    const bool has_rates = (frame->moved_bytes > 0 || frame->failed > 0) && per_second(frame, 1) > 0;
    CLEANUP_STR struct str moved = {0};
    CLEANUP_STR struct str failed = {0};
    sheet->units.frequency_hz = watch->latest.profile.clock.frequency_hz;
    if (frame->op_count == 0)
        sheet_legend(sheet, "No operation was called.");
    else
        put_table(sheet, watch, has_rates);
    add_rates(&moved, &failed, frame, frame->moved_bytes, frame->failed);
    if (frame->op_count > 0 && has_rates)
        sheet_line(sheet, 0, "All: %s%s%s%s%s", str_text(&moved), moved.length > 0 ? " moved" : "",
                   moved.length > 0 && failed.length > 0 ? ", " : "", str_text(&failed),
                   failed.length > 0 ? " failed" : "");
    sheet_gap(sheet);
    put_some_calls(sheet, watch, false);
}

/* ---- Callers ------------------------------------------------------------------------------------ */

static const char *name_of_kind(const struct top_callers *callers) {
    return aggstats_grouping_name(callers->by != AGGSTATS_UNGROUPED ? callers->by : AGGSTATS_BY_PROCESS);
}

/* Groups that are on must be switched off first. A mount point in which a shell would take some character for another is
 * what stands for it in the manual. */
void top_page_format_commands(const struct top_watch *watch, char ret_text[TOP_COMMANDS_SIZE]) {
    const char *mount = aggstats_profile_label(&watch->latest.profile, "mount");
    const char *kind = name_of_kind(&watch->callers);
    CLEANUP_FREE char *quoted = mount && mount[0] == '/' ? answer_next_quote(mount) : NULL;
    if (!quoted || strcmp(quoted, mount) != 0)
        mount = "MOUNT";
    if (watch->callers.error == -EBUSY)
        snprintf(ret_text, TOP_COMMANDS_SIZE, "osprof ctl %.160s groups off && osprof ctl %.160s groups %s", mount,
                 mount, kind);
    else
        snprintf(ret_text, TOP_COMMANDS_SIZE, "osprof ctl %.160s groups %s", mount, kind);
}

void top_page_put_notices_of_callers(struct sheet *sheet, const struct top_watch *watch) {
    const struct top_callers *callers = &watch->callers;
    const char *path = callers->path ? callers->path : "the control file";
    char commands[TOP_COMMANDS_SIZE];
    if (watch->has_ended) {
        put_warning(sheet, "Whose the last calls were is told by the mount's final profile only.");
    } else if (callers->is_late) {
        put_warning(sheet, "The mount does not answer: %s cannot be read.", path);
    } else if (callers->error == -ENODATA || callers->error == -EBUSY) {
        top_page_format_commands(watch, commands);
        put_warning(sheet, "No calls by %s are recorded. This records them from now on:", name_of_kind(callers));
        sheet_line(sheet, 2, "%s", commands);
    } else if (callers->error == -ENOTCONN) {
        put_warning(sheet, "Only a mount's control file tells the callers; there is no %s.",
                    callers->path ? callers->path : "such file");
    } else if (callers->error == -ESTALE) {
        put_warning(sheet, "%s is of another profile, or has just been reset.", path);
    } else if (callers->error) {
        put_warning(sheet, "Cannot read %s: %s.", path, top_source_reason(callers->error));
    }
}

enum caller_column {
    CALLER_NAME,
    CALLER_ID,
    CALLER_SHARE,
    CALLER_CALLS,
    CALLER_MEAN,
    CALLER_MAX,
    CALLER_OPS,
};

static void put_table_of_callers(struct sheet *sheet, const struct top_watch *watch, enum aggstats_grouping grouping) {
    static const unsigned orders[TOP_ORDER_COUNT] = {
        [TOP_BY_SHARE] = 1U << CALLER_SHARE, [TOP_BY_CALLS] = 1U << CALLER_CALLS, [TOP_BY_MEAN] = 1U << CALLER_MEAN,
        [TOP_BY_MAX] = 1U << CALLER_MAX,     [TOP_BY_NAME] = 1U << CALLER_NAME,
    };
    const struct top_callers_frame *frame = &watch->callers.frame;
    const bool has_ids = aggstats_grouping_has_ids(grouping);
    const int width = GROUPS_NAME_COLUMNS + (has_ids ? 0 : GROUPS_ID_COLUMNS);
    const struct sheet_column columns[] = {
        [CALLER_NAME] = {groups_name_title(grouping), aggstats_grouping_has_paths(grouping) ? SHEET_PATH : SHEET_NAME,
                         0, width, width},
        [CALLER_ID] = {groups_id_title(grouping), SHEET_NUMBER, 1, GROUPS_ID_COLUMNS},
        [CALLER_SHARE] = {"share", SHEET_NUMBER, 2, 8},
        [CALLER_CALLS] = {"calls", SHEET_NUMBER, 3, 11},
        [CALLER_MEAN] = {"mean", SHEET_NUMBER, 4, 9},
        [CALLER_MAX] = {sheet->units.ascii ? "max <=" : "max ≤", SHEET_NUMBER, 5, 9},
        [CALLER_OPS] = {"top operations", SHEET_LIST, 6, 2 + GROUPS_MAIN_OPS_COLUMNS},
    };
    struct sheet_table *table = SHEET_TABLE(sheet, columns);
    table->gap = 1;
    table->hidden = has_ids ? 0 : 1U << CALLER_ID;
    table->ordered = orders[watch->order];
    for (size_t i = 0; i < frame->row_count; i++) {
        const struct top_caller *caller = &frame->rows[i]; /* which has made calls that have ended */
        char id[GROUPS_ID_SIZE];
        char ops[GROUPS_MAIN_OPS_SIZE];
        groups_format_id(caller->group, id);
        groups_table_format_main_ops(&caller->group->profile, caller->figures.total_cycles, ops);
        sheet_add(sheet, groups_name(caller->group));
        sheet_add(sheet, id);
        add_figures(sheet, &caller->figures);
        sheet_add_cycles(sheet, aggstats_bucket_upper(caller->figures.max_bucket, frame->profile.resolution));
        sheet_add(sheet, ops);
    }
}

/* The last table stays, whatever happens. The mount answers when it can, so its time may differ from that in the heading.
 * Until there are calls, the groupings are unknown. */
static void put_callers(struct sheet *sheet, const struct top_watch *watch) {
    const struct top_callers *callers = &watch->callers;
    const enum aggstats_grouping grouping = callers->grouping != AGGSTATS_UNGROUPED ? callers->grouping
                                            : callers->by != AGGSTATS_UNGROUPED     ? callers->by
                                                                                    : AGGSTATS_BY_PROCESS;
    CLEANUP_STR struct str span = {0};
    top_page_put_notices_of_callers(sheet, watch);
    if (callers->latest.resolution == 0) {
        if (!watch->has_ended && !callers->error && !callers->is_late)
            sheet_legend(sheet, "The mount is being asked.");
        return;
    }
    sheet->units.frequency_hz = callers->latest.clock.frequency_hz;
    add_span(&span, sheet, &callers->frame.profile, !callers->since_beginning && !watch->summing);
    sheet_line(sheet, 0, "Calls by %s, %s:", aggstats_grouping_name(grouping), str_text(&span));
    if (callers->frame.row_count == 0) {
        sheet_legend(sheet, "Nobody has called.");
        return;
    }
    groups_table_put_other(sheet, &callers->frame.profile, grouping);
    put_table_of_callers(sheet, watch, grouping);
}

const struct top_view top_views[TOP_VIEWS] = {
    [TOP_SUMMARY] = {'1', "summary", put_summary, TOP_CALLERS_IF_ANY, .has_orders = false},
    [TOP_OPERATIONS] = {'2', "operations", put_operations, TOP_CALLERS_UNWANTED, .has_orders = true},
    [TOP_CALLS_IN_FLIGHT] = {'3', "calls in flight", put_calls, TOP_CALLERS_UNWANTED, .has_orders = false},
    [TOP_CALLERS] = {'4', "callers", put_callers, TOP_CALLERS_WANTED, .has_orders = true},
    [TOP_CAUSES] = {'5', "causes", put_causes, TOP_CALLERS_UNWANTED, .has_orders = false},
};

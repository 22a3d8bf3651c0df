/* Causes, calls in flight, and slow calls: a table each. */
#include "why_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "aggstats/why.h"
#include "answer_page.h"
#include "base.h"
#include "callers_text.h"
#include "disk_others.h"
#include "holders_text.h"
#include "sheet.h"
#include "units.h"

#define CALLS_SHOWN_MAX 12

struct why_page {
    const struct aggstats_profile *profile;
    const struct why_page_options *options;
    const struct screen *screen;
    struct units units;
};

bool why_page_has_any(const struct aggstats_profile *profile) {
    return profile->slow_cycles > 0 || profile->cause_count > 0 || profile->slow_call_count > 0;
}

static bool wants(const struct why_page *page, const char *op) {
    return option_list_wants(&page->options->ops, op);
}

/* ---- Causes ------------------------------------------------------------------------------------- */

struct sums {
    wide_count calls;
    double total_cycles;
};

static struct sums sum_causes(const struct why_page *page) {
    struct sums sums = {.calls = 0};
    for (size_t i = 0; i < page->profile->cause_count; i++) {
        if (!wants(page, page->profile->causes[i].op))
            continue;
        sums.calls += page->profile->causes[i].calls;
        sums.total_cycles += (double)page->profile->causes[i].total_cycles;
    }
    return sums;
}

static double latency_of_all(const struct why_page *page) {
    double cycles = 0;
    for (size_t i = 0; i < page->profile->op_count; i++)
        if (wants(page, page->profile->ops[i].name))
            cycles += (double)page->profile->ops[i].total_cycles;
    return cycles;
}

/* "12 calls took 10.0 ms or longer, 1.23 s in all, which is 94.2 % of the latency" */
static void print_sum(const struct why_page *page, const struct sums *sums) {
    char text[256];
    const double all = latency_of_all(page);
    const struct units_text calls = units_count(sums->calls);
    /* Just after a rotation causes may have a call that the operations had before it. */
    const double share = sums->total_cycles < all ? sums->total_cycles / all : all > 0;
    int length =
        page->profile->slow_cycles > 0 && sums->calls == 0
            ? snprintf(text, sizeof(text), "No call that has ended took %s or longer",
                       units_cycles(&page->units, (double)page->profile->slow_cycles).text)
        : page->profile->slow_cycles > 0
            ? snprintf(text, sizeof(text), "%s call%s took %s or longer", calls.text, units_plural(sums->calls),
                       units_cycles(&page->units, (double)page->profile->slow_cycles).text)
            : snprintf(text, sizeof(text), "%s slow call%s, until looking for them was switched off", calls.text,
                       units_plural(sums->calls));
    if (sums->calls > 0)
        snprintf(text + length, sizeof(text) - (size_t)length, ", %s in all, which is %s of the latency",
                 units_cycles(&page->units, sums->total_cycles).text, units_share(share).text);
    screen_print_wrapped(page->screen, 0, 0, text);
}

/* A cause may have time of calls that waited longer for something else. */
static void explain_no_calls(const struct why_page *page) {
    bool is_any = false;
    for (size_t i = 0; i < page->profile->cause_count; i++)
        is_any |= wants(page, page->profile->causes[i].op) && page->profile->causes[i].calls == 0;
    if (is_any)
        screen_print_in_ink(page->screen, INK_FAINT, "A call counts for the cause that took most of its time.");
}

static const struct sheet_column cause_columns[] = {
    {"share", SHEET_NUMBER, 0},   {"total", SHEET_NUMBER, 2},   {"calls", SHEET_NUMBER, 3},
    {"longest", SHEET_NUMBER, 4}, {"operation", SHEET_NAME, 5}, {"cause", SHEET_TEXT, 1},
};

static void print_causes(const struct why_page *page, const struct sums *sums) {
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(cause_columns, &page->units);
    char text[AGGSTATS_WHY_TEXT_SIZE];
    if (sums->total_cycles <= 0)
        return;
    for (size_t i = 0; i < page->profile->cause_count; i++) {
        const struct aggstats_cause *cause = &page->profile->causes[i];
        if (!wants(page, cause->op))
            continue;
        sheet_add_share(&table, (double)cause->total_cycles / sums->total_cycles);
        sheet_add_cycles(&table, (double)cause->total_cycles);
        sheet_add(&table, cause->calls > 0 ? units_count(cause->calls).text : "-");
        sheet_add_cycles(&table, cause->longest_cycles > 0 ? (double)cause->longest_cycles : NAN); /* none has ended */
        sheet_add(&table, cause->op);
        sheet_add(&table, aggstats_why_text(&cause->why, text));
    }
    screen_print_gap(page->screen);
    sheet_print(&table, page->screen);
    explain_no_calls(page);
}

/* ---- Functions ---------------------------------------------------------------------------------- */

/* Whether an operation has a cause before this one: its sentence stands once, in the order of causes. */
static bool has_cause_before(const struct why_page *page, size_t cause) {
    for (size_t i = 0; i < cause; i++)
        if (strcmp(page->profile->causes[i].op, page->profile->causes[cause].op) == 0)
            return true;
    return false;
}

/* "4,120 of 4,203 FSYNCs from commit_row of db" */
static void print_callers(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    char text[CALLERS_TEXT_SIZE];
    unsigned count = 0;
    for (size_t i = 0; i < profile->cause_count; i++) {
        const char *op = profile->causes[i].op;
        if (!wants(page, op) || has_cause_before(page, i) || !callers_text_format(profile, op, page->screen, text))
            continue;
        if (count++ == 0)
            putc('\n', page->screen->stream);
        screen_print_wrapped(page->screen, 0, 0, text);
    }
}

/* ---- Calls -------------------------------------------------------------------------------------- */

static void add_place(const struct why_page *page, struct sheet_table *table, const char *path,
                      const struct aggstats_chain *chain, const char *stack, const char *user_stack) {
    char holder[HOLDERS_SHORT_SIZE];
    if (path)
        sheet_add_more(table, INK_STRONG, path);
    if (chain)
        sheet_add_more(table, INK_PLAIN, holders_format_thing(chain, holder, sizeof(holder)));
    if (page->options->stacks)
        sheet_add_more(table, INK_FAINT, stack ? stack : "(not seen where in the kernel)");
    if (page->options->stacks && user_stack)
        sheet_add_more(table, INK_FAINT, user_stack);
}

static const struct sheet_column in_flight_columns[] = {
    {"age", SHEET_NUMBER, 0},
    {"pid", SHEET_NUMBER, 2},
    {"operation", SHEET_NAME, 3},
    {"cause", SHEET_TEXT, 1},
};

static void print_in_flight(const struct why_page *page) {
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(in_flight_columns, &page->units);
    char text[AGGSTATS_WHY_TEXT_SIZE];
    for (size_t i = 0; i < page->profile->in_flight_count; i++) {
        const struct aggstats_call *call = &page->profile->in_flight[i];
        if (!call->cause.words[0] || !wants(page, call->op))
            continue;
        sheet_add_cycles(&table, (double)call->latency_cycles);
        sheet_ink(&table, INK_WARNING);
        sheet_addf(&table, "%" PRIu64, call->pid);
        sheet_add(&table, call->op);
        sheet_add(&table, aggstats_why_text(&call->cause, text));
        add_place(page, &table, call->path, call->chain, call->stack, NULL);
    }
    if (table.cell_count == 0)
        return;
    screen_print_title(page->screen, "In flight");
    sheet_print(&table, page->screen);
}

static void format_time(int64_t ns, char ret_text[UNITS_TEXT_SIZE]) {
    time_t seconds = (time_t)(ns / NS_PER_S);
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    snprintf(ret_text, UNITS_TEXT_SIZE, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(ns % NS_PER_S / 1000000));
}

static void add_slow_call(const struct why_page *page, struct sheet_table *table, const struct aggstats_call *call) {
    const char *error = call->error > 0 && call->error < 4096 ? strerrorname_np((int)call->error) : NULL;
    char cause[AGGSTATS_WHY_TEXT_SIZE];
    char end[UNITS_TEXT_SIZE];
    format_time(call->end_ns, end);
    sheet_add(table, end);
    sheet_add_cycles(table, (double)call->latency_cycles);
    sheet_addf(table, "%" PRIu64, call->pid);
    sheet_add(table, call->op);
    sheet_addf(table, "%s%s%s", error ? error : "", error ? ", " : "",
               call->cause.words[0] ? aggstats_why_text(&call->cause, cause) : "(not known)");
    add_place(page, table, call->path, call->chain, call->stack, call->user_stack);
}

/* "The last 12 of 14, in UTC (osprof why --json has 14):" */
static void print_slow_calls_heading(const struct why_page *page, size_t shown, wide_count all) {
    size_t kept = 0;
    char of[2 * UNITS_TEXT_SIZE] = "ones";
    char more[96] = "";
    char text[256];
    for (size_t i = 0; i < page->profile->slow_call_count; i++)
        kept += wants(page, page->profile->slow_calls[i].op);
    if (all > shown)
        snprintf(of, sizeof(of), "%zu of %s", shown, units_count(all).text);
    if (kept > shown)
        snprintf(more, sizeof(more), " (osprof why --json has %zu)", kept);
    else if (all > shown)
        snprintf(more, sizeof(more), " (those before are counted above only)");
    snprintf(text, sizeof(text), "The last %s, in UTC%s:", of, more);
    putc('\n', page->screen->stream);
    screen_print_wrapped(page->screen, 0, 0, text);
}

static const struct sheet_column slow_call_columns[] = {
    {"end", SHEET_NUMBER, 0},     {"latency", SHEET_NUMBER, 2}, {"pid", SHEET_NUMBER, 3},
    {"operation", SHEET_NAME, 4}, {"cause", SHEET_TEXT, 1},
};

/* The latest first. */
static void print_slow_calls(const struct why_page *page, const struct sums *sums) {
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(slow_call_columns, &page->units);
    size_t count = 0;
    bool has_holder = false;
    for (size_t i = page->profile->slow_call_count; i-- > 0 && count < CALLS_SHOWN_MAX;) {
        const struct aggstats_call *call = &page->profile->slow_calls[i];
        if (!wants(page, call->op))
            continue;
        count++;
        has_holder = has_holder || call->chain;
        add_slow_call(page, &table, call);
    }
    if (count == 0)
        return;
    print_slow_calls_heading(page, count, sums->calls);
    sheet_print(&table, page->screen);
    if (has_holder)
        screen_print_in_ink(page->screen, INK_FAINT, "Who held what is as it was seen while a call waited.");
}

/* ---- Locks ---- */

/* They are in no call that the mount sees. */
static void print_locks(const struct why_page *page) {
    struct answer_model model;
    answer_model_make(page->profile, NULL, 0, &model);
    if (model.fuse.has_hidden_locks && wants(page, "LOCK"))
        answer_page_print_hidden_locks(model.fuse.hidden_lock_cycles, &page->units, page->screen);
}

/* ---- Observability ---- */

struct stacks_seen {
    size_t count;
    bool is_any_whole; /* has more than the innermost function */
};

static void see_stack(const struct why_page *page, const char *op, const char *stack, struct stacks_seen *seen) {
    if (!stack || !wants(page, op))
        return;
    seen->count++;
    seen->is_any_whole = seen->is_any_whole || strstr(stack, " < ");
}

/* The kernel shows stacks to root only. */
static void print_what_was_seen(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    struct stacks_seen seen = {0};
    for (size_t i = 0; i < profile->slow_call_count; i++)
        see_stack(page, profile->slow_calls[i].op, profile->slow_calls[i].stack, &seen);
    for (size_t i = 0; i < profile->in_flight_count; i++)
        see_stack(page, profile->in_flight[i].op, profile->in_flight[i].stack, &seen);
    if (seen.count == 0 || seen.is_any_whole)
        return;
    putc('\n', page->screen->stream);
    screen_print_wrapped(
        page->screen, 0, 0,
        "Of each wait only the innermost function was seen: the kernel shows all of them to root only, "
        "for whom more causes have names.");
}

/* Whether stacks that are printed leave functions of programs out. */
static bool is_any_cut(const struct why_page *page) {
    static const char more[] = "...";
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < profile->slow_call_count && page->options->stacks; i++) {
        const char *stack = profile->slow_calls[i].user_stack;
        const size_t length = stack && wants(page, profile->slow_calls[i].op) ? strlen(stack) : 0;
        if (length >= strlen(more) && strcmp(stack + length - strlen(more), more) == 0)
            return true;
    }
    return false;
}

static void explain_cut(const struct why_page *page) {
    if (!is_any_cut(page))
        return;
    putc('\n', page->screen->stream);
    screen_print_wrapped(page->screen, 0, 0,
                         "Stacks that end in ... could not be followed further: the program has neither unwind tables "
                         "nor frame pointers there, or its stack is too deep.");
}

/* ---- Others at the disk ---- */

static bool is_any_of_disk(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < profile->cause_count; i++)
        if (wants(page, profile->causes[i].op) && aggstats_cause_class_is_of_disk(profile->causes[i].why.kind))
            return true;
    return false;
}

static void print_others(const struct why_page *page) {
    CLEANUP_STR struct str text = {0};
    str_add(&text, "Waits for the disk may be because of others. ");
    if (!is_any_of_disk(page) || !disk_others_add(&text, page->profile, page->screen))
        return;
    putc('\n', page->screen->stream);
    screen_print_sentence(page->screen, 0, str_text(&text));
}

void why_page_print(const struct aggstats_profile *profile, const struct why_page_options *options,
                    const struct screen *screen) {
    const struct why_page page = {
        .profile = profile,
        .options = options,
        .screen = screen,
        .units = {.frequency_hz = profile->clock.frequency_hz, .ascii = screen->ascii},
    };
    const struct sums sums = sum_causes(&page);
    print_sum(&page, &sums);
    print_locks(&page);
    if (options->by) {
        why_by_print(profile, &options->ops, options->by, &page.units, screen);
        return;
    }
    print_causes(&page, &sums);
    print_callers(&page);
    print_others(&page);
    print_in_flight(&page);
    print_slow_calls(&page, &sums);
    print_what_was_seen(&page);
    explain_cut(&page);
}

/* Causes, calls in flight, and slow calls: a table each. Causes are counted by operation only, so only the latest calls can
 * be assigned to callers. */
#include "why_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats/why.h"
#include "answer_page.h"
#include "base.h"
#include "facts_text.h"
#include "holders_text.h"

#define CALLS_SHOWN_MAX 12U
#define NOT_KNOWN "(not known)"

struct why_page {
    struct sheet *sheet;
    const struct aggstats_profile *profile;
    const struct why_page_options *options;
};

bool why_page_has_any(const struct aggstats_profile *profile) {
    return profile->slow_cycles > 0 || profile->cause_count > 0 || profile->slow_call_count > 0;
}

static bool wants(const struct why_page *page, const char *op) {
    return option_list_wants(&page->options->ops, op);
}

static struct units_text cycles_text(const struct why_page *page, double cycles) {
    return units_cycles(&page->sheet->units, cycles);
}

/* ---- Causes ------------------------------------------------------------------------------------- */

struct sums {
    wide_count calls;
    double total_cycles;
};

/* "12 calls took 10.0 ms or longer, 1.23 s in all, which is 94.2 % of the latency" */
static void put_sum(const struct why_page *page, const struct sums *sums) {
    const double slow = (double)page->profile->slow_cycles;
    double all = 0;
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < page->profile->op_count; i++)
        if (wants(page, page->profile->ops[i].name))
            all += (double)page->profile->ops[i].total_cycles;
    if (slow > 0 && sums->calls == 0)
        str_addf(&text, "No call that has ended took %s or longer", cycles_text(page, slow).text);
    else if (slow > 0)
        str_addf(&text, "%s call%s took %s or longer", units_count(sums->calls).text, units_plural(sums->calls),
                 cycles_text(page, slow).text);
    else
        str_addf(&text, "%s slow call%s, until looking for them was switched off", units_count(sums->calls).text,
                 units_plural(sums->calls));
    if (sums->calls > 0) /* just after a rotation causes may have a call that the operations had before it */
        str_addf(&text, ", %s in all, which is %s of the latency", cycles_text(page, sums->total_cycles).text,
                 units_share(sums->total_cycles < all ? sums->total_cycles / all : all > 0).text);
    sheet_text(page->sheet, 0, "%s", str_text(&text));
}

static const struct sheet_column cause_columns[] = {
    {"share", SHEET_NUMBER, 0}, {"total", SHEET_NUMBER, 2},   {"calls", SHEET_NUMBER, 3},
    {"max", SHEET_NUMBER, 4},   {"operation", SHEET_NAME, 5}, {"cause", SHEET_TEXT, 1},
};

void why_page_put_causes(struct sheet *sheet, const struct aggstats_profile *profile, const struct option_list *ops,
                         double total_cycles, bool has_longest) {
    char text[AGGSTATS_WHY_TEXT_SIZE];
    bool is_any_empty = false;
    SHEET_TABLE(sheet, cause_columns)->hidden = has_longest ? 0 : 1U << 3;
    for (size_t i = 0; i < profile->cause_count; i++) {
        const struct aggstats_cause *cause = &profile->causes[i];
        if (!option_list_wants(ops, cause->op))
            continue;
        sheet_add_share(sheet, (double)cause->total_cycles / total_cycles);
        sheet_add_cycles(sheet, (double)cause->total_cycles);
        sheet_add(sheet, cause->calls > 0 ? units_count(cause->calls).text : "-");
        sheet_add_cycles(sheet, cause->longest_cycles > 0 ? (double)cause->longest_cycles : NAN); /* none has ended */
        sheet_add(sheet, cause->op);
        sheet_add(sheet, aggstats_why_text(&cause->why, text));
        is_any_empty |= cause->calls == 0;
    }
    if (is_any_empty) /* it has time of calls that waited longer for something else */
        sheet_legend(sheet, "A call counts for the cause that took most of its time.");
}

/* A sentence for each operation, in the order of causes: "4,120 of 4,203 FSYNCs from commit_row of db" */
static void put_callers(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < profile->cause_count; i++) {
        const char *op = profile->causes[i].op;
        size_t first = 0;
        CLEANUP_STR struct str text = {0};
        while (strcmp(profile->causes[first].op, op) != 0)
            first++;
        if (first < i || !wants(page, op) || !facts_text_add_callers(&text, profile, op))
            continue;
        sheet_text(page->sheet, 0, "%s", str_text(&text));
    }
}

static void put_others(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    bool is_any_of_disk = false;
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < profile->cause_count; i++)
        is_any_of_disk |=
            wants(page, profile->causes[i].op) && aggstats_cause_class_is_of_disk(profile->causes[i].why.kind);
    if (!is_any_of_disk || !facts_text_add_disk_others(&text, profile, &page->sheet->screen))
        return;
    sheet_gap(page->sheet);
    sheet_sentence(page->sheet, 0, "Waits for the disk may be because of others. %s", str_text(&text));
}

/* ---- Calls -------------------------------------------------------------------------------------- */

static void add_place(const struct why_page *page, const char *path, const struct aggstats_chain *chain,
                      const char *stack, const char *user_stack) {
    char holder[HOLDERS_SHORT_SIZE];
    if (path)
        sheet_add_more(page->sheet, INK_STRONG, path);
    if (chain)
        sheet_add_more(page->sheet, INK_PLAIN, holders_format_thing(chain, holder, sizeof(holder)));
    if (page->options->stacks)
        sheet_add_more(page->sheet, INK_FAINT, stack ? stack : "(kernel stack not measured)");
    if (page->options->stacks && user_stack)
        sheet_add_more(page->sheet, INK_FAINT, user_stack);
}

static void put_in_flight(const struct why_page *page) {
    static const struct sheet_column columns[] = {
        {"age", SHEET_NUMBER, 0}, {"pid", SHEET_NUMBER, 2}, {"operation", SHEET_NAME, 3}, {"cause", SHEET_TEXT, 1}};
    struct sheet *sheet = page->sheet;
    char text[AGGSTATS_WHY_TEXT_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < page->profile->in_flight_count; i++) {
        const struct aggstats_call *call = &page->profile->in_flight[i];
        if (!call->cause.words[0] || !wants(page, call->op))
            continue;
        if (count++ == 0) {
            sheet_title(sheet, "In flight");
            SHEET_TABLE(sheet, columns);
        }
        sheet_add_cycles(sheet, (double)call->latency_cycles);
        sheet_ink(sheet, INK_WARNING);
        sheet_addf(sheet, "%" PRIu64, call->pid);
        sheet_add(sheet, call->op);
        sheet_add(sheet, aggstats_why_text(&call->cause, text));
        add_place(page, call->path, call->chain, call->stack, NULL);
    }
}

static void add_slow_call(const struct why_page *page, const struct aggstats_call *call) {
    struct sheet *sheet = page->sheet;
    const char *error = call->error > 0 && call->error < 4096 ? strerrorname_np((int)call->error) : NULL;
    const time_t seconds = (time_t)(call->end_ns / NS_PER_S);
    char cause[AGGSTATS_WHY_TEXT_SIZE];
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    sheet_addf(sheet, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
               (int)(call->end_ns % NS_PER_S / 1000000));
    sheet_add_cycles(sheet, (double)call->latency_cycles);
    sheet_addf(sheet, "%" PRIu64, call->pid);
    sheet_add(sheet, call->op);
    sheet_addf(sheet, "%s%s%s", error ? error : "", error ? ", " : "",
               call->cause.words[0] ? aggstats_why_text(&call->cause, cause) : NOT_KNOWN);
    add_place(page, call->path, call->chain, call->stack, call->user_stack);
}

/* Which calls are listed. The profile keeps the last ones: it has `kept` of `all`. "The longest 12 of the 32 that are kept,
 * the last of 4,203, in UTC (osprof why --json has 32):"; "The last 3 of 14, which are kept, the longest first, in UTC:" */
static void put_which(const struct why_page *page, size_t kept, wide_count all) {
    CLEANUP_STR struct str text = {0};
    if (kept > CALLS_SHOWN_MAX && all > kept)
        str_addf(&text, "The longest %u of the %zu that are kept, the last of %s, in UTC", CALLS_SHOWN_MAX, kept,
                 units_count(all).text);
    else if (kept > CALLS_SHOWN_MAX)
        str_addf(&text, "The longest %u of %zu, in UTC", CALLS_SHOWN_MAX, kept);
    else if (all > kept)
        str_addf(&text, "The last %zu of %s, which %s kept%s, in UTC", kept, units_count(all).text,
                 kept == 1 ? "is" : "are", kept == 1 ? "" : ", the longest first");
    else
        str_add(&text, kept == 1 ? "The call, in UTC" : "All, the longest first, in UTC");
    if (kept > CALLS_SHOWN_MAX)
        str_addf(&text, " (osprof why --json has %zu)", kept);
    sheet_gap(page->sheet);
    sheet_text(page->sheet, 0, "%s:", str_text(&text));
}

/* The longest first. Of two that took equally long the later one comes first. */
static void put_slow_calls(const struct why_page *page, const struct sums *sums) {
    static const struct sheet_column columns[] = {
        {"end", SHEET_NUMBER, 0},     {"latency", SHEET_NUMBER, 2}, {"pid", SHEET_NUMBER, 3},
        {"operation", SHEET_NAME, 4}, {"cause", SHEET_TEXT, 1},
    };
    const struct aggstats_profile *profile = page->profile;
    const struct aggstats_call *shown[CALLS_SHOWN_MAX];
    size_t kept = 0;
    size_t count = 0;
    bool has_holder = false;
    for (size_t i = profile->slow_call_count; i-- > 0;) {
        const struct aggstats_call *call = &profile->slow_calls[i];
        if (!wants(page, call->op))
            continue;
        kept++;
        size_t place = count;
        while (place > 0 && shown[place - 1]->latency_cycles < call->latency_cycles)
            place--;
        if (place == CALLS_SHOWN_MAX)
            continue;
        count += count < CALLS_SHOWN_MAX;
        memmove(&shown[place + 1], &shown[place], (count - 1 - place) * sizeof(struct aggstats_call *));
        shown[place] = call;
    }
    if (kept == 0)
        return;
    put_which(page, kept, sums->calls);
    SHEET_TABLE(page->sheet, columns);
    for (size_t i = 0; i < count; i++) {
        has_holder |= shown[i]->chain != NULL;
        add_slow_call(page, shown[i]);
    }
    if (has_holder)
        sheet_legend(page->sheet, "Who held what is as it was seen while a call waited.");
}

/* ---- By caller ---------------------------------------------------------------------------------- */

#define WHO_SIZE (AGGSTATS_PROGRAM_SIZE + 24)

/* Slow calls of one caller, operation and main cause. */
struct row {
    char who[WHO_SIZE];
    const struct aggstats_call *first; /* has the operation and the cause */
    uint64_t calls;
    double total_cycles;
    uint64_t longest_cycles;
};

/* Returns how many rows there are then. */
static size_t add_call(struct row *rows, size_t count, const struct aggstats_call *call, const char *by) {
    char who[WHO_SIZE] = NOT_KNOWN;
    size_t i = 0;
    if (strcmp(by, "uid") == 0)
        snprintf(who, sizeof(who), "%" PRIu64, call->uid);
    else if (strcmp(by, "program") == 0 && call->program[0])
        snprintf(who, sizeof(who), "%s", call->program);
    else if (strcmp(by, "program") != 0 && call->process > 0)
        snprintf(who, sizeof(who), "%" PRIu64 " %s", call->process, call->program);
    while (i < count && (strcmp(rows[i].who, who) != 0 || strcmp(rows[i].first->op, call->op) != 0 ||
                         !aggstats_why_is_same(&rows[i].first->cause, &call->cause)))
        i++;
    if (i == count) {
        rows[i].first = call;
        memcpy(rows[i].who, who, sizeof(who));
    }
    rows[i].calls++;
    rows[i].total_cycles += (double)call->latency_cycles;
    if (call->latency_cycles > rows[i].longest_cycles)
        rows[i].longest_cycles = call->latency_cycles;
    return i == count ? count + 1 : count;
}

static int compare_rows(const void *left, const void *right) {
    const struct row *a = left;
    const struct row *b = right;
    if (a->total_cycles != b->total_cycles)
        return a->total_cycles < b->total_cycles ? 1 : -1;
    return strcmp(a->who, b->who);
}

/* The caller with the most time comes first. */
static void put_by_caller(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0}, {"total", SHEET_NUMBER, 2},         {"calls", SHEET_NUMBER, 3},
        {"max", SHEET_NUMBER, 4},   {page->options->by, SHEET_NAME, 5}, {"operation: cause", SHEET_TEXT, 1},
    };
    CLEANUP_FREE struct row *rows = calloc(profile->slow_call_count + 1, sizeof(*rows));
    size_t count = 0;
    uint64_t calls = 0;
    double total_cycles = 0;
    for (size_t i = 0; i < profile->slow_call_count && rows; i++) {
        if (!wants(page, profile->slow_calls[i].op))
            continue;
        count = add_call(rows, count, &profile->slow_calls[i], page->options->by);
        calls++;
        total_cycles += (double)profile->slow_calls[i].latency_cycles;
    }
    if (count == 0)
        return;
    qsort(rows, count, sizeof(*rows), compare_rows);
    sheet_gap(page->sheet);
    sheet_text(page->sheet, 0,
               "Over the last %s slow call%s, all that %s known one by one, %s in all:", units_count(calls).text,
               units_plural(calls), calls == 1 ? "is" : "are", cycles_text(page, total_cycles).text);
    SHEET_TABLE(page->sheet, columns);
    for (size_t i = 0; i < count; i++) {
        const struct aggstats_why *why = &rows[i].first->cause;
        char cause[AGGSTATS_WHY_TEXT_SIZE];
        sheet_add_share(page->sheet, total_cycles > 0 ? rows[i].total_cycles / total_cycles : 0);
        sheet_add_cycles(page->sheet, rows[i].total_cycles);
        sheet_add_count(page->sheet, rows[i].calls);
        sheet_add_cycles(page->sheet, rows[i].longest_cycles > 0 ? (double)rows[i].longest_cycles : NAN);
        sheet_add(page->sheet, rows[i].who);
        sheet_addf(page->sheet, "%s: %s", rows[i].first->op, why->words[0] ? aggstats_why_text(why, cause) : NOT_KNOWN);
    }
}

/* ---- What stacks show ---------------------------------------------------------------------------- */

/* The kernel shows stacks to root only; those of programs may leave functions out. */
static void explain_stacks(const struct why_page *page) {
    static const char more[] = "...";
    const struct aggstats_profile *profile = page->profile;
    size_t seen = 0;
    bool is_any_whole = false; /* has more than the innermost function */
    bool is_any_cut = false;
    for (size_t i = 0; i < profile->slow_call_count + profile->in_flight_count; i++) {
        const bool is_slow = i < profile->slow_call_count;
        const struct aggstats_call *call = is_slow ? NULL : &profile->in_flight[i - profile->slow_call_count];
        const char *stack = is_slow ? profile->slow_calls[i].stack : call->stack;
        const char *user_stack = is_slow ? profile->slow_calls[i].user_stack : NULL;
        const size_t length = user_stack ? strlen(user_stack) : 0;
        if (!wants(page, is_slow ? profile->slow_calls[i].op : call->op))
            continue;
        seen += stack != NULL;
        is_any_whole |= stack && strstr(stack, " < ");
        is_any_cut |= length >= strlen(more) && strcmp(user_stack + length - strlen(more), more) == 0;
    }
    if (seen > 0 && !is_any_whole) {
        sheet_gap(page->sheet);
        sheet_text(page->sheet, 0,
                   "Of each wait only the innermost function was seen: the kernel shows all of them to root only, for "
                   "whom more causes have names.");
    }
    if (is_any_cut && page->options->stacks) {
        sheet_gap(page->sheet);
        sheet_text(page->sheet, 0,
                   "Stacks that end in ... could not be followed further: the program has neither unwind tables nor "
                   "frame pointers there, or its stack is too deep.");
    }
}

/* Waits for locks that the mount does not forward are in no call that it sees. */
void why_page_print(const struct aggstats_profile *profile, const struct why_page_options *options,
                    const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of(screen, profile->clock.frequency_hz);
    const struct why_page page = {&sheet, profile, options};
    struct sums sums = {.calls = 0}; /* of causes */
    struct answer_model model;
    answer_model_make(profile, NULL, 0, &model);
    for (size_t i = 0; i < profile->cause_count; i++) {
        if (!wants(&page, profile->causes[i].op))
            continue;
        sums.calls += profile->causes[i].calls;
        sums.total_cycles += (double)profile->causes[i].total_cycles;
    }
    put_sum(&page, &sums);
    if (model.fuse.has_hidden_locks && wants(&page, "LOCK"))
        answer_page_put_hidden_locks(&sheet, model.fuse.hidden_lock_cycles);
    if (options->by) {
        put_by_caller(&page);
        sheet_print(&sheet);
        return;
    }
    sheet_gap(&sheet);
    if (sums.total_cycles > 0)
        why_page_put_causes(&sheet, profile, &options->ops, sums.total_cycles, true);
    sheet_gap(&sheet);
    put_callers(&page);
    put_others(&page);
    put_in_flight(&page);
    put_slow_calls(&page, &sums);
    explain_stacks(&page);
    sheet_print(&sheet);
}

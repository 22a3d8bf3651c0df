/* Causes, calls in flight, and slow calls: a table each. */
#include "why_page.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "units.h"

#define CALLS_SHOWN_MAX 12
#define NS_PER_SECOND 1000000000

struct why_page {
    const struct aggstats_profile *profile;
    const struct option_list *ops;
    const struct screen *screen;
    struct units units;
};

bool why_page_has_any(const struct aggstats_profile *profile) {
    return profile->slow_cycles > 0 || profile->cause_count > 0 || profile->slow_call_count > 0;
}

static bool wants(const struct why_page *page, const char *op) {
    return option_list_wants(page->ops, op);
}

static void print_cycles(const struct why_page *page, uint64_t cycles, enum ink ink, int columns) {
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(&page->units, (double)cycles, text);
    screen_print_right(page->screen, ink, text, columns);
}

/* ---- Causes ------------------------------------------------------------------------------------- */

struct sums {
    uint64_t calls;
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
    char calls[UNITS_TEXT_SIZE];
    char threshold[UNITS_TEXT_SIZE];
    char total[UNITS_TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    double all = latency_of_all(page);
    units_format_count(sums->calls, calls);
    units_format_cycles(&page->units, (double)page->profile->slow_cycles, threshold);
    units_format_cycles(&page->units, sums->total_cycles, total);
    /* Just after a rotation causes may have a call that the operations had before it. */
    units_format_share(sums->total_cycles < all ? sums->total_cycles / all : all > 0, share);
    fprintf(page->screen->stream, "%s call%s took %s or longer", calls, units_plural(sums->calls), threshold);
    if (sums->calls > 0)
        fprintf(page->screen->stream, ", %s in all, which is %s of the latency", total, share);
    putc('\n', page->screen->stream);
}

static void print_cause(const struct why_page *page, const struct aggstats_cause *cause, double whole) {
    char text[UNITS_TEXT_SIZE];
    units_format_share(whole > 0 ? (double)cause->total_cycles / whole : 0, text);
    screen_print_right(page->screen, INK_PLAIN, text, 8);
    print_cycles(page, cause->total_cycles, INK_PLAIN, 10);
    units_format_count(cause->calls, text);
    screen_print_right(page->screen, INK_PLAIN, text, 8);
    print_cycles(page, cause->longest_cycles, INK_PLAIN, 10);
    fputs("  ", page->screen->stream);
    screen_print_untrusted(page->screen, INK_STRONG, cause->op);
    fprintf(page->screen->stream, "%*s", strlen(cause->op) < 12 ? 12 - (int)strlen(cause->op) : 0, "");
    screen_print_untrusted(page->screen, INK_PLAIN, cause->text);
    putc('\n', page->screen->stream);
}

static void print_causes(const struct why_page *page, const struct sums *sums) {
    if (sums->total_cycles <= 0)
        return;
    putc('\n', page->screen->stream);
    screen_ink(page->screen, INK_FAINT);
    fprintf(page->screen->stream, "%8s%10s%8s%10s  %-12s%s\n", "share", "total", "calls", "longest", "operation",
            "cause");
    screen_ink(page->screen, INK_PLAIN);
    for (size_t i = 0; i < page->profile->cause_count; i++)
        if (wants(page, page->profile->causes[i].op))
            print_cause(page, &page->profile->causes[i], sums->total_cycles);
}

/* ---- Calls -------------------------------------------------------------------------------------- */

/* The cause, and below it the path if there is one. */
static void print_cause_and_path(const struct why_page *page, const char *cause, const char *path, int columns) {
    screen_print_untrusted(page->screen, INK_PLAIN, cause);
    if (path) {
        fprintf(page->screen->stream, "\n%*s", columns, "");
        screen_print_untrusted(page->screen, INK_STRONG, path);
    }
    putc('\n', page->screen->stream);
}

static void print_in_flight(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    bool is_begun = false;
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        const struct aggstats_call_in_flight *call = &profile->in_flight[i];
        if (!wants(page, call->op) || !call->cause[0])
            continue;
        if (!is_begun)
            fprintf(page->screen->stream, "\nIn flight:\n%10s%10s  %-12s%s\n", "age", "pid", "operation", "cause");
        is_begun = true;
        print_cycles(page, call->age_cycles, INK_WARNING, 10);
        fprintf(page->screen->stream, "%10" PRIu64 "  ", call->pid);
        fprintf(page->screen->stream, "%-12s", call->op);
        print_cause_and_path(page, call->cause, call->path, 34);
    }
}

static void print_time(const struct why_page *page, int64_t ns) {
    time_t seconds = (time_t)(ns / NS_PER_SECOND);
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    fprintf(page->screen->stream, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
            (int)(ns % NS_PER_SECOND / 1000000));
}

static void print_slow_call(const struct why_page *page, const struct aggstats_slow_call *call) {
    const char *error = call->error > 0 && call->error < 4096 ? strerrorname_np((int)call->error) : NULL;
    print_time(page, call->end_ns);
    print_cycles(page, call->latency_cycles, INK_PLAIN, 10);
    fprintf(page->screen->stream, "%10" PRIu64 "  %-12s", call->pid, call->op);
    if (error)
        fprintf(page->screen->stream, "%s, ", error);
    print_cause_and_path(page, call->cause[0] ? call->cause : "(not known)", call->path, 46);
}

static void print_slow_calls(const struct why_page *page) {
    const struct aggstats_profile *profile = page->profile;
    size_t shown = 0;
    for (size_t i = profile->slow_call_count; i-- > 0 && shown < CALLS_SHOWN_MAX;) {
        if (!wants(page, profile->slow_calls[i].op))
            continue;
        if (shown++ == 0)
            fprintf(page->screen->stream, "\nThe last ones, in UTC:\n%-12s%10s%10s  %-12s%s\n", "end", "latency", "pid",
                    "operation", "cause");
        print_slow_call(page, &profile->slow_calls[i]);
    }
}

void why_page_print(const struct aggstats_profile *profile, const struct option_list *ops,
                    const struct screen *screen) {
    const struct why_page page = {
        .profile = profile,
        .ops = ops,
        .screen = screen,
        .units = {.frequency_hz = profile->clock.frequency_hz, .ascii = screen->ascii},
    };
    const struct sums sums = sum_causes(&page);
    print_sum(&page, &sums);
    print_causes(&page, &sums);
    print_in_flight(&page);
    print_slow_calls(&page);
}

/* The pages of osprof top -a. The upper part is the page of osprof why -a, by the same function. */
#include "top_waits_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "top_page.h"
#include "wait_page.h"

#define NUMBER_COLUMNS 10
#define WHO_COLUMNS_MIN 14
#define WHO_COLUMNS_MAX 30
#define CAUSE_COLUMNS_MIN 12

void top_waits_page_put_heading(struct sheet *sheet, const struct top_waits *waits) {
    const int64_t elapsed_ns = waits->taken_ns - (waits->summing ? waits->begin_ns : waits->previous_ns);
    const struct units_text elapsed = units_seconds(&sheet->units, (double)elapsed_ns / 1e9);
    char clock[TOP_TIME_SIZE];
    char begin[TOP_TIME_SIZE];
    top_page_format_time(waits->clock_ns, true, clock);
    top_page_format_time(waits->clock_ns - elapsed_ns, false, begin);
    sheet_put(sheet, FORM_LINE, INK_FAINT, 0, "%s", clock);
    if (waits->summing)
        sheet_span(sheet, INK_PLAIN, "  %s since %s  ", elapsed.text, begin);
    else
        sheet_span(sheet, INK_PLAIN, "  the last %s  ", elapsed.text);
    sheet_span(sheet, INK_STRONG, "%s", waits->whose ? waits->whose : "all threads of this machine");
}

void top_waits_page_put_report(struct sheet *sheet, const struct top_waits *waits, enum wait_by by) {
    const struct wait_page_options options = {.by = by,
                                              .has_no_hints = true,
                                              .rows_max = by == WAIT_BY_NOBODY ? WAIT_PAGE_ROWS / 2 : WAIT_PAGE_ROWS,
                                              .whose = waits->whose};
    wait_page_put(sheet, &waits->watch, &waits->by_cause, &waits->by_who, &options);
}

/* ---- Who waited --------------------------------------------------------------------------------- */

static double share_of(uint64_t ns, uint64_t of_ns) {
    return of_ns > 0 ? (double)ns / (double)of_ns : 0;
}

/* The first of those that are shown: the chosen one is among them. */
static size_t first_shown(const struct top_waits *waits, size_t rows_max) {
    const size_t chosen = top_waits_chosen(waits);
    const size_t last = waits->waiter_count > rows_max ? waits->waiter_count - rows_max : 0;
    const size_t first = chosen >= rows_max && chosen < waits->waiter_count ? chosen - rows_max + 1 : 0;
    return first < last ? first : last;
}

static void put_waiters(struct sheet *sheet, const struct top_waits *waits, size_t rows_max) {
    static const char *const kinds[] = {"program", "process", "thread", "cgroup"};
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0, NUMBER_COLUMNS},
        {"total", SHEET_NUMBER, 1, NUMBER_COLUMNS},
        {"longest", SHEET_NUMBER, 2, NUMBER_COLUMNS},
        {kinds[waits->by], SHEET_NAME, 3, WHO_COLUMNS_MIN, WHO_COLUMNS_MAX},
        {"above all", SHEET_LINE, 4, CAUSE_COLUMNS_MIN},
    };
    const size_t first = first_shown(waits, rows_max);
    const size_t end = waits->waiter_count - first > rows_max ? first + rows_max : waits->waiter_count;
    const size_t chosen = top_waits_chosen(waits);
    SHEET_TABLE(sheet, columns)->marked = chosen >= first && chosen < end ? chosen - first + 1 : 0;
    for (size_t i = first; i < end; i++) {
        const struct top_waiter *waiter = &waits->waiters[i];
        sheet_add_share(sheet, share_of(waiter->total_ns, waits->by_who.total_ns));
        sheet_add_seconds(sheet, (double)waiter->total_ns / 1e9);
        sheet_add_seconds(sheet, (double)waiter->longest_ns / 1e9);
        sheet_add(sheet, waiter->who);
        sheet_ink(sheet, i == chosen ? INK_STRONG : INK_PLAIN);
        sheet_add(sheet, waiter->most->cause->why.words);
    }
    if (end - first < waits->waiter_count)
        sheet_legend(sheet, "(%zu-%zu of %zu)", first + 1, end, waits->waiter_count);
}

/* The causes of the chosen one. Shares are of what it waited for but work. */
static void put_chosen(struct sheet *sheet, const struct top_waits *waits) {
    const size_t chosen = top_waits_chosen(waits);
    CLEANUP_STR struct str title = {0};
    if (chosen == waits->waiter_count) {
        sheet_put(sheet, FORM_LINE, INK_STRONG, 0, "%s", waits->chosen);
        sheet_span(sheet, INK_PLAIN, " has not waited for anything but work in this time.");
        return;
    }
    const struct top_waiter *waiter = &waits->waiters[chosen];
    str_addf(&title, "causes of %s", waiter->who);
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0, NUMBER_COLUMNS},           {"total", SHEET_NUMBER, 1, NUMBER_COLUMNS},
        {"longest", SHEET_NUMBER, 2, NUMBER_COLUMNS},         {"waits", SHEET_NUMBER, 3, NUMBER_COLUMNS},
        {str_text(&title), SHEET_LINE, 4, CAUSE_COLUMNS_MIN},
    };
    SHEET_TABLE(sheet, columns);
    for (size_t i = 0; i < waits->by_who.count; i++) {
        const struct wait_view_row *row = &waits->by_who.rows[i];
        if (strcmp(row->who, waiter->who) != 0)
            continue;
        sheet_add_share(sheet, row->cause->class == WAIT_IS_WORK ? NAN : share_of(row->total_ns, waiter->total_ns));
        sheet_add_seconds(sheet, (double)row->total_ns / 1e9);
        sheet_add_seconds(sheet, (double)row->longest_ns / 1e9);
        sheet_add_count(sheet, row->waits + row->now);
        if (row->now > 0)
            sheet_addf(sheet, "%s (%" PRIu64 " still)", row->cause->why.words, row->now);
        else
            sheet_add(sheet, row->cause->why.words);
    }
}

void top_waits_page_put(struct sheet *sheet, const struct top_waits *waits, int room_lines) {
    const size_t rows_max = room_lines > 24 ? (size_t)room_lines / 6 : 4; /* of each of the tables */
    const struct wait_page_options options = {
        .by = WAIT_BY_NOBODY, .has_no_hints = true, .has_no_names = true, .rows_max = rows_max, .whose = waits->whose};
    if (!top_waits_has_any(waits)) {
        sheet_legend(sheet, "What threads wait for is counted from here on.");
        return;
    }
    wait_page_put(sheet, &waits->watch, &waits->by_cause, &waits->by_who, &options);
    sheet_gap(sheet);
    if (waits->waiter_count > 0)
        put_waiters(sheet, waits, rows_max);
    sheet_gap(sheet);
    if (waits->waiter_count > 0 || waits->chosen[0])
        put_chosen(sheet, waits);
}

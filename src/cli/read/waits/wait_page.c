/* Waits as a page. */
#include "wait_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "holders_text.h"
#include "lock_watch.h"

#define WHO_COLUMNS 100
#define LITTLE_SHARE 0.01 /* of elapsed time: hardly anybody waited */
#define MOST_SHARE 0.5005 /* what is less is shown as 50.0 % */
#define CAUSES_NAMED 4    /* in a sentence */
#define PROGRAMS_NAMED 4  /* of a cause */
#define STILL_NS                                                                                                       \
    INT64_C(1000000000) /* what was seen so long before the end is so at the end, if somebody waits still */

struct page {
    const struct wait_watch *watch;
    const struct wait_view *by_cause;
    const struct wait_view *by_who;
    const struct wait_page_options *options;
    struct sheet *sheet;
};

static struct units_text time_text(const struct page *page, uint64_t ns) {
    return screen_firm(units_seconds(&page->sheet->units, (double)ns / 1e9));
}

static struct units_text share_text(uint64_t ns, uint64_t of_ns) {
    return screen_firm(units_share(of_ns > 0 ? (double)ns / (double)of_ns : 0));
}

/* Within a sentence: a terminal obeys none of its characters. */
static void add_who(const struct page *page, struct str *text, const char *who) {
    CLEANUP_FREE char *shown = screen_cut(&page->sheet->screen, who, WHO_COLUMNS, SCREEN_BEGINNING);
    str_add(text, shown ? shown : "?");
}

/* ---- What was lost ------------------------------------------------------------------------------ */

static const char *be(const struct wait_losses_words *words, uint64_t count) {
    return count == 1 ? words->one_was : words->several_were;
}

void wait_losses_add(struct str *text, const struct waits_losses *losses, const struct wait_losses_words *words) {
    if (losses->processes > 0) {
        str_separate(text, " ");
        str_addf(text, "%s process%s that watched ones have started %s not watched: there was no room for more.",
                 units_count(losses->processes).text, losses->processes == 1 ? "" : "es",
                 losses->processes == 1 ? "was" : "were");
    }
    if (losses->no_room > 0) {
        str_separate(text, " ");
        str_addf(text, "%s %s not measured: there was no room in the kernel.", units_count(losses->no_room).text,
                 be(words, losses->no_room));
    }
    if (losses->unseen > 0) {
        str_separate(text, " ");
        str_addf(text, "%s %s not measured: the kernel did not report when %s ended.", units_count(losses->unseen).text,
                 be(words, losses->unseen), losses->unseen == 1 ? "it" : "they");
    }
    if (losses->skipped > 0) {
        str_separate(text, " ");
        str_addf(
            text,
            "%s time%s the kernel did not run a program that counts %s, for the CPU was in it already: as many may "
            "be missing.",
            units_count(losses->skipped).text, units_plural(losses->skipped), words->several);
    }
}

bool wait_losses_are_none(const struct waits_losses *losses) {
    return losses->processes == 0 && losses->no_room == 0 && losses->unseen == 0 && losses->skipped == 0;
}

/* ---- Sentences ---------------------------------------------------------------------------------- */

static bool is_little(const struct page *page) {
    return (double)page->by_cause->total_ns < LITTLE_SHARE * (double)page->by_cause->elapsed_ns;
}

/* "10.0 s: 23 threads of 9 processes waited, 31.2 s in all (idle waits excluded)." That nobody waited is said only if
 * all waits are known. */
static void put_all(const struct page *page) {
    const struct wait_view *view = page->by_cause;
    const struct waits_losses lost = wait_watch_lost(page->watch);
    CLEANUP_STR struct str text = {0};
    str_addf(&text, "%s", time_text(page, view->elapsed_ns).text);
    if (page->options->whose) {
        str_addf(&text, " of ");
        add_who(page, &text, page->options->whose);
    }
    if (view->total_ns > 0 && !is_little(page)) {
        str_addf(&text, ": %s thread%s of %s process%s waited, %s in all (idle waits excluded).",
                 units_count(view->threads).text, units_plural(view->threads), units_count(view->processes).text,
                 view->processes == 1 ? "" : "es", time_text(page, view->total_ns).text);
    } else {
        str_addf(&text, wait_losses_are_none(&lost) ? ": no thread waited (idle waits excluded)"
                                                    : ": no wait was measured (idle waits excluded)");
        if (view->total_ns > 0)
            str_addf(&text, ", except %s in all (%s of the time)", time_text(page, view->total_ns).text,
                     share_text(view->total_ns, view->elapsed_ns).text);
        str_addf(&text, ".");
    }
    sheet_sentence(page->sheet, 0, "%s", str_text(&text));
}

/* "For most of that, 61 %, they were waiting for ..., above all postgres (19.0 s); 9.00 s at the longest." */
static void put_first(const struct page *page) {
    const struct wait_view *view = page->by_cause;
    const struct wait_view_row *first = &view->rows[0];
    CLEANUP_STR struct str text = {0};
    if (view->counting_rows == 0 || is_little(page))
        return;
    const struct wait_view_row *most = NULL; /* the row of that cause with the longest time */
    for (size_t i = 0; i < page->by_who->counting_rows && !most; i++)
        if (page->by_who->rows[i].cause == first->cause)
            most = &page->by_who->rows[i];
    const bool is_all = first->total_ns == view->total_ns;
    const bool is_most = (double)first->total_ns > MOST_SHARE * (double)view->total_ns;
    if (is_all)
        str_addf(&text, "All of that time ");
    else
        str_addf(&text, "%s of that time, %s, ", is_most ? "Most" : "The largest part",
                 share_text(first->total_ns, view->total_ns).text);
    str_addf(&text, "%s %s", view->threads == 1 ? "it was" : "they were", first->cause->why.words);
    if (most) {
        str_addf(&text, most->total_ns == first->total_ns ? ": " : ", above all ");
        add_who(page, &text, most->who);
        if (most->total_ns < first->total_ns)
            str_addf(&text, " (%s)", time_text(page, most->total_ns).text);
    }
    str_addf(&text, "; %s at the longest.", time_text(page, first->longest_ns).text);
    sheet_sentence(page->sheet, 0, "%s", str_text(&text));
}

/* "1.50 s before the end: postgres 4711 waits for ..., held by ..."; nothing if nobody is known. */
static void add_holder(const struct page *page, const struct wait_view_row *row) {
    const struct wait_held *held = wait_holders_find(page->watch->holders, page->options->by, row->most);
    char sentence[HOLDERS_TEXT_SIZE];
    CLEANUP_STR struct str text = {0};
    if (!held || row->total_ns == 0)
        return;
    const int64_t before_ns = page->watch->read_ns > held->seen_ns ? page->watch->read_ns - held->seen_ns : 0;
    if (!held->waits_still || before_ns >= STILL_NS)
        str_addf(&text, "%s before the end: ", units_seconds(&page->sheet->units, (double)before_ns / 1e9).text);
    str_add(&text, holders_format(held->chain, sentence, sizeof(sentence)));
    sheet_add_more(page->sheet, INK_STRONG, str_text(&text));
}

/* "Idle waits, not included: 10 min, 213 threads, for events (epoll) (55.0 %), ..." */
static void put_work(const struct page *page) {
    const struct wait_view *view = page->by_cause;
    CLEANUP_STR struct str text = {0};
    if (view->counting_rows == view->count)
        return;
    str_addf(&text, "Idle waits, not included: %s", time_text(page, view->work_ns).text);
    if (view->work_threads > 0)
        str_addf(&text, ", %s thread%s all the time", units_count(view->work_threads).text,
                 units_plural(view->work_threads));
    for (size_t i = view->counting_rows; i < view->count && i < view->counting_rows + CAUSES_NAMED; i++)
        str_addf(&text, "%s%s (%s)", i == view->counting_rows ? "; " : ", ", view->rows[i].cause->why.words,
                 share_text(view->rows[i].total_ns, view->work_ns).text);
    str_addf(&text, ".%s", page->options->has_work || page->options->has_no_hints ? "" : " --idle shows them.");
    sheet_sentence(page->sheet, 0, "%s", str_text(&text));
}

static void put_lost(const struct page *page) {
    static const struct wait_losses_words words = {"waits", "wait was", "waits were"};
    const struct waits_losses lost = wait_watch_lost(page->watch);
    CLEANUP_STR struct str text = {0};
    wait_losses_add(&text, &lost, &words);
    if (page->watch->sums.is_folded) {
        str_separate(&text, " ");
        str_addf(&text,
                 "More than %u threads, names and causes: those that waited least are summed by program; they are not "
                 "among the threads and processes.",
                 WAIT_ROWS_MAX);
    }
    if (text.length > 0)
        sheet_warning(page->sheet, "%s", str_text(&text));
}

/* ---- The table ---------------------------------------------------------------------------------- */

/* How many of the rows that count are shown, and of the others. */
static size_t limit_rows(const struct page *page, size_t count) {
    return page->options->rows_max > 0 && count > page->options->rows_max ? page->options->rows_max : count;
}

/* "cc1 (4.48 s), bash (1.00 s) and 38 more" */
static void add_programs(const struct page *page, const struct wait_cause *cause) {
    CLEANUP_STR struct str text = {0};
    size_t count = 0;
    for (size_t i = 0; i < page->by_who->count; i++) {
        const struct wait_view_row *row = &page->by_who->rows[i];
        if (row->cause == cause && ++count <= PROGRAMS_NAMED)
            str_addf(&text, "%s%s (%s)", count > 1 ? ", " : "", row->who,
                     units_seconds(&page->sheet->units, (double)row->total_ns / 1e9).text);
    }
    if (count > PROGRAMS_NAMED)
        str_addf(&text, " and %zu more", count - PROGRAMS_NAMED);
    sheet_add_more(page->sheet, INK_STRONG, str_text(&text));
}

static void add_row(const struct page *page, const struct wait_view_row *row) {
    const bool has_stack = page->options->has_stacks && row->cause->class != WAIT_FOR_CPU;
    const double seconds = (double)row->total_ns / 1e9;
    const uint64_t all = row->waits + row->now;
    sheet_add_share(page->sheet,
                    row->cause->class == WAIT_IS_WORK ? NAN : (double)row->total_ns / (double)page->by_who->total_ns);
    sheet_add_seconds(page->sheet, seconds);
    sheet_add_count(page->sheet, all);
    sheet_add_seconds(page->sheet, seconds / (double)(all + (all == 0)));
    sheet_add_seconds(page->sheet, (double)row->longest_ns / 1e9);
    sheet_add(page->sheet, row->who);
    if (row->now > 0)
        sheet_addf(page->sheet, "%s (%" PRIu64 " still)", row->cause->why.words, row->now);
    else
        sheet_add(page->sheet, row->cause->why.words);
    if (page->options->by == WAIT_BY_NOBODY && !page->options->has_no_names)
        add_programs(page, row->cause);
    add_holder(page, row);
    const char *stack = has_stack ? wait_causes_stack(page->watch->causes, row->stack) : NULL;
    if (stack)
        sheet_add_more(page->sheet, INK_FAINT, stack);
}

static void put_table(const struct page *page) {
    static const char *const titles[] = {
        [WAIT_BY_PROGRAM] = "program", [WAIT_BY_PROCESS] = "process", [WAIT_BY_THREAD] = "thread",
        [WAIT_BY_CGROUP] = "cgroup",   [WAIT_BY_NOBODY] = "",
    };
    const bool is_of_locks = page->options->is_of_locks;
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0},
        {"total", SHEET_NUMBER, 2},
        {is_of_locks ? "contentions" : "waits", SHEET_NUMBER, 3},
        {"average", SHEET_NUMBER, 4},
        {"max", SHEET_NUMBER, 5},
        {titles[page->options->by], SHEET_NAME, 6},
        {is_of_locks ? "lock, and the function that asked for it" : "cause", SHEET_TEXT, 1},
    };
    const struct wait_view *view = page->options->by == WAIT_BY_NOBODY ? page->by_cause : page->by_who;
    const size_t counting = limit_rows(page, view->counting_rows);
    const size_t work = page->options->has_work ? limit_rows(page, view->count - view->counting_rows) : 0;
    if (counting + work == 0)
        return;
    sheet_gap(page->sheet);
    SHEET_TABLE(page->sheet, columns);
    for (size_t i = 0; i < counting + work; i++)
        add_row(page, &view->rows[i < counting ? i : view->counting_rows + i - counting]);
    if (view->counting_rows > counting)
        sheet_line(page->sheet, 0, "(%zu more%s)", view->counting_rows - counting,
                   page->options->has_no_hints ? "" : ": --verbose");
    sheet_gap(page->sheet);
}

void wait_page_put(struct sheet *sheet, const struct wait_watch *watch, const struct wait_view *by_cause,
                   const struct wait_view *by_who, const struct wait_page_options *options) {
    const struct page page = {watch, by_cause, by_who, options, sheet};
    put_all(&page);
    put_first(&page);
    put_table(&page);
    if (by_cause->unnamed_ns > 0 && !is_little(&page))
        sheet_sentence(sheet, 0, "%s of it has no cause by name, only the kernel's function.",
                       share_text(by_cause->unnamed_ns, by_cause->total_ns).text);
    put_work(&page);
    const char *hidden = wait_holders_hidden(watch->holders);
    if (hidden)
        sheet_warning(sheet, "%s", hidden);
    put_lost(&page);
}

/* ---- Locks of the kernel ------------------------------------------------------------------------- */

void wait_page_describe_locks(uint64_t asleep_ns, uint64_t spinning_ns, bool ascii,
                              char ret_text[WAIT_PAGE_SENTENCE_SIZE]) {
    const struct units units = {.frequency_hz = 1, .ascii = ascii};
    const struct units_text asleep = screen_firm(units_seconds(&units, (double)asleep_ns / 1e9));
    const struct units_text spinning = screen_firm(units_seconds(&units, (double)spinning_ns / 1e9));
    if (asleep_ns > 0 && spinning_ns > 0)
        snprintf(ret_text, WAIT_PAGE_SENTENCE_SIZE,
                 "Locks of the kernel: threads slept %s for them, which is part of the waits above, and spun %s, which "
                 "is CPU time and part of no wait.",
                 asleep.text, spinning.text);
    else if (asleep_ns > 0)
        snprintf(ret_text, WAIT_PAGE_SENTENCE_SIZE,
                 "Locks of the kernel: threads slept %s for them, which is part of the waits above.", asleep.text);
    else if (spinning_ns > 0)
        snprintf(ret_text, WAIT_PAGE_SENTENCE_SIZE,
                 "Locks of the kernel: threads spun %s for them, which is CPU time and part of no wait.",
                 spinning.text);
    else
        snprintf(ret_text, WAIT_PAGE_SENTENCE_SIZE, "Locks of the kernel: no contention was seen.");
}

static void put_locks(struct sheet *sheet, const struct wait_watch *watch, const struct wait_view *by_cause,
                      const struct wait_view *by_who, const struct wait_page_options *options) {
    static const struct wait_losses_words words = {"contentions of locks", "contention of locks was",
                                                   "contentions of locks were"};
    const struct waits_losses lost = lock_watch_lost(watch->locks);
    char times[WAIT_PAGE_SENTENCE_SIZE];
    CLEANUP_STR struct str losses = {0};
    uint64_t spinning_ns = 0;
    for (size_t i = 0; i < by_cause->count; i++)
        if (lock_place_of(by_cause->rows[i].cause)->kind & LOCKED_SPINNING)
            spinning_ns += by_cause->rows[i].total_ns;
    wait_page_describe_locks(by_cause->total_ns - spinning_ns, spinning_ns, sheet->units.ascii, times);
    sheet_gap(sheet);
    sheet_sentence(sheet, 0, "%s", times);
    const struct page page = {watch, by_cause, by_who, options, sheet};
    put_table(&page);
    wait_losses_add(&losses, &lost, &words);
    if (losses.length > 0)
        sheet_warning(sheet, "%s", str_text(&losses));
}

int wait_page_put_locks(struct sheet *sheet, const struct wait_watch *watch, const struct wait_page_options *options) {
    struct wait_page_options of_locks = *options;
    struct wait_view by_cause = {.rows = NULL};
    struct wait_view by_who = {.rows = NULL};
    of_locks.is_of_locks = true;
    of_locks.has_stacks = false;
    int error = wait_view_make(&watch->locks->sums, 0, WAIT_BY_NOBODY, watch->cgroups, &by_cause);
    if (error == 0)
        error = wait_view_make(&watch->locks->sums, 0, options->by == WAIT_BY_NOBODY ? WAIT_BY_PROGRAM : options->by,
                               watch->cgroups, &by_who);
    if (error == 0)
        put_locks(sheet, watch, &by_cause, &by_who, &of_locks);
    wait_view_finish(&by_cause);
    wait_view_finish(&by_who);
    return error;
}

/* Locks of the kernel as a page. */
#include "lock_page.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "units.h"
#include "wait_losses.h"

void lock_page_describe(uint64_t asleep_ns, uint64_t spinning_ns, bool ascii, char ret_text[LOCK_PAGE_SENTENCE_SIZE]) {
    const struct units units = {.frequency_hz = 1, .ascii = ascii};
    const struct units_text asleep = screen_firm(units_seconds(&units, (double)asleep_ns / 1e9));
    const struct units_text spinning = screen_firm(units_seconds(&units, (double)spinning_ns / 1e9));
    if (asleep_ns > 0 && spinning_ns > 0)
        snprintf(ret_text, LOCK_PAGE_SENTENCE_SIZE,
                 "Locks of the kernel: threads slept %s for them, which is part of the waits above, and spun %s, which "
                 "is CPU time and part of no wait.",
                 asleep.text, spinning.text);
    else if (asleep_ns > 0)
        snprintf(ret_text, LOCK_PAGE_SENTENCE_SIZE,
                 "Locks of the kernel: threads slept %s for them, which is part of the waits above.", asleep.text);
    else if (spinning_ns > 0)
        snprintf(ret_text, LOCK_PAGE_SENTENCE_SIZE,
                 "Locks of the kernel: threads spun %s for them, which is CPU time and part of no wait.",
                 spinning.text);
    else
        snprintf(ret_text, LOCK_PAGE_SENTENCE_SIZE, "Locks of the kernel: no contention was seen.");
}

/* ---- The page ----------------------------------------------------------------------------------- */

static int make_view(const struct wait_watch *watch, enum wait_by by, struct wait_view *ret_view) {
    return wait_view_make(&watch->locks->sums, 0, by, wait_cgroups_name, watch->cgroups, ret_view);
}

static void put_all(struct sheet *sheet, const struct wait_watch *watch, const struct wait_view *by_cause,
                    const struct wait_view *by_who, const struct wait_page_options *options) {
    static const struct wait_losses_words words = {"contentions of locks", "contention of locks was",
                                                   "contentions of locks were"};
    const struct waits_losses lost = lock_watch_lost(watch->locks);
    char times[LOCK_PAGE_SENTENCE_SIZE];
    CLEANUP_STR struct str losses = {0};
    uint64_t spinning_ns = 0;
    for (size_t i = 0; i < by_cause->count; i++)
        if (lock_place_of(by_cause->rows[i].cause)->kind & LOCKED_SPINNING)
            spinning_ns += by_cause->rows[i].total_ns;
    lock_page_describe(by_cause->total_ns - spinning_ns, spinning_ns, sheet->units.ascii, times);
    sheet_gap(sheet);
    sheet_sentence(sheet, 0, "%s", times);
    wait_page_put_table(sheet, watch, by_cause, by_who, options);
    wait_losses_add(&losses, &lost, &words);
    if (losses.length > 0)
        sheet_warning(sheet, "%s", str_text(&losses));
}

int lock_page_put(struct sheet *sheet, const struct wait_watch *watch, const struct wait_page_options *options) {
    struct wait_page_options of_locks = *options;
    struct wait_view by_cause = {.rows = NULL};
    struct wait_view by_who = {.rows = NULL};
    of_locks.is_of_locks = true;
    of_locks.has_stacks = false;
    int error = make_view(watch, WAIT_BY_NOBODY, &by_cause);
    if (error == 0)
        error = make_view(watch, options->by == WAIT_BY_NOBODY ? WAIT_BY_PROGRAM : options->by, &by_who);
    if (error == 0)
        put_all(sheet, watch, &by_cause, &by_who, &of_locks);
    wait_view_finish(&by_cause);
    wait_view_finish(&by_who);
    return error;
}

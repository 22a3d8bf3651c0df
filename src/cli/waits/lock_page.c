#include "lock_page.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "units.h"
#include "wait_losses.h"

/* ---- Sentences ---------------------------------------------------------------------------------- */

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

static void print_times(const struct wait_view *view, const struct screen *screen) {
    char text[LOCK_PAGE_SENTENCE_SIZE];
    uint64_t spinning_ns = 0;
    for (size_t i = 0; i < view->count; i++)
        if (lock_place_of(view->rows[i].cause)->kind & LOCKED_SPINNING)
            spinning_ns += view->rows[i].total_ns;
    lock_page_describe(view->total_ns - spinning_ns, spinning_ns, screen->ascii, text);
    screen_print_sentence(screen, 0, text);
}

static void print_lost(const struct wait_watch *watch, const struct screen *screen) {
    static const struct wait_losses_words words = {"contentions of locks", "contention of locks was",
                                                   "contentions of locks were"};
    const struct waits_losses lost = lock_watch_lost(watch->locks);
    CLEANUP_STR struct str text = {0};
    wait_losses_add(&text, &lost, &words);
    if (text.length > 0)
        screen_print_in_ink(screen, INK_WARNING, str_text(&text));
}

/* ---- The page ----------------------------------------------------------------------------------- */

static int make_view(const struct wait_watch *watch, enum wait_by by, struct wait_view *ret_view) {
    return wait_view_make(&watch->locks->sums, 0, by, wait_cgroups_name, watch->cgroups, ret_view);
}

int lock_page_print(const struct wait_watch *watch, const struct wait_page_options *options,
                    const struct screen *screen) {
    struct wait_page_options of_locks = *options;
    struct wait_view by_cause = {.rows = NULL};
    struct wait_view by_who = {.rows = NULL};
    of_locks.is_of_locks = true;
    of_locks.has_stacks = false;
    int error = make_view(watch, WAIT_BY_NOBODY, &by_cause);
    if (error == 0)
        error = make_view(watch, options->by == WAIT_BY_NOBODY ? WAIT_BY_PROGRAM : options->by, &by_who);
    if (error == 0) {
        putc('\n', screen->stream);
        print_times(&by_cause, screen);
        wait_page_print_table(watch, &by_cause, &by_who, &of_locks, screen);
        print_lost(watch, screen);
    }
    wait_view_finish(&by_cause);
    wait_view_finish(&by_who);
    return error;
}

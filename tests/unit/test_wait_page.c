/* What osprof why -a says of waits that were not counted, and of the time for which threads fought for locks of the kernel. */
#include <string.h>

#include "base.h"
#include "testing.h"
#include "wait_page.h"

static const struct wait_losses_words words = {"waits", "wait was", "waits were"};

static const struct {
    struct waits_losses losses;
    const char *text;
} losses[] = {
    {{.no_room = 0}, ""},
    {{.no_room = 1}, "1 wait was not measured: there was no room in the kernel."},
    {{.no_room = 7001}, "7,001 waits were not measured: there was no room in the kernel."},
    {{.processes = 1}, "1 process that watched ones have started was not watched: there was no room for more."},
    {{.processes = 2, .no_room = 1},
     "2 processes that watched ones have started were not watched: there was no room for more. 1 wait was not "
     "measured: "
     "there was no room in the kernel."},
    {{.skipped = 1},
     "1 time the kernel did not run a program that counts waits, for the CPU was in it already: as many may be "
     "missing."},
    {{.unseen = 1}, "1 wait was not measured: the kernel did not report when it ended."},
    {{.unseen = 2, .skipped = 1},
     "2 waits were not measured: the kernel did not report when they ended. 1 time the kernel did not run a program "
     "that "
     "counts waits, for the CPU was in it already: as many may be missing."},
    {{.no_room = 1, .unseen = 3},
     "1 wait was not measured: there was no room in the kernel. 3 waits were not measured: the kernel did not report "
     "when "
     "they ended."},
    {{.no_room = 2, .skipped = 3},
     "2 waits were not measured: there was no room in the kernel. 3 times the kernel did not run a program that counts "
     "waits, for the CPU was in it already: as many may be missing."},
};

TEST(what_found_no_room_and_what_was_skipped_are_told_apart, .to = ARRAY_SIZE(losses)) {
    CLEANUP_STR struct str text = {0};
    wait_losses_add(&text, &losses[_i].losses, &words);
    ck_assert_str_eq(str_text(&text), losses[_i].text);
    ck_assert_int_eq(wait_losses_are_none(&losses[_i].losses), losses[_i].text[0] == '\0');
}

/* ---- Locks of the kernel ---- */

#define BEGINNING "Locks of the kernel: "

static const struct {
    uint64_t asleep_ns;
    uint64_t spinning_ns;
    const char *text;
} times[] = {
    {0, 0, BEGINNING "no contention was seen."},
    {2000000, 0, BEGINNING "threads slept 2.00 ms for them, which is part of the waits above."},
    {0, 47000, BEGINNING "threads spun 47.0 us for them, which is CPU time and part of no wait."},
    {2000000, 47000,
     BEGINNING "threads slept 2.00 ms for them, which is part of the waits above, and spun 47.0 us, which is CPU time "
               "and part of no wait."},
};

/* Blanks between numbers and units are firm, as screen_firm() makes them. */
static void soften(char *text) {
    for (; *text; text++)
        if (*text == '\1')
            *text = ' ';
}

TEST(sleeping_and_spinning_are_told_apart, .to = ARRAY_SIZE(times)) {
    char text[WAIT_PAGE_SENTENCE_SIZE];
    wait_page_describe_locks(times[_i].asleep_ns, times[_i].spinning_ns, true, text);
    soften(text);
    ck_assert_str_eq(text, times[_i].text);
}

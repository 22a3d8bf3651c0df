/* What osprof why -a says of waits that were not counted. */
#include <string.h>

#include "base.h"
#include "testing.h"
#include "wait_losses.h"

static const struct wait_losses_words words = {"waits", "wait was", "waits were"};

static const struct {
    struct waits_losses losses;
    const char *text;
} losses[] = {
    {{.no_room = 0}, ""},
    {{.no_room = 1}, "1 wait was not counted: there was no room in the kernel."},
    {{.no_room = 7001}, "7,001 waits were not counted: there was no room in the kernel."},
    {{.processes = 1}, "1 process that watched ones have started was not watched: there was no room for more."},
    {{.processes = 2, .no_room = 1},
     "2 processes that watched ones have started were not watched: there was no room for more. 1 wait was not counted: "
     "there was no room in the kernel."},
    {{.skipped = 1},
     "1 time the kernel did not run a program that counts waits, for the CPU was in it already: as many may be "
     "missing."},
    {{.unseen = 1}, "1 wait was not counted: the kernel did not report when it ended."},
    {{.unseen = 2, .skipped = 1},
     "2 waits were not counted: the kernel did not report when they ended. 1 time the kernel did not run a program "
     "that "
     "counts waits, for the CPU was in it already: as many may be missing."},
    {{.no_room = 1, .unseen = 3},
     "1 wait was not counted: there was no room in the kernel. 3 waits were not counted: the kernel did not report "
     "when "
     "they ended."},
    {{.no_room = 2, .skipped = 3},
     "2 waits were not counted: there was no room in the kernel. 3 times the kernel did not run a program that counts "
     "waits, for the CPU was in it already: as many may be missing."},
};

TEST(what_found_no_room_and_what_was_skipped_are_told_apart, .to = ARRAY_SIZE(losses)) {
    CLEANUP_STR struct str text = {0};
    wait_losses_add(&text, &losses[_i].losses, &words);
    ck_assert_str_eq(str_text(&text), losses[_i].text);
    ck_assert_int_eq(wait_losses_are_none(&losses[_i].losses), losses[_i].text[0] == '\0');
}

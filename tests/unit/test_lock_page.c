/* What osprof why -a --locks says of the time for which threads fought for locks of the kernel. */

#include "base.h"
#include "lock_page.h"
#include "testing.h"

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
    char text[LOCK_PAGE_SENTENCE_SIZE];
    lock_page_describe(times[_i].asleep_ns, times[_i].spinning_ns, true, text);
    soften(text);
    ck_assert_str_eq(text, times[_i].text);
}

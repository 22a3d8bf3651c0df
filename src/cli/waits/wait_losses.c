#include "wait_losses.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

bool wait_losses_describe(const struct waits_losses *losses, const struct wait_losses_words *words,
                          char ret_text[WAIT_LOSSES_SIZE]) {
    ret_text[0] = '\0';
    if (losses->no_room > 0)
        snprintf(ret_text, WAIT_LOSSES_SIZE, "%s %s not counted: there was no room in the kernel.%s",
                 units_count(losses->no_room).text, losses->no_room == 1 ? words->one_was : words->several_were,
                 losses->skipped > 0 || losses->unseen > 0 ? " " : "");
    size_t length = strlen(ret_text);
    if (losses->unseen > 0)
        snprintf(ret_text + length, WAIT_LOSSES_SIZE - length,
                 "%s %s not counted: the kernel did not report when %s ended.%s", units_count(losses->unseen).text,
                 losses->unseen == 1 ? words->one_was : words->several_were, losses->unseen == 1 ? "it" : "they",
                 losses->skipped > 0 ? " " : "");
    length = strlen(ret_text);
    if (losses->skipped > 0)
        snprintf(
            ret_text + length, WAIT_LOSSES_SIZE - length,
            "%s time%s the kernel did not run a program that counts %s, for the CPU was in it already: as many may "
            "be missing.",
            units_count(losses->skipped).text, units_plural(losses->skipped), words->several);
    return ret_text[0];
}

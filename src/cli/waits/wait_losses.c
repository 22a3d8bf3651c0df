#include "wait_losses.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

__attribute__((format(printf, 2, 3))) static void append(char text[WAIT_LOSSES_SIZE], const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    if (length > 0)
        text[length++] = ' ';
    va_start(arguments, format);
    vsnprintf(text + length, WAIT_LOSSES_SIZE - length, format, arguments);
    va_end(arguments);
}

static const char *be(const struct wait_losses_words *words, uint64_t count) {
    return count == 1 ? words->one_was : words->several_were;
}

bool wait_losses_describe(const struct waits_losses *losses, const struct wait_losses_words *words,
                          char ret_text[WAIT_LOSSES_SIZE]) {
    ret_text[0] = '\0';
    if (losses->processes > 0)
        append(ret_text, "%s process%s that watched ones have started %s not watched: there was no room for more.",
               units_count(losses->processes).text, losses->processes == 1 ? "" : "es",
               losses->processes == 1 ? "was" : "were");
    if (losses->no_room > 0)
        append(ret_text, "%s %s not counted: there was no room in the kernel.", units_count(losses->no_room).text,
               be(words, losses->no_room));
    if (losses->unseen > 0)
        append(ret_text, "%s %s not counted: the kernel did not report when %s ended.",
               units_count(losses->unseen).text, be(words, losses->unseen), losses->unseen == 1 ? "it" : "they");
    if (losses->skipped > 0)
        append(ret_text,
               "%s time%s the kernel did not run a program that counts %s, for the CPU was in it already: as many may "
               "be missing.",
               units_count(losses->skipped).text, units_plural(losses->skipped), words->several);
    return ret_text[0];
}

bool wait_losses_are_none(const struct waits_losses *losses) {
    return losses->processes == 0 && losses->no_room == 0 && losses->unseen == 0 && losses->skipped == 0;
}

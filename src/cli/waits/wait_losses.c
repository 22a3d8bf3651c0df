#include "wait_losses.h"

#include "units.h"

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
        str_addf(text, "%s %s not counted: there was no room in the kernel.", units_count(losses->no_room).text,
                 be(words, losses->no_room));
    }
    if (losses->unseen > 0) {
        str_separate(text, " ");
        str_addf(text, "%s %s not counted: the kernel did not report when %s ended.", units_count(losses->unseen).text,
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

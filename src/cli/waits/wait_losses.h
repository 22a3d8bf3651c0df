/* What could not be counted, in words. */
#ifndef WAIT_LOSSES_H
#define WAIT_LOSSES_H

#include <stdbool.h>

#include "str.h"
#include "waits.h"

/* What is counted. */
struct wait_losses_words {
    const char *several;      /* "waits" */
    const char *one_was;      /* "wait was" */
    const char *several_were; /* "waits were" */
};

/* Adds "3 waits were not counted: there was no room in the kernel."; nothing if nothing was lost. */
void wait_losses_add(struct str *text, const struct waits_losses *losses, const struct wait_losses_words *words);

/* Whether nothing was lost. */
bool wait_losses_are_none(const struct waits_losses *losses);

#endif

/* What could not be counted, in words. */
#ifndef WAIT_LOSSES_H
#define WAIT_LOSSES_H

#include <stdbool.h>
#include <stddef.h>

#include "waits.h"

#define WAIT_LOSSES_SIZE 512

/* What is counted. */
struct wait_losses_words {
    const char *several;      /* "waits" */
    const char *one_was;      /* "wait was" */
    const char *several_were; /* "waits were" */
};

/* "3 waits were not counted: there was no room in the kernel." Returns false if nothing was lost; then the text is empty */
bool wait_losses_describe(const struct waits_losses *losses, const struct wait_losses_words *words,
                          char ret_text[WAIT_LOSSES_SIZE]);

/* Whether nothing was lost. */
bool wait_losses_are_none(const struct waits_losses *losses);

#endif

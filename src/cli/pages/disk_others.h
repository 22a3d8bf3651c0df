/* What others did at the disk of a command while it ran, in words: from the labels of osprof run, see osprof(5). */
#ifndef DISK_OTHERS_H
#define DISK_OTHERS_H

#include <stdbool.h>

#include "aggstats.h"
#include "screen.h"

#define DISK_OTHERS_SIZE 512

/* True if others are known to have used the disk more than the command did, and it was not idle most of the time. Sums of profiles tell nothing of that. */
bool disk_others_are_known(const struct aggstats_profile *profile);

/* Returns false, and an empty text, if that is not so. */
bool disk_others_format(const struct aggstats_profile *profile, const struct screen *screen,
                        char ret_text[DISK_OTHERS_SIZE]);

/* True for a cause of a slow call that may be the work of others at the disk. */
bool disk_others_may_cause(const char *cause);

#endif

/* What others did at the disk of a command while it ran, in words. */
#ifndef DISK_OTHERS_H
#define DISK_OTHERS_H

#include <stdbool.h>

#include "aggstats.h"
#include "screen.h"
#include "str.h"

/* True if others are known to have used the disk more than the command did, and it was not idle most of the time. Sums of profiles tell nothing of that. */
bool disk_others_are_known(const struct aggstats_profile *profile);

/* For how much of the time the disk had something to do; 0 also if that is not known. */
unsigned disk_others_busy_percent(const struct aggstats_profile *profile);

/* Adds the sentence. Returns false, and adds nothing, if nothing is known of others. */
bool disk_others_add(struct str *text, const struct aggstats_profile *profile, const struct screen *screen);

#endif

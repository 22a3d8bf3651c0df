/* Recordings: the complete profiles of several layers of one run. As text they follow each other in one file. */
#ifndef RECORDING_H
#define RECORDING_H

#include <stddef.h>
#include <sys/types.h>

#include "aggstats.h"

/* Zeroed: without layers. */
struct recording {
    struct aggstats_profile *layers; /* [count] each with the label "layer", the outermost first */
    size_t count;
};

/* Adds a layer.
 * Owner:   the recording takes what *profile holds, which is zeroed
 * Errors:  -ENOMEM; *profile untouched */
int recording_add(struct recording *recording, struct aggstats_profile *profile);

/* All layers as text, NUL-terminated. Owner: the caller frees *ret_text. Errors: as aggstats_profile_write() */
int recording_format(const struct recording *recording, char **ret_text, size_t *ret_size_bytes);

/* The mode of a file with it: its owner's alone if it names files. */
mode_t recording_mode(const struct recording *recording);

void recording_finish(struct recording *recording);

#endif

/* What a report is about: a profile or a recording; or the sum of several, each layer by itself. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>

#include "daemon_watch.h"
#include "input.h"
#include "recording.h"

/* Zeroed: of none. */
struct subject {
    struct input input;             /* of one layer, once it is settled */
    struct layer_sums sums;         /* of several */
    size_t count;                   /* of profiles and recordings */
    const char *layer;              /* of a recording, whose profile it is; NULL: it is none */
    char *layers;                   /* the section about all its layers; NULL: there is none */
    char warning[DAEMON_TEXT_SIZE]; /* about a present problem; "": none */
    mode_t mode; /* of a file with a page about it: as of the profile, or of all layers of a recording */
};

/* Adds a copy of an input, of which no layer was chosen yet.
 * name:    of the input, for messages
 * Errors:  reported to the user. Finish the subject nevertheless */
int subject_add(struct subject *subject, const char *name, const struct input *input);

/* Makes the sum, and chooses a layer; to be called once.
 * name:    of all of it, for messages; layer: as for input_choose()
 * Errors:  reported to the user */
int subject_settle(struct subject *subject, const char *name, struct input_layer *layer);

void subject_finish(struct subject *subject);

#endif

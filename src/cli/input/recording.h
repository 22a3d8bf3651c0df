/* Recordings: the complete profiles of several layers of one run. As text they follow each other in one file. */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "aggstats.h"

#define RECORDING_LAYERS_MAX 16
#define RECORDING_COMPLAINT_SIZE 256

/* Zeroed: without layers. */
struct recording {
    struct aggstats_profile *layers; /* [count] each with the label "layer", the outermost first */
    size_t count;
};

/* Adds a layer.
 * Owner:   the recording takes what *profile holds, which is zeroed
 * Errors:  -ENOMEM; *profile untouched */
int recording_add(struct recording *recording, struct aggstats_profile *profile);

/* Whether the layers are told apart, and of one machine: what is not so is said in words that follow "it is no
 * recording: ".
 * Shape:   each layer has a name, which no other has; those that tell a host tell the same */
bool recording_check(const struct recording *recording, char ret_complaint[RECORDING_COMPLAINT_SIZE]);

/* The place of a layer; the count if it is not there. A single layer without a name is fs. */
size_t recording_find(const struct recording *recording, const char *name);

/* "user and fs", "user, fs and block" */
void recording_format_names(const struct recording *recording, char *ret_text, size_t size_bytes);

/* All layers as text, NUL-terminated. Owner: the caller frees *ret_text. Errors: as aggstats_profile_write() */
int recording_format(const struct recording *recording, char **ret_text, size_t *ret_size_bytes);

/* The mode of a file with it: its owner's alone if it names files. */
mode_t recording_mode(const struct recording *recording);

/* Writes it to a file, whole or not at all, or to standard output, as output_write(). Errors: what failed */
int recording_write(const char *path, const struct recording *recording);

void recording_finish(struct recording *recording);

#endif

/* Recordings: the complete profiles of several layers of one run, whose texts follow each other in one file. And sums of
 * many profiles or recordings: each layer is summed by itself. */
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
 * Owner:   the recording takes over the contents of *profile, which is zeroed
 * Errors:  -ENOMEM; *profile untouched */
int recording_add(struct recording *recording, struct aggstats_profile *profile);

/* Whether the layers can be one recording. If not, the reason follows "it is no recording: ".
 * Shape:   each layer has a different name; all hosts that are given are the same */
bool recording_check(const struct recording *recording, char ret_complaint[RECORDING_COMPLAINT_SIZE]);

/* The index of a layer; the number of layers if it is missing. A single layer without a name is fs. */
size_t recording_find(const struct recording *recording, const char *name);

/* "user and fs", "user, fs and block" */
void recording_format_names(const struct recording *recording, char *ret_text, size_t size_bytes);

/* All layers as text, NUL-terminated. Owner: the caller frees *ret_text. Errors: as aggstats_profile_write() */
int recording_format(const struct recording *recording, char **ret_text, size_t *ret_size_bytes);

/* The mode of a file with it: for its owner only if it names files. */
mode_t recording_mode(const struct recording *recording);

/* Writes it to a file, as a whole or not at all, or to standard output, like output_write().
 * Errors:  the failed call's */
int recording_write(const char *path, const struct recording *recording);

void recording_finish(struct recording *recording);

/* ---- Sums --------------------------------------------------------------------------------------- */

struct merging;

/* Zeroed: of none. */
struct layer_sums {
    struct merging *mergings; /* [count] one for each layer */
    size_t count;
};

/* Adds the profile of a layer. One without a layer is added to the first sum, and a sum of such profiles gets the first
 * layer named.
 * name:    of the profile, for messages
 * Errors:  reported to the user. After an error only layer_sums_finish() may be called */
int layer_sums_add(struct layer_sums *sums, const char *name, const struct aggstats_profile *profile);

/* The sums, as a recording.
 * Owner:   the caller finishes *ret_recording, which was zeroed, also after an error
 * Errors:  reported to the user; the sums are no recording (recording_check()) */
int layer_sums_result(struct layer_sums *sums, struct recording *ret_recording);

void layer_sums_finish(struct layer_sums *sums);

#endif

/* The sum of many profiles, or recordings of them: each layer is summed by itself. */
#ifndef LAYER_SUMS_H
#define LAYER_SUMS_H

#include "merging.h"
#include "recording.h"

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

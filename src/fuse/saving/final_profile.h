/* The fallbacks if the final profile cannot be written to its place. */
#ifndef FINAL_PROFILE_H
#define FINAL_PROFILE_H

#include <stdbool.h>

#include "aggstats.h"
#include "profile_target.h"

/* The outcome for control_server_tell_end(). Owner: the caller frees it; NULL: no memory */
char *final_profile_saved(const struct profile_target *target);

/* Keeps a final profile that could not be written to its target. If the live file is complete, the profile stays there.
 * Otherwise the profile is written to a second place, or else printed line by line. Prints a message with the place.
 * text:        empty if there was no memory for the text
 * err:         why the profile could not be written, as -errno
 * ret_outcome: as above
 * Returns true if the live file must stay. */
bool final_profile_keep(const struct profile_target *target, const struct aggstats_recorder *recorder,
                        const struct control_text *text, int err, char **ret_outcome);

#endif

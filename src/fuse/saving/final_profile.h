/* What becomes of the final profile if it cannot be written where it should. */
#ifndef FINAL_PROFILE_H
#define FINAL_PROFILE_H

#include <stdbool.h>

#include "aggstats.h"
#include "profile_target.h"

/* What is told of it, for control_server_tell_end(). Owner: the caller frees it; NULL: no memory */
char *final_profile_saved(const struct profile_target *target);

/* It stays in the live file, if that lacks nothing, or goes beside it, or is told line by line. Says where it is.
 * text: without one if there was no memory for it; err: why it cannot be written, as -errno
 * ret_outcome: as above
 * Returns true if the live file must stay. */
bool final_profile_keep(const struct profile_target *target, const struct aggstats_recorder *recorder,
                        const struct control_text *text, int err, char **ret_outcome);

#endif

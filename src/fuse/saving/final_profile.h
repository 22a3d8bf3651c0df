/* The fallbacks if the final profile cannot be written to its place. */
#ifndef FINAL_PROFILE_H
#define FINAL_PROFILE_H

#include <stdbool.h>

#include "aggstats.h"
#include "profile_target.h"

/* The outcome for control_server_tell_end(). Owner: the caller frees it; NULL: no memory */
char *final_profile_saved(const struct profile_target *target);

/* Leaves it in the live file, if that lacks nothing; or writes it beside that; or prints it line by line. Says where it
 * is. text: empty if there was no memory for it; err: why it cannot be written, as -errno
 * ret_outcome: as above
 * Returns true if the live file must stay. */
bool final_profile_keep(const struct profile_target *target, const struct aggstats_recorder *recorder,
                        const struct control_text *text, int err, char **ret_outcome);

#endif

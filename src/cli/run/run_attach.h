/* The command that is offered for what the layer user has not seen: osprof attach, where it works. */
#ifndef RUN_ATTACH_H
#define RUN_ATTACH_H

#include "aggstats.h"
#include "option_list.h"

/* The directory of the files that are profiled: the only one that was given, or the current one. Call before any is left.
 * Returns NULL if there are several, or if osprof attach does not take it
 * Owner:   directories */
const char *run_attach_directory(const struct option_list *directories);

/* directory: of the function above; NULL: none
 * Owner:   the caller frees it. Returns NULL if all was seen, if osprof attach does not work here or sees less, or without
 *          memory */
char *run_attach_command(const char *directory, const struct aggstats_profile *layer);

#endif

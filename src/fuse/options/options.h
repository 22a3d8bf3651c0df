/* Reading the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "mount_options.h"

/* Says what is wrong, in one line on stderr.
 * Owner:   the caller calls options_finish(), also on error
 * Errors:  -EINVAL, -ENOMEM */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_finish(struct options *options);

#endif

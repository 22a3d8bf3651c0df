/* "-o remount": changing the flags of a mount of ours, without its daemon. */
#ifndef REMOUNT_H
#define REMOUNT_H

#include "options.h"

/* Changes those options of the mount of options->lower at options->mountpoint that mount(8) can change, and prints
 * errors. Flags that are not given stay. An option that cannot change is refused if the mount shows another value.
 * Otherwise a message says that the option stays: a line of fstab(5) may have such options too.
 * argv: the command line that the options are from
 * Returns the exit status: 0, 1 it failed, 2 an option is unknown */
int remount(const struct options *options, int argc, char **argv);

#endif

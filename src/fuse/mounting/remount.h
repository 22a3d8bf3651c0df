/* "-o remount": changing the flags of a mount of ours, without its daemon. */
#ifndef REMOUNT_H
#define REMOUNT_H

#include "mount_options.h"

/* Changes what mount(8) can of the mount of options->lower at options->mountpoint, and says what goes wrong. Flags that
 * are not given stay. What cannot change is refused if the mount shows that it differs, and else named as staying: a
 * line of fstab(5) has those options too.
 * argv: the command line that the options are of
 * Returns the exit status: 0, 1 it failed, 2 an option is unknown */
int remount(const struct options *options, int argc, char **argv);

#endif

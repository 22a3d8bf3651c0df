/* One mount: its recorder, its stack of layers, its request loop and its final profile, from start to end. */
#ifndef DAEMON_H
#define DAEMON_H

#include "options.h"

/* Mounts, serves until it is unmounted or has to end, and saves the profile. Prints what goes wrong.
 * Returns the exit status: 0 if the profile was saved. */
int daemon_run(const struct options *options);

#endif

/* Profiling a FUSE mount from outside, by the kernel's tracepoints: the layer "fuse". */
#ifndef ATTACH_H
#define ATTACH_H

#include "attach_profile.h"

/* Runs until the mount is gone, or a signal ends it; then writes the profile.
 * Errors:  reported to the user */
int attach_run(const char *mount, const struct attach_options *options);

#endif

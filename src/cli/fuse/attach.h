/* Profiling a FUSE mount from outside, by the kernel's tracepoints: the layer "fuse". */
#ifndef ATTACH_H
#define ATTACH_H

#include "option_list.h"

/* Until the mount is gone, or a signal asks to end; then writes the profile.
 * profile:   where to; keeps_old: what is there gets ".old" behind its name
 * Errors:    told to the user */
int attach_run(const char *mount, const char *profile, bool keeps_old, const struct option_list *labels);

#endif

/* Whether the numbers of profiles are consistent, for osprof show --check. */
#ifndef CHECK_PROFILES_H
#define CHECK_PROFILES_H

#include <stddef.h>

#include "command.h"

struct check_options {
    const char *layer; /* NULL: all */
    bool preemption;
    uint64_t quantum_ns; /* 0: from the calibration of the profile's host */
    unsigned threads;    /* that take turns on a CPU, at least 2 */
};

/* Prints a line for each profile, or a line for each inconsistency; of a recording for each layer.
 * Returns STATUS_NOT_SO if one is not consistent, STATUS_TROUBLE if one cannot be read, or no quantum is known */
enum status check_profiles(const struct check_options *options, char *const *names, size_t count);

#endif

/* Control groups (version 2) by the numbers that the kernel tells. */
#ifndef WAIT_CGROUPS_H
#define WAIT_CGROUPS_H

#include <stdbool.h>

#include "containers.h"

#define WAIT_WHO_SIZE 256

struct wait_cgroups; /* opaque */

/* Reads all that there are now.
 * only:    the one whose threads are looked at, with those below; its directory is NULL: all
 * Owner:   the caller destroys it. Returns NULL without memory */
struct wait_cgroups *wait_cgroups_create(const struct attach_cgroup *only);
void wait_cgroups_destroy(struct wait_cgroups *cgroups);

/* Whether threads of that group are looked at. One that is new is looked for. */
bool wait_cgroups_has(struct wait_cgroups *cgroups, uint64_t number);

/* What a control group is called: "/system.slice/cron.service", or the container. number: 0: of several */
void wait_cgroups_name(struct wait_cgroups *cgroups, uint64_t number, char ret_who[WAIT_WHO_SIZE]);

#endif

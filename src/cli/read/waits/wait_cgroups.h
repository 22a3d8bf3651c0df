/* Control groups (version 2) by the numbers that the kernel tells. */
#ifndef WAIT_CGROUPS_H
#define WAIT_CGROUPS_H

#include <stdbool.h>

#include "containers.h"
#include "wait_view.h"

struct wait_cgroups; /* opaque */

/* Reads all that there are now.
 * only:    the one whose threads are looked at, with those below; its directory is NULL: all
 * Owner:   the caller destroys it. Returns NULL without memory */
struct wait_cgroups *wait_cgroups_create(const struct attach_cgroup *only);
void wait_cgroups_destroy(struct wait_cgroups *cgroups);

/* Whether threads of that group are looked at. One that is new is looked for. */
bool wait_cgroups_has(struct wait_cgroups *cgroups, uint64_t number);

/* A wait_name_cgroup_fn: "/system.slice/cron.service", or the container. */
void wait_cgroups_name(void *context, uint64_t number, char ret_who[WAIT_WHO_SIZE]);

#endif

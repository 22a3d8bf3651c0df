/* Who a caller is: from the number of a thread, as requests have it, to its process. */
#ifndef PROCESS_H
#define PROCESS_H

#include "aggstats.h"

/* Reads /proc: the process's number, its start and the name of its program. False: it is gone, or hidden. An
 * aggstats_identify_fn; context is unused.
 * Threads: any */
bool process_identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

/* The same for a caller that waits for its first call to be answered, without its start: waits for nobody, so that whom
 * the caller's process waits for, or who waits for it, may be us. */
bool process_identify_first(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

/* Reads /proc: the path of its cgroup, of version 2 if there is that, cut at the front if it is too long. False: it is
 * gone, or hidden. May wait for somebody who moves processes between cgroups, and so for the caller: not while that
 * waits for us. */
bool process_identify_cgroup(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

#endif

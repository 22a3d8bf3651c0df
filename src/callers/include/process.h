/* Who a caller is: from the number of a thread, as in requests, to its process. */
#ifndef PROCESS_H
#define PROCESS_H

#include "aggstats.h"
#include "aggstats/caller_groups.h"

/* Reads /proc: the process's number, its start and the name of its program. Returns false if it has ended, or is hidden
 * from us. An aggstats_identify_fn; context is unused.
 * Threads: any */
bool process_identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

/* The same for a caller that waits for the answer to its first call, without its start. This waits for nobody: anything
 * that the caller's process waits for, or that waits for it, may be ourselves. */
bool process_identify_first(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

/* Reads /proc: the path of its cgroup, of version 2 if there is one, cut at the front if it is too long. Returns false
 * if the process has ended, or is hidden from us. May wait for somebody who moves processes between cgroups, and so for
 * the caller: do not call it while the caller waits for us. */
bool process_identify_cgroup(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

#define PROCESS_CGROUPS_SIZE 16384

/* Reads /proc: the text about all of its cgroups, a line for each hierarchy. Returns false if it has ended, or is hidden
 * from us. May wait as process_identify_cgroup() does. */
bool process_cgroups_read(uint32_t thread, char ret_text[PROCESS_CGROUPS_SIZE]);

/* The path in the line of that text whose list has a controller ("blkio", "name=systemd"); "": of version 2; NULL: in
 * the first line. Cuts the text behind it. Returns NULL if there is none. A pure function
 * Owner:   text */
char *process_cgroup_in(char *text, const char *controller);

/* The function that identifies the callers of a grouping; NULL: none is needed. */
aggstats_identify_fn process_identify_by(enum aggstats_grouping grouping);

#endif

/* What is recorded of calls: the session of the mount, with its live file; groups, which can be switched while calls
 * are served, and their names. */
#ifndef DAEMON_RECORDING_H
#define DAEMON_RECORDING_H

#include <stdbool.h>

#include "aggstats.h"
#include "holders.h"
#include "options.h"
#include "pass.h"
#include "prof.h"
#include "session.h"
#include "slow_log.h"

/* ---- Paths of inodes (nodes) of the mount, for profiles by file ---- */

struct node_names {
    struct pass *pass;  /* borrowed; set before any op is called. It keeps names */
    unsigned depth_max; /* components of a directory's path; 0: any number */
    unsigned asking;    /* atomic: threads that ask the lower file system */
    bool is_ended;      /* atomic */
};

/* The node's path below the mount, "/" for the mount itself. It is cut at the front if it is too long, and ends with "
 * (deleted)" if the node is deleted. If the node is held or open, the kernel gives its path. Otherwise, if we may wait,
 * the lower file system gives a name that it has in memory. Otherwise the path is the name looked up last. If there are
 * several hard links, any of them. Returns false if the name may be outdated, or is a reason in parentheses. An
 * aggstats_name_fn; context: a struct node_names.
 * Threads: any */
bool node_name(void *context, uint64_t node, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]);

/* From now on the lower file system is not asked. Returns false if it has not answered for a second, and may never */
bool node_names_end(struct node_names *names);

/* ---- What is recorded ---- */

struct recording {
    struct session session;        /* its lock is of all changes, since all choose the wrapper of each op */
    const struct options *options; /* borrowed, like all that follows */
    struct prof *prof;
    struct node_names *names;
    struct slow_holders holders; /* its own; and causes of slow calls */
    aggstats_path_fn path_of;
    void *path_context;
    struct slow_log *slow_log; /* NULL: no log */
    unsigned groupings;        /* that are on, as bits */
};

/* Makes the recorder and its live file. Prints errors. The log may be set later.
 * lower, mountpoint: absolute; profile: path of the final one
 * Owner:   the caller finishes the session
 * Errors:  those of the live file, if one was asked for by name, and of starting */
int recording_open(struct recording *recording, const char *lower, const char *mountpoint, const char *profile);

/* Begins what the command line asks for, before any call. Prints errors. Errors: those of the recorder */
int recording_start(struct recording *recording);

/* Whether the pass layer must keep names from the beginning on, or for these groupings. */
bool recording_needs_names(const struct options *options, unsigned groupings);

/* Has calls grouped, or no more. If these groupings are on already nothing changes. context: a struct recording.
 * Threads: any
 * Errors:  -EOPNOTSUPP nothing is recorded here, -EBUSY others are on, or the depth of directories is another; those of
 *          the recorder; nothing has changed */
int recording_set_groups(void *context, const struct control_groups *wanted);

/* From now on calls are recorded one by one too; NULL: no more. Threads: any */
void recording_set_events(struct recording *recording, struct events_recorder *events);

#endif

/* Records that can be switched on and off while calls are served: joint profiles, groups, and causes of slow calls. */
#ifndef DAEMON_RECORDING_H
#define DAEMON_RECORDING_H

#include <pthread.h>
#include <stdbool.h>

#include "aggstats.h"
#include "aggstats/slow.h"
#include "mount_options.h"
#include "node_name.h"
#include "prof.h"
#include "slow_holders.h"
#include "slow_log.h"

struct recording {
    bool is_recorded;                   /* if false, nothing can be changed (timing) */
    struct aggstats_recorder *recorder; /* borrowed, like all that follows */
    struct prof *prof;
    const struct options *options;
    struct node_names *names;
    struct slow_holders holders; /* its own; and causes of slow calls */
    aggstats_path_fn path_of;
    void *path_context;
    struct slow_log *slow_log; /* NULL: no log */
    unsigned groupings;        /* that are on, as bits */
    pthread_mutex_t lock;      /* of all, since all choose the wrapper of each op */
};

/* Begins what the command line asks for, before any call. Prints errors. Errors: those of the recorder */
int recording_start(struct recording *recording);

/* Whether the pass layer must keep names from the beginning on, or for these groupings. */
bool recording_needs_names(const struct options *options, unsigned groupings);

/* "OP VALUE", "OP off" or "off": see struct control. Returns what is wrong; NULL: the argument is valid, and was
 * applied if apply.
 * context: a struct recording.
 * Threads: any */
const char *recording_set_joint(void *context, const char *argument, bool apply);

/* Has calls grouped, or no more. If these groupings are on already nothing changes. context: a struct recording.
 * Threads: any
 * Errors:  -EOPNOTSUPP nothing is recorded here, -EBUSY others are on, or the depth of directories is another; those of
 *          the recorder; nothing has changed */
int recording_set_groups(void *context, const struct control_groups *wanted);

/* Sets how long calls take that are slow; 0: none is. context: a struct recording.
 * Threads: any
 * Errors:  -EOPNOTSUPP nothing is recorded here; those of the recorder */
int recording_set_slow(void *context, uint64_t ns);

/* From now on calls are recorded one by one too; NULL: no more. Threads: any */
void recording_set_events(struct recording *recording, struct events_recorder *events);

#endif

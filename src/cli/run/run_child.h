/* One run of the command of osprof run: started as the caller would have started it, waited for, with signals passed on
 * that osprof gets. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <stdbool.h>

#include "command.h"
#include "namespace.h"
#include "run_identity.h"
#include "run_mounts.h"
#include "run_neighbours.h"
#include "run_user.h"
#include "signals.h"

struct run_outcome {
    int status;      /* exit status, as in a shell */
    bool is_started; /* false: it could not be executed, which has been reported */
    bool is_killed;  /* by a signal */
};

/* arguments: NULL at the end; the first is searched in PATH
 * as:        whom the process becomes
 * mounts:    notice daemons that end meanwhile
 * user:      the library to preload; NULL: none
 * neighbours: get their look at other processes; NULL: nobody wants to know
 * Errors:  -errno, no process could be made; not reported yet */
int run_child(const char *const *arguments, const struct namespace *space, const struct run_identity *as,
              const struct signals *signals, struct run_mounts *mounts, struct run_user *user,
              struct run_neighbours *neighbours, struct run_outcome *ret_outcome);

#endif

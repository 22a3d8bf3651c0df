/* One run of the command of osprof run: started as the caller would have started it, waited for, and told of the
 * signals that osprof gets. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <stdbool.h>

#include "command.h"
#include "namespace.h"
#include "run_mounts.h"
#include "run_user.h"
#include "signals.h"

struct run_outcome {
    int status;      /* exit status, as a shell says it */
    bool is_started; /* else it could not be executed, which has been said */
    bool is_killed;  /* by a signal */
};

/* arguments: NULL at the end; the first is looked for in PATH
 * mounts:    are told of daemons that end meanwhile
 * user:      what it is to be preloaded with; NULL: nothing
 * Errors:    -errno, no process could be made; not told yet */
int run_child(const char *const *arguments, const struct namespace *space, const struct signals *signals,
              struct run_mounts *mounts, const struct run_user *user, struct run_outcome *ret_outcome);

#endif

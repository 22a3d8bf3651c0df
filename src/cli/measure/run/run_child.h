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

/* Where a command runs. All borrowed */
struct run_place {
    const struct namespace *space;
    const struct run_identity *as; /* the process becomes that user */
    const struct signals *signals;
    struct run_mounts *mounts;         /* notice daemons that end meanwhile */
    struct run_user *user;             /* the library to preload */
    struct run_neighbours *neighbours; /* get their look at other processes; NULL: nobody wants to know */
};

/* arguments: NULL at the end; the first is searched in PATH
 * Errors:  reported to the user: no process could be made */
int run_child(const char *const *arguments, const struct run_place *place, struct run_outcome *ret_outcome);

#endif

/* One run of the command of osprof run: started as the caller would have started it, waited for, with signals passed on
 * that osprof gets; and the processes that it leaves behind, whose later calls are in no profile. */
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

/* Adds the end of a run: the first that failed stays. */
void run_outcome_add_exit(const struct run_outcome *outcome, struct aggstats_exit *exit);

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

/* ---- What the command leaves behind ------------------------------------------------------------- */

#define RUN_LEFT_MAX 256 /* those beyond are missed */

struct run_left_process {
    pid_t pid;
    char program[AGGSTATS_PROGRAM_SIZE];
};

struct run_left {
    struct run_left_process processes[RUN_LEFT_MAX];
    size_t count;
};

/* Finds the processes of the run that exist now, by their environment, into which the layer user has put a variable, and
 * by their mount namespace. user, mounts: as they ran. If that takes more than a second, finds none */
void run_left_find(struct run_left *ret_left, const struct run_user *user, const struct run_mounts *mounts);

#define RUN_LEFT_TEXT_SIZE 1024

/* Reports those that exist a moment later, if any exist now. ret_names: for a header line; "": none */
void run_left_tell(struct run_left *left, const struct run_user *user, const struct run_mounts *mounts,
                   char ret_names[RUN_LEFT_TEXT_SIZE]);

#endif

/* Processes of a run that still exist when its command has ended: their later calls are in no profile.
 *
 * They are recognised by their environment, into which the layer user has put a variable, and by their mount
 * namespace. */
#ifndef RUN_LEFT_H
#define RUN_LEFT_H

#include "run_mounts.h"
#include "run_user.h"

#define RUN_LEFT_MAX 256 /* those beyond are missed */

struct run_left_process {
    pid_t pid;
    char program[AGGSTATS_PROGRAM_SIZE];
};

struct run_left {
    struct run_left_process processes[RUN_LEFT_MAX];
    size_t count;
};

/* Finds those that exist now. user, mounts: as they ran. If that takes more than a second, finds none */
void run_left_find(struct run_left *ret_left, const struct run_user *user, const struct run_mounts *mounts);

#define RUN_LEFT_TEXT_SIZE 1024

/* Reports those that exist a moment later, if any exist now. ret_names: for a header line; "": none */
void run_left_tell(struct run_left *left, const struct run_user *user, const struct run_mounts *mounts,
                   char ret_names[RUN_LEFT_TEXT_SIZE]);

#endif

/* Processes of a run that are still there when its command has ended: what they do from then on is in no profile.
 *
 * They are known by their environment, which the layer user has put a variable into, and by their mount namespace. */
#ifndef RUN_LEFT_H
#define RUN_LEFT_H

#include "run_mounts.h"
#include "run_user.h"

#define RUN_LEFT_MAX 256 /* those beyond are not seen */

struct run_left_process {
    pid_t pid;
    uint64_t start; /* since when it is that process, in the kernel's ticks */
    char program[AGGSTATS_PROGRAM_SIZE];
};

struct run_left {
    struct run_left_process processes[RUN_LEFT_MAX];
    size_t count;
};

/* Those that are there now. user, mounts: as they ran. Where that cannot be found out within a second there are none */
void run_left_find(struct run_left *ret_left, const struct run_user *user, const struct run_mounts *mounts);

#define RUN_LEFT_TEXT_SIZE 1024

/* Says which of them are still there a moment later. ret_names: for a header line; "": none is */
void run_left_tell(struct run_left *left, const struct run_user *user, const struct run_mounts *mounts,
                   char ret_names[RUN_LEFT_TEXT_SIZE]);

#endif

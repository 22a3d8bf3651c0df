/* Processes whose waits are looked at: those that are asked for, and those that they start. */
#ifndef WAIT_PROCESSES_H
#define WAIT_PROCESSES_H

#include <stdbool.h>

#include "attach_processes.h"
#include "number_map.h"
#include "waited.h"

struct wait_processes {
    bool are_some;          /* false: all processes are looked at */
    struct number_map some; /* when they began, by number */
    bool has_ended;         /* some are marked as ended */
};

/* Owner:   the caller finishes *ret_processes
 * Errors:  -ENOMEM */
int wait_processes_init(struct wait_processes *ret_processes, const struct attach_processes *asked);
void wait_processes_finish(struct wait_processes *processes);

/* Whether it is of one of them. One that they have started is one from then on. */
bool wait_processes_have(struct wait_processes *processes, const struct waited_cell *cell);

/* Marks those that have ended by now; forgets those that were marked. The kernel gives their numbers to other processes.
 * What was counted before they were marked is looked at in between: a process may be known as a child of theirs only. */
void wait_processes_mark_ended(struct wait_processes *processes);
void wait_processes_forget_ended(struct wait_processes *processes);

#endif

/* What proc_pid_stat(5) says of a thread. */
#ifndef PROC_STAT_H
#define PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
    char text[1024];
    const char *name;  /* of the program: any bytes. Owner: text, as of the next */
    const char *state; /* what follows the name: "S 1 4711 ..." */
};

/* Reads the thread's own file: that of its process sums times up over all its threads. A copy of *ret_stat is of no
 * use. Returns false if the thread is gone, or hidden */
bool proc_stat_read(uint64_t thread, struct proc_stat *ret_stat);

/* A field by its number in the manual, from 3, the state, on; NULL: there are not so many. Owner: stat */
const char *proc_stat_field(const struct proc_stat *stat, unsigned number);

#endif

/* What proc_pid_stat(5) says of a thread. */
#ifndef PROC_STAT_H
#define PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
    char text[1024];
    const char *name;  /* the program's name, which may hold any bytes. Owner: text; so does state */
    const char *state; /* the text behind the name: "S 1 4711 ..." */
};

/* Reads the file of the thread itself; the file of its process has the sum of all its threads. *ret_stat may not be
 * copied: it points into itself. Returns false if the thread is gone, or hidden from us */
bool proc_stat_read(uint64_t thread, struct proc_stat *ret_stat);

/* A field by its number in the manual, from 3 (the state) on. Returns NULL if there are not so many. Owner: stat */
const char *proc_stat_field(const struct proc_stat *stat, unsigned number);

#endif

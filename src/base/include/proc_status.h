/* What proc_pid_status(5) says of a thread. Unlike proc_stat.h this does not wait while the thread executes a new
 * program. */
#ifndef PROC_STATUS_H
#define PROC_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number in the line that begins with "name:", in base 10 or 16. Returns false if the thread is gone or
 * hidden from us */
bool proc_status_number(uint64_t thread, const char *name, int base, uint64_t *ret_number);

#endif

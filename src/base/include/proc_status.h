/* What proc_pid_status(5) says of a thread. Unlike proc_stat.h it does not wait for a program that is being executed.
 */
#ifndef PROC_STATUS_H
#define PROC_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* A number, of base 10 or 16, in the line that begins with "name:". Returns false if the thread is gone, or hidden */
bool proc_status_number(uint64_t thread, const char *name, int base, uint64_t *ret_number);

#endif

/* The names of processes, from /proc. */
#ifndef PROCESS_NAME_H
#define PROCESS_NAME_H

#include <stddef.h>
#include <stdint.h>

/* The name of a process or thread (its comm): any bytes. "" if there is no such process. */
void process_name_read(uint64_t pid, char *ret_name, size_t size_bytes);

#endif

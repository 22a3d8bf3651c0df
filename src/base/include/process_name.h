/* The names of processes, from /proc. */
#ifndef PROCESS_NAME_H
#define PROCESS_NAME_H

#include <stddef.h>
#include <stdint.h>

/* What a process, or a thread, calls itself: any bytes. "" if there is none of that number. */
void process_name_read(uint64_t pid, char *ret_name, size_t size_bytes);

#endif

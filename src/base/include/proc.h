/* What /proc says of a process or thread: its name, and what proc_pid_stat(5) and proc_pid_status(5) have. */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a process or thread (its comm): any bytes. "" if there is no such process. */
void proc_name_read(uint64_t pid, char *ret_name, size_t size_bytes);

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

/* True for a thread of the kernel. */
bool proc_stat_is_of_kernel(const struct proc_stat *stat);

/* Reads the number in the line of a thread's status that begins with "name:", in base 10 or 16. Unlike proc_stat_read()
 * this does not wait while the thread executes a new program. Returns false if the thread is gone or hidden from us */
bool proc_status_number(uint64_t thread, const char *name, int base, uint64_t *ret_number);

/* Sums of proc_pid_io(5). */
struct proc_io {
    uint64_t read_bytes; /* by system calls; of pipes, sockets and terminals too, like the next three */
    uint64_t written_bytes;
    uint64_t reads; /* system calls, those that failed included */
    uint64_t writes;
    uint64_t storage_read_bytes;    /* what had to be read from storage */
    uint64_t storage_written_bytes; /* what is to be written there, also if that is later */
};

/* who: "self" or a number: the process, with its threads that have ended and its children that have been waited for; or
 * "thread-self". Returns false if the kernel does not say */
bool proc_io_read(const char *who, struct proc_io *ret_io);

#endif

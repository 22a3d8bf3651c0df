/* Private: what the processes that read programs may do.
 *
 * They need the right to see what any process has mapped and to read any file, and nothing else: their user owns no file and
 * no other process, and a filter of system calls lets them open files to read only, and start, execute, signal or connect
 * to nothing. */
#ifndef READER_RIGHTS_H
#define READER_RIGHTS_H

#include <stdbool.h>

/* Whether this process has the capabilities that they keep, and those to give up the others. */
bool reader_rights_are_there(void);

/* Gives up all but these, for good, with limits of memory.
 * Errors:  those of setgroups(2), setresuid(2) and capset(2) */
int reader_rights_give_up(void);

/* Allows only system calls that read files. Errors: those of seccomp(2) */
int reader_rights_filter(void);

#endif

/* Private: the rights of the readers, the processes that read programs.
 *
 * A reader needs the right to see the mappings of any process and to read any file, and no other right. The user of a
 * reader owns no file and no other process. A seccomp filter allows a reader to open files only for reading, and does
 * not allow a reader to start, execute or signal processes, or to connect. */
#ifndef READER_RIGHTS_H
#define READER_RIGHTS_H

#include <stdbool.h>

/* Whether this process has the capabilities that readers keep, and the capabilities needed to change the user. */
bool reader_rights_are_there(void);

/* Gives up all other capabilities for good, changes the user, and limits memory.
 * Errors:  those of setgroups(2), setresuid(2) and capset(2) */
int reader_rights_give_up(void);

/* Allows only system calls that read files. Errors: those of seccomp(2) */
int reader_rights_filter(void);

#endif

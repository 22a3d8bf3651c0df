/* Private: programs that are named in the live file, beside the notes that count them. All keep errno. */
#ifndef NAMING_H
#define NAMING_H

#include <sys/types.h>

#include "aggstats/shared.h"
#include "posix_ops.h"

/* Call after posix_note(), which joins the live file.
 * pid:     0: not known yet, or never: then nobody knows how long it runs
 * Returns NULL if it cannot be named */
struct aggstats_named_program *posix_name(enum posix_note note, const char *name, pid_t pid);

/* Adds the program of this process to the named programs, when it is observed differently from now on. */
void posix_name_self(enum posix_note note, pid_t pid);

/* Notes the process in which the program runs. */
void posix_name_pid(struct aggstats_named_program *program, pid_t pid);

#endif

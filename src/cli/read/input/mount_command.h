/* Commands for the process that profiles a mount: lines of its control file. */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

#include <stdbool.h>

/* Sends a line, such as "reset". place: as for input_command()
 * Errors:  reported to the user */
int mount_command(const char *place, const char *line);

/* The same for a line that ends with a file, "VERB FILE". The file is made here, with the rights and in the directories of
 * this process, and gets its name when the command has succeeded. What is there already is treated as by output_write().
 * Errors:  reported to the user; existing files are untouched */
int mount_command_file(const char *place, const char *verb, const char *file);

#endif

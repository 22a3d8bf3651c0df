/* Commands that mounts are given through their control files. */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

/* Writes "VERB FILE" to the control file of a mount. file: NULL for none; relative to the directory that osprof is in.
 * Complains about all but errors of the command itself.
 * Returns 0, -errno of the command, or 1 after a complaint */
int mount_command(const char *mount, const char *verb, const char *file);

/* What went wrong with the file, for a message. */
const char *mount_command_why(int error);

#endif

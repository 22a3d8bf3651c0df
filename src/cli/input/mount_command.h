/* Commands that mounts are given. */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

/* What becomes of the file that a command is about. */
enum mount_file_use {
    MOUNT_FILE_REPLACED, /* it is written, and takes the place of what has its name */
    MOUNT_FILE_NEW,      /* it is written, and gets its name, which nothing may have, when the mount says so */
    MOUNT_FILE_FILLED,   /* it has its name at once, which nothing may have, and is written from now on */
};

/* Gives the process that serves a mount the command "VERB FILE". The file is made here, with the rights and in the
 * directories of this process. file: NULL for none. Complains about all but errors of the command itself.
 * Returns 0, -errno of the command, or 1 after a complaint */
int mount_command(const char *mount, const char *verb, const char *file, enum mount_file_use use);

/* What went wrong with the file, for a message. */
const char *mount_command_why(int error);

#endif

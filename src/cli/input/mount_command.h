/* Commands that mounts are given. */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

#include "command.h"

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

/* A subcommand of osprof that does one thing to a mount: most give it a command, perhaps about a file. */
struct mount_verb {
    const char *verb;
    enum mount_file_use use;
    int files_min; /* that may follow the mount point */
    int files_max;
    const char *wrong_usage; /* how many arguments there must be */
    const char *failed;      /* what cannot be done: "cannot rotate the profile of"; the mount follows */
    const char *to;          /* and then "into", and the file; NULL: nothing */
    const char *no_file;     /* which file, where none is named */
    const char *unchanged;   /* behind the reason; NULL: nothing */
    const char *(*why)(int error, const char *file); /* NULL: no reason of its own */
    enum status (*act)(const char *mount);           /* instead of all that: does it, and tells; NULL: a command */
};

/* struct command.run of those that have one. */
enum status mount_verb_run(const struct command *command, int argc, char **argv);

#endif

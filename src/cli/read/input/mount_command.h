/* Commands for mounts. */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

#include "command.h"

/* How the file of a command is used. */
enum mount_file_use {
    MOUNT_FILE_REPLACED, /* it is written, and then replaces an existing file of its name */
    MOUNT_FILE_NEW,      /* it is written, and gets its name, which must be free, when the mount says so */
    MOUNT_FILE_FILLED,   /* it gets its name, which must be free, at once, and is written later */
    MOUNT_NO_FILE,       /* it is no file, but a word */
};

/* A subcommand of osprof that does one thing to a mount: most send it a command, perhaps with a file. */
struct mount_verb {
    const char *verb;
    enum mount_file_use use;
    int files_min; /* arguments behind the mount point */
    int files_max;
    const char *wrong_usage; /* error for a wrong number of arguments */
    const char *failed;      /* the failed action: "cannot rotate the profile of"; the mount follows */
    const char *to;          /* followed by "into" and the file; NULL: nothing */
    const char *no_file;     /* the file that is used if none is named */
    const char *unchanged;   /* behind the reason; NULL: nothing */
    const char *(*why)(int error, const char *file); /* reasons of its own; NULL: none */
    enum status (*act)(const char *mount);           /* replaces all that: does it, and reports; NULL: send a command */
};

/* The function struct command.run of such subcommands. */
enum status mount_verb_run(const struct command *command, int argc, char **argv);

#endif

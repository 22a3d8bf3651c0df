/* Saving the final profiles of several mounts in one directory without overwriting one by another. */
#ifndef FINAL_FILE_H
#define FINAL_FILE_H

#include <sys/types.h>

#include "control.h"

/* For the user, with the path of the existing file: why the profile goes to another one. */
#define FINAL_FILE_IS_TAKEN "%s holds the profile of another mount, or a later one"

/* Saves a profile in the regular file `name` of a directory. An existing file is replaced, unless it is the profile of
 * another mount, or of a mount that began later: then the profile goes to a new file NAME.1, NAME.2 and so on.
 * Processes that save in the directory at the same time wait for each other.
 * keeps_old: the existing file is kept as NAME.old, and an existing file of that name is treated in the same way.
 * ret_other_name: the new file's name; NULL: it is `name`.
 * Owner:   the caller frees it
 * Errors:  as those of replace_file(); -EEXIST there are too many such files */
int final_file_save(int dir_fd, const char *name, bool keeps_old, mode_t mode, const struct control_text *text,
                    char **ret_other_name);

#endif

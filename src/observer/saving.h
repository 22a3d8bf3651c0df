/* Where profiles of a mount are saved: the final one, and those of commands. */
#ifndef SAVING_H
#define SAVING_H

#include <stdbool.h>
#include <sys/types.h>

#include "control.h"

struct saving {
    const struct control *control; /* makes the profile */
    dev_t device;                  /* of the mount, in which nothing is saved */
    const char *profile;           /* path of the final one; absolute; NULL: it is not saved here */
    bool keeps_old;                /* an existing file is kept as NAME.old */
};

/* Whether the final profile can be saved, judging by its directory. Errors: as those of saving_save() */
int saving_check(const struct saving *saving);

/* Saves the final profile. *ret_other: the path that it went to if another file must stay in its place (final_file.h);
 * NULL: it is in its place.
 * Owner:   the caller frees it
 * Errors:  -errno; -ELOOP the place lies in the mount */
int saving_save(const struct saving *saving, char **ret_other);

/* Saves the profile so far in a file that the client has opened, or, without a name, to the place of the final one. A
 * control_file_fn; context: a struct saving */
int saving_dump(void *context, const struct control_file *file);

/* Saves it in a new file that the client has opened, and begins the next. A control_file_fn; context: a struct
 * saving */
int saving_rotate(void *context, const struct control_file *file);

#endif

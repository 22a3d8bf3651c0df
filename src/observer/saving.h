/* Where profiles of a mount are saved: the final one, and those that commands ask for. */
#ifndef SAVING_H
#define SAVING_H

#include <stdbool.h>
#include <sys/types.h>

#include "control.h"

struct saving {
    const struct control *control; /* whose profile it is */
    dev_t device;                  /* of the mount, in which nothing is saved */
    const char *profile;           /* where the final one goes; absolute */
    bool keeps_old;                /* what is there then gets ".old" behind its name */
};

/* Whether the final profile can be saved, as far as its directory tells. Errors: as those of saving_save() */
int saving_check(const struct saving *saving);

/* Saves the final profile. *ret_other: the path that it went to, since its place holds what must stay (final_file.h);
 * NULL: it is in its place.
 * Owner:   the caller frees it
 * Errors:  -errno; -ELOOP the place lies in the mount */
int saving_save(const struct saving *saving, char **ret_other);

/* Saves the profile so far in a file that who asks has opened, or, without a name, where the final one goes. A
 * control_file_fn; context: a struct saving */
int saving_dump(void *context, const struct control_file *file);

/* Saves it in a new file that who asks has opened, and begins the next. A control_file_fn; context: a struct saving */
int saving_rotate(void *context, const struct control_file *file);

#endif

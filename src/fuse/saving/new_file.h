/* A new file, made in two steps: it is written while it has no name, which may take long, and then gets its name at
 * once. An existing file is never replaced. */
#ifndef NEW_FILE_H
#define NEW_FILE_H

#include <sys/types.h>

#include "base.h"
#include "control.h"

struct new_file {
    int dir_fd; /* -1: none */
    struct nameless_file file;
};

#define NEW_FILE_NONE                                                                                                  \
    { .dir_fd = -1, .file.fd = -1 }

/* dir_fd: taken over, also on failure. Errors: those of writing; the caller finishes *file in any case */
int new_file_write(struct new_file *file, int dir_fd, mode_t mode, const struct control_text *text);

/* Errors: -EEXIST the name is taken; those of renaming */
int new_file_name(struct new_file *file, const char *name);

/* Removes it, unless it has got its name. */
void new_file_finish(struct new_file *file);

#endif

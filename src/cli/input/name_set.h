/* Names of profiles, as arguments give them: "@FILE" stands for those in a file, one a line. */
#ifndef NAME_SET_H
#define NAME_SET_H

#include <stdbool.h>
#include <stddef.h>

struct name_set {
    char **names; /* [count], in their order; empty lines of files are none */
    size_t count;
};

/* "@-" is standard input; "./@x" is a file of the name @x.
 * Owner:   the caller finishes *ret_set, also after an error
 * Errors:  a file cannot be read, or -ENOMEM: told to the user */
int name_set_of(char *const *arguments, size_t count, struct name_set *ret_set);

/* The profiles in a directory, by their names, which end with .osprof and begin with prefix.
 * Owner:   the caller finishes *ret_set, also after an error
 * Errors:  what failed, not told */
int name_set_in(const char *directory, const char *prefix, struct name_set *ret_set);

/* Whether a name stands for what is in a directory. */
bool name_is_directory(const char *name);

void name_set_finish(struct name_set *set);

#endif

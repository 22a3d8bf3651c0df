/* Names of profiles, as arguments give them: "@FILE" stands for those in a file, one a line. */
#ifndef NAME_LIST_H
#define NAME_LIST_H

#include <stddef.h>

struct name_list {
    char **names; /* [count], in their order; empty lines of files are none */
    size_t count;
};

/* "@-" is standard input; "./@x" is a file of the name @x.
 * Owner:   the caller finishes *ret_list, also after an error
 * Errors:  a file cannot be read, or -ENOMEM: told to the user */
int name_list_of(char *const *arguments, size_t count, struct name_list *ret_list);

/* Those in a directory that begin and end so, in the order of their names.
 * Owner, errors: as above */
int name_list_in(const char *directory, const char *prefix, const char *suffix, struct name_list *ret_list);

void name_list_finish(struct name_list *list);

#endif

/* Lists of profiles: a name a line, read one at a time. */
#ifndef NAME_LIST_H
#define NAME_LIST_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

struct name_list {
    FILE *stream;
    const char *name; /* of the list, for messages */
    size_t line_number;
};

/* name: "-" is standard input. Errors: told to the user */
int name_list_open(struct name_list *ret_list, const char *name);

/* 1: ret_name is the next one; 0: end of the list. Empty lines are none.
 * Errors: told to the user */
int name_list_next(struct name_list *list, char ret_name[PATH_MAX]);

void name_list_close(struct name_list *list);

#endif

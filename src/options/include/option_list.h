/* The values of an option that may be repeated. */
#ifndef OPTION_LIST_H
#define OPTION_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: not given. */
struct option_list {
    const char **texts; /* borrowed from the command line */
    size_t count;
};

/* Errors: -ENOMEM */
int option_list_add(struct option_list *list, const char *text);
void option_list_finish(struct option_list *list);

/* True if a list of names, as of --op, has this one, in letters of either case. An empty list has all. */
bool option_list_wants(const struct option_list *list, const char *name);

#endif

/* The command line: reading it, and what it is said to be. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "mount_options.h"

/* Says what is wrong, in one line on stderr.
 * Owner:   the caller calls options_finish(), also on error
 * Errors:  -EINVAL, -ENOMEM */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_finish(struct options *options);

/* Whether this is one of our options: "noatime", "cache=none". */
bool options_have(const char *argument);

/* On standard output. */
void options_print_help(void);
void options_print_version(void);

/* Prints for completions/ what may stand on the command line: see option_print_completion(). Options that do not begin
 * with "-" are those of -o; those that take something end with "=". */
void options_print_completion(void);

#endif

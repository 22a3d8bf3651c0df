/* The command line: parsing it, and its description for people and shells. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "mount_options.h"

/* Reports errors in one line on stderr.
 * Owner:   the caller calls options_finish(), also on error
 * Errors:  -EINVAL, -ENOMEM */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_finish(struct options *options);

/* True if this is one of our options: "noatime", "cache=none". */
bool options_have(const char *argument);

/* Prints to standard output. */
void options_print_help(void);
void options_print_version(void);

/* Prints for completions/ what may stand on the command line: see option_print_completion(). Options that do not begin
 * with "-" are those of -o; options with a value end with "=". */
void options_print_completion(void);

#endif

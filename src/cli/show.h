/* What osprof show prints, for other subcommands. */
#ifndef SHOW_H
#define SHOW_H

#include <stdio.h>

#include "command.h"
#include "input.h"

/* Prints a profile as 'osprof show' does, with the joint profiles that it has.
 * name: of the profile, for messages */
enum status show_profile(const struct input *input, const char *name, FILE *stream);

#endif

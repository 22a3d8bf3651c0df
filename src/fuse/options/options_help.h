/* What may stand on the command line, on standard output. */
#ifndef OPTIONS_HELP_H
#define OPTIONS_HELP_H

void options_print_help(void);
void options_print_version(void);

/* Prints for completions/ what may stand on the command line, as "osprof --complete COMMAND" does: a line for each way
 * to write an option, and for the arguments, as "*"; what it takes; and words. Options that do not begin with "-" are
 * those of -o; those that take something end with "=". "list": words, with "+" between. */
void options_print_completion(void);

#endif

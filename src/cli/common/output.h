/* Where a command's result goes: standard output, or a file that is replaced as a whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "aggstats.h"

/* path: of -o; NULL and "-" are standard output, whose errors main() reports. */
bool output_is_stdout(const char *path);

/* Writes what is left. Returns false if that or a write before it has failed; *ret_errno is 0 if it is not known why. */
bool output_finish_stdout(int *ret_errno);

/* Errors: the failed call's; an existing file is untouched then */
int output_write(const char *path, const char *text, size_t size_bytes);

/* The same for a file of that mode. */
int output_write_with_mode(const char *path, mode_t mode, const char *text, size_t size_bytes);

/* The same for a file that only its owner may read. */
int output_write_private(const char *path, const char *text, size_t size_bytes);

/* Lets a function write a result to memory, so that it can be written to its file whole or not at all.
 * Owner:   the caller frees *ret_text
 * Errors:  those of the function, -ENOMEM */
int output_format(int (*write)(const void *context, FILE *stream), const void *context, char **ret_text,
                  size_t *ret_bytes);

/* Writes a result to the file of -o, or without that to a default file, and prints the default's name. Returns false after
 * reporting an error */
bool output_deliver(const char *path, const char *default_path, mode_t mode, const char *text, size_t size_bytes);

/* The mode of a file with that profile: for its owner only, if it names files of calls in flight. */
mode_t output_mode(const struct aggstats_profile *profile);

/* The same with a profile as text. */
int output_write_profile(const char *path, const struct aggstats_profile *profile);

#endif

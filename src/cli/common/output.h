/* Where a command's result goes: standard output, or a file that is replaced whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"

/* path: as given to -o; NULL and "-" are standard output, on which main() reports what goes wrong. */
bool output_is_stdout(const char *path);

/* Errors: what failed; an older file is untouched then */
int output_write(const char *path, const char *text, size_t size_bytes);

/* The same in a file of that mode. */
int output_write_with_mode(const char *path, mode_t mode, const char *text, size_t size_bytes);

/* The same in a file that is its owner's alone. */
int output_write_private(const char *path, const char *text, size_t size_bytes);

/* The mode of a file with that profile: its owner's alone if it names files of calls in flight. */
mode_t output_mode(const struct aggstats_profile *profile);

/* The same with a profile as text. */
int output_write_profile(const char *path, const struct aggstats_profile *profile);

#endif

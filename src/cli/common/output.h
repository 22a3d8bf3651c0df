/* Where a command's result goes: standard output, or a file, written whole or not at all.
 *
 * An existing result of osprof is kept as FILE.old. Another file is refused, or with --force replaced. A symbolic link, a
 * directory and a device are refused. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "aggstats.h"

/* A mark in pictures: osprof recognises them as its own results. */
#define OUTPUT_PICTURE_MARK "made by osprof plot"

/* path: of -o; NULL and "-" are standard output, whose errors main() reports. */
bool output_is_stdout(const char *path);

/* Writes what is left. Returns false if that or a write before it has failed; *ret_errno is 0 if it is not known why. */
bool output_finish_stdout(int *ret_errno);

/* Whether a result can be written to a file; for what takes a while. Errors: as those of output_write() */
int output_check(const char *path);

/* Errors:  -EEXIST it is no result of osprof, or FILE.old is none; -ELOOP it is a link; -EISDIR, -ENOTSUP; the failed
 *          call's; existing files are untouched */
int output_write(const char *path, mode_t mode, const char *text, size_t size_bytes);

/* The same in an open directory, where standard output is none. */
int output_check_at(int dir_fd, const char *name);
int output_write_at(int dir_fd, const char *name, mode_t mode, const char *text, size_t size_bytes);

/* Makes a name free for a new file: what output_write() would keep as FILE.old is renamed. Call when the new file is
 * complete. Errors: as those of output_write() */
int output_make_free(int dir_fd, const char *name);

/* Why a file was not written, and what to do; for the errors of output_write(). Threads: as strerror() */
const char *output_error_text(int error);

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

/* output_write() of a profile as text. */
int output_write_profile(const char *path, const struct aggstats_profile *profile);

#endif

/* What osprof run has measured: shown on standard error, or saved. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "recording.h"
#include "run_mounts.h"

/* Where profiles are saved, opened before anything is mounted over it. */
struct run_target {
    const char *given; /* NULL: nowhere; "-": standard output */
    int stream_fd;     /* a device or a pipe; -1: a file */
    int dir_fd;
    char *name;
    size_t count;      /* of directories; if there are several, FILE.1, FILE.2 and so on */
    size_t side_count; /* of profiles for each; if there are two, FILE.a and FILE.b, or FILE.1.a and so on */
    bool has_common;   /* with several directories: FILE gets the layers that are of all of them */
};

/* Errors: told to the user: a place that cannot be written is known before the command runs */
int run_target_open(struct run_target *ret_target, const char *given, size_t count, size_t side_count, bool has_common);
void run_target_finish(struct run_target *target);

#define RUN_TARGET_COMMON SIZE_MAX /* for a directory: all of them */

/* Saves a profile. What cannot be written goes to standard error. Errors: told to the user */
int run_target_save(const struct run_target *target, size_t directory, size_t side,
                    const struct aggstats_profile *profile);

/* Adds header lines: the command, and how many runs were counted if not one. Errors: -ENOMEM */
int run_report_describe(struct aggstats_profile *profile, const char *const *command, unsigned run_count);

/* A page on standard error, buffered, as that is not; an empty line comes first.
 * Owner:   the caller closes *ret_stream
 * Errors:  what failed */
int run_report_open(FILE **ret_stream);

/* Says that a profile could not be written, and prints it, if there was memory for its text. */
void run_report_not_written(const char *name, int error, const char *text);

/* What was run, and how its profiles are shown. */
struct run_shown {
    const char *const *command; /* its arguments, NULL at the end, also for the header */
    unsigned run_count;         /* how many runs were counted */
    bool charts;
    const char *still_running; /* what the command has left behind; "": nothing */
};

/* Shows or saves the layers that have been taken of the whole run, and those of all mounts, which have ended. Of one
 * directory all of them are one recording; of several the mounts' are apart.
 * layers:  gets header lines, and the layer of the mount if there is one
 * Errors:  told to the user; the other layers are shown or saved nevertheless */
int run_report(struct run_mounts *mounts, struct recording *layers, const struct run_target *target,
               const struct run_shown *shown);

#endif

/* The profiles of osprof run: shown on standard error, or saved. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kept.h"
#include "option_list.h"
#include "recording.h"
#include "report.h"
#include "run_mounts.h"
#include "run_neighbours.h"
#include "run_options.h"

/* The directory of the files that are profiled, for the command that is offered for what the layer user has not seen, osprof
 * attach: the only one that was given, or the current one. Call before any is left.
 * Returns NULL if there are several, or if osprof attach does not take it
 * Owner:   directories */
const char *run_report_attachable(const struct option_list *directories);

/* Where profiles, or a page, are saved; opened before anything is mounted over it. */
struct run_target {
    const char *what;  /* "profile" or "page", for messages */
    const char *given; /* NULL: nowhere; "-": standard output */
    int dir_fd;
    char *name;
    size_t count;      /* of directories; if there are several, FILE.1, FILE.2 and so on */
    size_t side_count; /* of profiles for each; if there are two, FILE.a and FILE.b, or FILE.1.a and so on */
    bool has_common;   /* with several directories: FILE gets the layers that all of them share */
};

/* Errors: reported to the user: a place that cannot be written is known before the command runs */
int run_target_open(struct run_target *ret_target, const char *what, const char *given, size_t count, size_t side_count,
                    bool has_common);
void run_target_finish(struct run_target *target);

#define RUN_TARGET_COMMON SIZE_MAX /* instead of a directory: all of them */

/* Saves a profile. If it cannot be written it is printed on standard error. Errors: reported to the user */
int run_target_save(const struct run_target *target, size_t directory, size_t side,
                    const struct aggstats_profile *profile);

/* Makes a page of HTML and saves it, if a file was given. report: without its subject
 * subject: what the page is about, not settled yet; the layer that is chosen is not reported
 * Errors:  reported to the user */
int run_target_save_page(const struct run_target *target, const struct report *report, struct subject *subject);

/* Adds header lines: the command, how many runs were counted if not one, and how they ended. Errors: -ENOMEM */
int run_report_describe(struct aggstats_profile *profile, const char *const *command, unsigned run_count,
                        const struct aggstats_exit *exit);

/* A page on standard error, buffered, unlike that itself; it begins with an empty line.
 * Owner:   the caller closes *ret_stream
 * Errors:  the failed call's */
int run_report_open(FILE **ret_stream);

/* Reports that a page could not be printed, as on a standard error that is closed. That is no error of the run: its status
 * stays the command's. */
void run_report_not_shown(const char *what, int error);

/* How long programs waited in their calls on files of a mount, which the layer user knows. */
struct run_programs {
    bool are_known;
    uint64_t wait_ns;
    uint64_t locking_ns;
};

/* What was run, and how its profiles are shown. */
struct run_shown {
    const struct run_options *options;
    unsigned run_count;        /* how many runs were counted */
    struct aggstats_exit exit; /* how they ended */
    const char *attach;        /* a directory, see run_report_attachable() */
    struct run_programs programs;
    const struct run_neighbours *neighbours;
    const char *still_running; /* the processes that the command has left behind; "": none */
};

/* Keeps, saves and shows the layers of the whole run, and those of all mounts, which have ended. For one directory all of them
 * are one recording; for several the mounts' are separate.
 * page:    of HTML about the layers of the whole run
 * layers:  gets header lines, and the layer of the mount if there is one
 * Errors:  reported to the user; the other layers are shown and saved nevertheless. That a page cannot be printed, or a
 *          result not be kept, is none */
int run_report(struct run_mounts *mounts, struct recording *layers, const struct run_target *target,
               const struct run_target *page, struct kept *kept, const struct run_shown *shown);

/* ---- Runs that are kept ------------------------------------------------------------------------- */

/* Directories in which each run of a comparison is a profile of its own: a-01.osprof, b-01.osprof and so on. 'osprof
 * compare DIR' takes them. */
struct run_sets {
    const char *given; /* NULL: nothing is kept */
    size_t count;      /* of profiled directories; if there are several, DIR.1, DIR.2 and so on */
    int parent_fd;
    char **names; /* [count] below the parent */
    int *fds;     /* [count] -1: not open */
};

/* Makes the directories, before anything is mounted over them; an existing one must be empty.
 * Owner:   the caller finishes *ret_sets, also after an error
 * Errors:  reported to the user */
int run_sets_open(struct run_sets *ret_sets, const char *given, size_t count);

/* Removes directories without a profile. */
void run_sets_finish(struct run_sets *sets);

/* Saves the profile of a run. side: 0 is A, 1 is B; run: from 1. If it cannot be written it is printed on standard
 * error.
 * Errors:  reported to the user */
int run_sets_save(const struct run_sets *sets, size_t directory, size_t side, size_t run,
                  const struct aggstats_profile *profile);

#endif

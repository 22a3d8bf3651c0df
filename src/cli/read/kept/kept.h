/* The results of the last runs of osprof run, which are kept without being asked for, so that they can be looked at
 * again. @1 is the last run, @2 the run before, and so on. A run that profiles several directories one by
 * one has several: @1.1, @1.2 and so on, and @1 has the layers that all of them share.
 *
 * They are files in the directory osprof of the XDG state directory, which are for their owner alone. A file's name is
 * the time at which it was kept, so names sort by time. A file gets its name when it is complete, and is never changed.
 * Several runs may end at once. */
#ifndef KEPT_H
#define KEPT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define KEPT_RUNS_MAX 10U

/* "20261127T070503.123456789Z" */
#define KEPT_STAMP_SIZE 27

/* Where the results of one run go. */
struct kept {
    int dir_fd;                  /* -1: they cannot be kept */
    char stamp[KEPT_STAMP_SIZE]; /* of this run; "": nothing has been kept yet */
    int error;                   /* why something is not kept; 0: all is */
    char path[PATH_MAX];         /* of the directory, for messages */
};

/* Opens the directory, and makes it if it is missing. Call before anything is mounted over it. It fails silently:
 * kept_save() reports it.
 * Owner:   the caller finishes *ret_kept */
void kept_open(struct kept *ret_kept);

/* Keeps one result, and forgets runs before the last ten.
 * part:    0: of the whole run; else the number of the directory
 * Errors:  kept->error */
void kept_save(struct kept *kept, size_t part, const char *text, size_t size_bytes);

/* Reports in one line why something is not kept. */
void kept_finish(struct kept *kept);

/* ---- Looking at them again ---------------------------------------------------------------------- */

/* True for "@1", "@2.1" and so on; a file of that name is "./@1". */
bool kept_is_name(const char *argument);

/* When a result was kept, in local time: "2026-11-27 08:05:03" */
#define KEPT_TIME_SIZE 32

#define KEPT_NAME_SIZE 24

struct kept_entry {
    char name[KEPT_NAME_SIZE]; /* "@2.1" */
    char time[KEPT_TIME_SIZE];
};

/* Lists what is kept, the last run first.
 * Owner:   the caller frees *ret_entries
 * Errors:  reported to the user: there is nothing, or it cannot be found */
int kept_list(struct kept_entry **ret_entries, size_t *ret_count);

/* Opens the result of that name for reading.
 * Owner:   the caller closes *ret_fd
 * Errors:  reported to the user: there is none */
int kept_open_named(const char *argument, int *ret_fd, char ret_time[KEPT_TIME_SIZE]);

#endif

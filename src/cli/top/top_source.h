/* Where osprof top gets its snapshots: from a live file, which works also when the mount hangs, or from a control
 * file. */
#ifndef TOP_SOURCE_H
#define TOP_SOURCE_H

#include "aggstats.h"

struct top_source {
    char *path;  /* of the live or the control file */
    int live_fd; /* kept, so that the last counts can be read of a live file that is gone; -1: a control file */
};

/* Finds what an argument names; NULL: the one mount that there is.
 * Owner:   the caller finishes *ret_source
 * Errors:  what failed, already told to the user; *ret_source untouched */
int top_source_open(const char *argument, struct top_source *ret_source);

void top_source_finish(struct top_source *source);

struct top_snapshot {
    struct aggstats_profile profile;
    bool paused;      /* known of live files only */
    int64_t pid;      /* of the process that records; 0: not known, of a control file */
    bool has_ended;   /* these counts are the last ones */
    int64_t taken_ns; /* Unix time */
};

/* Takes a snapshot.
 * Owner:   the caller finishes *ret_snapshot
 * Errors:  -ENOTCONN there is none: the mount has ended; -EAGAIN none at this moment; -EBADMSG what is there is no
 *          profile, -ENOMEM, and those of opening and reading; *ret_snapshot untouched */
int top_source_read(const struct top_source *source, struct top_snapshot *ret_snapshot);

/* Why there is no snapshot, for people. */
const char *top_source_reason(int error);

void top_snapshot_finish(struct top_snapshot *snapshot);

#endif

/* Where osprof top gets its snapshots: from a live file, which works even if the mount hangs, or from a control
 * file. */
#ifndef TOP_SOURCE_H
#define TOP_SOURCE_H

#include "aggstats.h"

struct top_source {
    char *path;  /* of the live or the control file */
    int live_fd; /* kept open, to read the last counts after its removal; -1: a control file */
};

/* Finds the source for an argument; NULL: the only mount.
 * Owner:   the caller finishes *ret_source
 * Errors:  the failed call's, already reported to the user; *ret_source untouched */
int top_source_open(const char *argument, struct top_source *ret_source);

void top_source_finish(struct top_source *source);

struct top_snapshot {
    struct aggstats_profile profile;
    bool paused;      /* known only of live files */
    int64_t pid;      /* of the recording process; 0: unknown, for a control file */
    bool has_ended;   /* these counts are the last ones */
    int64_t taken_ns; /* Unix time */
};

/* Takes a snapshot.
 * Owner:   the caller finishes *ret_snapshot
 * Errors:  -ENOTCONN there is none: the mount has ended; -EAGAIN none at this moment; -EBADMSG the file is no profile,
 *          -ENOMEM, and those of opening and reading; *ret_snapshot untouched */
int top_source_read(const struct top_source *source, struct top_snapshot *ret_snapshot);

/* Why there is no snapshot, in words. */
const char *top_source_reason(int error);

void top_snapshot_finish(struct top_snapshot *snapshot);

#endif

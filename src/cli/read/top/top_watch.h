/* The state of osprof top: where it gets its snapshots, the snapshots so far, and the frame made of two of them. The source
 * is a live file, which works even if the mount hangs, or a control file. */
#ifndef TOP_WATCH_H
#define TOP_WATCH_H

#include "aggstats.h"
#include "calibration.h"
#include "daemon_watch.h"
#include "top_callers.h"
#include "top_model.h"

struct top_source {
    char *path;  /* of the live or the control file */
    int live_fd; /* kept open, to read the last counts after its removal; -1: a control file */
};

/* Finds the source for an argument; NULL: the only mount.
 * Owner:   the caller finishes *ret_source
 * Errors:  the failed call's, already reported to the user; *ret_source untouched */
int top_source_open(const char *argument, struct top_source *ret_source);

struct top_snapshot {
    struct aggstats_profile profile;
    bool paused;      /* known only of live files */
    int64_t pid;      /* of the recording process; 0: unknown, for a control file */
    bool has_ended;   /* these counts are the last ones */
    int64_t taken_ns; /* Unix time */
};

/* Why there is no snapshot, in words. */
const char *top_source_reason(int error);

struct top_watch {
    struct top_source source;
    struct top_snapshot mark;     /* where summing begins if has_mark; else it begins with the profile */
    struct top_snapshot previous; /* valid if has_previous */
    struct top_snapshot latest;   /* valid if has_latest */
    bool has_mark;
    bool has_previous;
    bool has_latest;
    bool has_asked; /* the mount was asked for callers since the latest snapshot */

    bool summing; /* the frame begins at the mark; else at the previous snapshot */
    enum top_order order;

    struct calibration calibration; /* times to compare peaks with; Owner: the caller, who has loaded it */
    struct top_callers callers;
    struct top_frame frame;
    bool since_beginning; /* the frame shows the profile from its beginning */
    bool began_anew;      /* the recording began anew after the previous snapshot: by a reset, or as another mount */
    bool has_ended;       /* there will be no other snapshot */
    bool is_fresh;        /* the latest refresh took one */
    bool is_paused;       /* recording is paused at the moment */
    struct daemon_watch daemon_watch;
    struct daemon_state daemon; /* as of the latest snapshot */
    bool daemon_is_back;        /* it was stopped or stuck at the snapshot before, and is not any more */
};

/* Takes over the source. */
void top_watch_init(struct top_watch *watch, struct top_source *source, enum top_order order);

void top_watch_finish(struct top_watch *watch);

/* Takes a snapshot, and makes a frame.
 * Errors:  -EBADMSG the file is no profile, -ENOMEM, and those of opening and reading. Where there is no snapshot now, or
 *          no other will come, that is none, and leaves the frame as it was */
int top_watch_refresh(struct top_watch *watch);

/* Whether to ask the mount for callers with each snapshot, beginning now. */
void top_watch_want_callers(struct top_watch *watch, enum top_callers_wanted wanted);

/* Asks once more, if they are wanted. */
void top_watch_ask_callers(struct top_watch *watch);

/* Takes what the mount has answered so far, without waiting. Returns whether there is something new to show. */
bool top_watch_collect_callers(struct top_watch *watch);

/* The same, but waits for the answer, as long as the mount may take. */
void top_watch_await_callers(struct top_watch *watch);

/* Shows the callers by the next grouping. */
void top_watch_regroup(struct top_watch *watch);

/* These three change the frame without another snapshot. Errors: -ENOMEM; nothing has changed then */
int top_watch_sum(struct top_watch *watch, bool summing);
int top_watch_begin_here(struct top_watch *watch); /* sums from the latest snapshot on */
void top_watch_sort(struct top_watch *watch, enum top_order order);

#endif

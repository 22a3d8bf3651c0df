/* The callers of a mount, for osprof top. Live files do not have them; only the mount's control file does. So the mount
 * is asked only while a view shows callers, and not waited for.
 *
 * Counts of a group may shrink a little from snapshot to snapshot. So differences of groups are taken bucket by bucket,
 * down to 0 at the lowest, and a group that was added to `other` is searched for there. */
#ifndef TOP_CALLERS_H
#define TOP_CALLERS_H

#include "control_reader.h"
#include "top_model.h"

/* A process or user, the kernel, or others. */
struct top_caller {
    struct top_figures figures;         /* must be first, for sorting rows */
    const struct aggstats_group *group; /* its profile is the difference. Owner: the frame */
};

/* The calls of groups between two snapshots. A zeroed frame is empty, and may be finished. */
struct top_callers_frame {
    struct aggstats_profile profile; /* the difference, groups included */
    struct top_caller *rows;         /* those that made calls */
    size_t row_count;
};

/* For one grouping.
 * before: NULL: nothing, so that the frame shows the profile from its beginning
 * Owner:   the caller finishes *ret_frame; it keeps nothing of the snapshots
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_frame untouched */
int top_callers_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                           enum aggstats_grouping grouping, struct top_callers_frame *ret_frame);

void top_callers_frame_finish(struct top_callers_frame *frame);

/* As top_frame_sort(). */
void top_callers_frame_sort(struct top_callers_frame *frame, enum top_order order);

/* A mount that has not answered for so long is reported as late. */
#define TOP_CALLERS_PATIENCE_NS INT64_C(2000000000)

/* Whether to ask. */
enum top_callers_wanted {
    TOP_CALLERS_UNWANTED,
    TOP_CALLERS_IF_ANY, /* but not again once the mount has answered that it has no groups */
    TOP_CALLERS_WANTED,
};

/* A zeroed one has seen nothing, and may be finished. */
struct top_callers {
    enum top_callers_wanted wanted;
    enum aggstats_grouping by;       /* the only one accepted; AGGSTATS_UNGROUPED: any */
    enum aggstats_grouping grouping; /* the one shown; AGGSTATS_UNGROUPED until there are calls */
    char *path;                      /* of the control file asked last; NULL: none */
    bool is_in_mount;                /* the control file itself was asked, not a socket in its place */
    struct control_reader reader;

    /* snapshots; resolution 0: none */
    struct aggstats_profile mark; /* where summing begins; if there is none, it begins with the profile */
    struct aggstats_profile previous;
    struct aggstats_profile latest;
    bool mark_next; /* the next snapshot becomes the mark */

    struct top_callers_frame frame;
    bool since_beginning; /* the frame shows the profile from its beginning */
    bool is_fresh;        /* the last question has been answered */
    bool is_late;         /* it has not been for TOP_CALLERS_PATIENCE_NS */

    /* Why the last answer is no frame: -ENODATA no groups are recorded, -EBUSY others are, -ENOTCONN there is no control file,
     * -ESTALE it is that of another recording, -EBADMSG the answer is no profile, and those of asking and reading */
    int error;
};

void top_callers_finish(struct top_callers *callers);

/* Asks the mount, unless an answer is outstanding.
 * of: the latest snapshot of all calls, whose header names the mount
 * control_path: where to ask the process that serves it; NULL: unknown */
void top_callers_ask(struct top_callers *callers, const struct aggstats_profile *of, const char *control_path);

/* Takes what has been answered so far. Returns whether there is something new to show.
 * of: the latest snapshot of all calls, which must be of the same recording */
bool top_callers_collect(struct top_callers *callers, const struct aggstats_profile *of, bool summing,
                         enum top_order order);

/* A descriptor to poll until top_callers_collect() has something to do; -1: none. */
int top_callers_fd(const struct top_callers *callers);

/* The latest time for the next top_callers_collect(), in ns from now; -1: none. */
int64_t top_callers_due_ns(const struct top_callers *callers);

/* Makes the frame again, from the same snapshots. */
void top_callers_update(struct top_callers *callers, bool summing, enum top_order order);

/* Shows the callers by the next grouping. */
void top_callers_regroup(struct top_callers *callers, bool summing, enum top_order order);

/* Sums begin here. */
void top_callers_begin_here(struct top_callers *callers);

#endif

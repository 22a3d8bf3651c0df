/* Whose calls they are, for osprof top. Live files do not tell, only the mount itself does, in its control file: it is
 * asked only while somebody wants to see it, and not waited for. */
#ifndef TOP_CALLERS_H
#define TOP_CALLERS_H

#include "control_reader.h"
#include "top_callers_model.h"

/* A mount that has not answered after so long is said not to. */
#define TOP_CALLERS_PATIENCE_NS INT64_C(2000000000)

/* Whether to ask. */
enum top_callers_wanted {
    TOP_CALLERS_UNWANTED,
    TOP_CALLERS_IF_ANY, /* but not again once the mount has said that it tells none apart */
    TOP_CALLERS_WANTED,
};

/* A zeroed one has seen nothing, and may be finished. */
struct top_callers {
    enum top_callers_wanted wanted;
    enum aggstats_grouping by;       /* nothing else will do; AGGSTATS_UNGROUPED: whatever there is */
    enum aggstats_grouping grouping; /* what is shown; AGGSTATS_UNGROUPED until somebody has called */
    char *path;                      /* of the control file of what was asked last; NULL: there is none */
    bool is_in_mount;                /* it was asked itself, not a socket in its place */
    struct control_reader reader;

    /* Snapshots, of resolution 0 if there is none */
    struct aggstats_profile mark; /* where summing begins, else at the profile's beginning */
    struct aggstats_profile previous;
    struct aggstats_profile latest;
    bool mark_next; /* the next snapshot becomes the mark */

    struct top_callers_frame frame;
    bool since_beginning; /* the frame shows the profile from its beginning */
    bool is_fresh;        /* what was asked last has been answered */
    bool is_late;         /* and has not been for TOP_CALLERS_PATIENCE_NS */

    /* Why the last answer is no frame: -ENODATA no such groups are recorded, -ENOTCONN there is no control file,
     * -ESTALE it is that of another recording, -EBADMSG what is there is no profile, and those of asking and reading */
    int error;
};

void top_callers_finish(struct top_callers *callers);

/* Asks the mount, unless it still owes an answer.
 * of: the latest snapshot of all calls, whose header tells of which mount they are
 * control_path: NULL: where the process that serves it is asked */
void top_callers_ask(struct top_callers *callers, const struct aggstats_profile *of, const char *control_path);

/* Takes what has been answered so far. Returns whether there is something new to be seen.
 * of: the latest snapshot of all calls, which must be of the same recording */
bool top_callers_collect(struct top_callers *callers, const struct aggstats_profile *of, bool summing,
                         enum top_order order);

/* What can be waited for until top_callers_collect() has something to do; -1: nothing. */
int top_callers_fd(const struct top_callers *callers);

/* When top_callers_collect() should be called at the latest: in so many ns; -1: it need not be. */
int64_t top_callers_due_ns(const struct top_callers *callers);

/* Makes the frame again, of the same snapshots. */
void top_callers_update(struct top_callers *callers, bool summing, enum top_order order);

/* Shows the callers by the next grouping that there is. */
void top_callers_regroup(struct top_callers *callers, bool summing, enum top_order order);

/* Sums are from here on. */
void top_callers_begin_here(struct top_callers *callers);

#endif

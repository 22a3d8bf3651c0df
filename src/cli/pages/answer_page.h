/* The answer page: a profile in 24 lines, before any table or chart. */
#ifndef ANSWER_PAGE_H
#define ANSWER_PAGE_H

#include <stdbool.h>

#include "answer_model.h"
#include "calibration.h"
#include "screen.h"
#include "units.h"

/* Where the profile came from, for recommended commands. */
struct answer_source {
    const char *profile;     /* the argument for osprof show; "": none, it is the last result; NULL: it is not saved */
    const char *layer;       /* of a recording of several; NULL: it is no recording */
    const char *by;          /* the chosen grouping and group; NULL: none */
    const char *of;          /* NULL: all */
    bool is_live;            /* of a mount whose process still records */
    bool is_run;             /* the page is of osprof run, like the next three */
    const char *directory;   /* NULL: none */
    bool has_mount;          /* osproffs was between */
    bool has_groups_unasked; /* their tables are not printed */
    const char *attach;      /* sees what was not seen, on the file system of its directory; NULL: none */
};

struct answer_page {
    const struct aggstats_profile *profile;
    const struct calibration *calibration; /* may have no times */
    const struct answer_source *source;
    bool no_labels;     /* the user wants no calibrated times */
    bool explain;       /* then the reasons for the names of peaks follow, beyond the 24 lines */
    unsigned lines_max; /* rows are left out until it has so many lines; 0: none are */
};

/* What operations of a disk are that end with _QUEUED. */
#define ANSWER_QUEUED "..._QUEUED: how long these requests waited before the disk got them."

/* Prints how long programs waited for locks that the mount does not forward. */
void answer_page_print_hidden_locks(double cycles, const struct units *units, const struct screen *screen);

/* Prints it: at most 24 lines if the screen has 80 columns or more, and none wider than the screen. */
void answer_page_print(const struct answer_page *page, const struct units *units, const struct screen *screen);

/* ---- Recommended commands, its last lines ------------------------------------------------------- */

#define ANSWER_NEXT_MAX 5

/* A recommended command, ready for a shell. Zeroed: none. */
struct answer_next {
    char *command;
    char *argument;         /* its last one */
    const char *stands_for; /* the placeholder of that in the manual, for a screen on which it does not fit */
    const char *why;
};

/* Finds the commands; none for a profile without calls.
 * wants_calibration: whether to say how peaks get names, if the profile is of this machine
 * Owner:   the caller finishes each of them
 * Returns how many there are */
size_t answer_next_find(const struct answer_source *source, const struct aggstats_profile *profile,
                        const struct answer_model *model, bool wants_calibration,
                        struct answer_next ret_next[ANSWER_NEXT_MAX]);

/* An argument, quoted for a shell if necessary. Owner: the caller frees it. Returns NULL without memory */
char *answer_next_quote(const char *argument);

/* Whether a label with the arguments of a command is that command for a shell. It has them without quotes, so that those
 * which need some, and what was cut, cannot be run again. */
bool answer_next_can_be_typed(const char *command);

void answer_next_finish(struct answer_next *next);

/* Prints a command in a line, after a key if it is the first. Returns false, and prints nothing, if it does not fit. */
bool answer_next_print(const struct answer_next *next, bool is_first, const struct screen *screen);

/* True if that prints it. */
bool answer_next_fits(const struct answer_next *next, const struct screen *screen);

/* The command that looks for slow calls of a result of osprof run again, as far as its words are known for certain.
 * Owner:   the caller frees it. Returns NULL without memory */
char *answer_next_slow(const struct aggstats_profile *profile);

/* Prints how to show one layer of a recording. name: as answer_source.profile */
void answer_next_print_layer(const char *name, const char *layer, const struct screen *screen);

/* ---- The page as data --------------------------------------------------------------------------- */

/* A row for each fact, in the order in which people read them. A row has the kind of its sentence and its figures, but
 * no widths and no units, so that a page, a summary or a test can use it. */
enum answer_kind {
    ANSWER_ELAPSED,    /* cycles; count, word: "runs" or "profiles" that were added up, if any */
    ANSWER_BUSY,       /* share, error: of that time, with a call in flight; cycles; count: calls in one sample */
    ANSWER_SUM,        /* cycles: of all calls, added up; share: of the elapsed time, 0: unknown; whose, word */
    ANSWER_ONE_BY_ONE, /* share: of that time, with a call in flight, of which there was never more than one; cycles */
    ANSWER_NO_CALLS,   /* whose, word */
    ANSWER_LOCKS,      /* cycles: of that, waiting for locks of files, added up */
    ANSWER_FUSE,       /* cycles: what FUSE added to these calls at most, added up; count: requests */
    ANSWER_HIDDEN_LOCKS,  /* cycles: programs waited for locks that the mount does not forward */
    ANSWER_NOT_SEEN,      /* profile: has programs and calls that the layer user could not see, NULL: none; count: major
                           * page faults, where files were mapped */
    ANSWER_NOT_TOLD,      /* profile: has calls of which it is not known whether they belong to it */
    ANSWER_REMEDY,        /* for what is not seen: a mount; is_of_set_id */
    ANSWER_ATTACH,        /* for these, on one file system. word: a command */
    ANSWER_ELSEWHERE,     /* share: of the bytes, that were of files in the chosen directories; bytes: the others */
    ANSWER_MISSED_BYTES,  /* witness; profile: has what was not seen, NULL: unknown */
    ANSWER_REST,          /* rest: where the command was beside its calls; cycles: of the elapsed time */
    ANSWER_ADVICE,        /* advice; cycles: the elapsed time */
    ANSWER_DISK_OTHERS,   /* profile: others used the command's disk more than the command did */
    ANSWER_IN_FLIGHT,     /* count; in_flight: the oldest; cycles: its age */
    ANSWER_HOLDER,        /* slow_call: the longest known one with the main cause, of the operation that comes first, of
                           * which is known who or what held what it waited for; cycles: its latency */
    ANSWER_CALLERS,       /* profile; word: the operation of whose slow calls one function made most */
    ANSWER_PEAK,          /* op; share: of all latency; count: calls, of all of the op; cycles: p50; word: cause;
                           * group: its place; longest; is_bound: that is an upper bound; is_uneven: p50 does not
                           * explain the share */
    ANSWER_GROUP,         /* grouping; group, NULL: nobody; share: of all latency */
    ANSWER_MOVED,         /* op; word: "read"; bytes; per_elapsed_second; per_call_second */
    ANSWER_CACHED,        /* profile: how much of what read calls returned was in the page cache */
    ANSWER_NONE_MOVED,    /* word: that there was nothing, or why nothing is known */
    ANSWER_FAILED,        /* op; word: the error, NULL: a search for what is not there; count */
    ANSWER_OTHERS_FAILED, /* count: of kinds that have no row */
    ANSWER_COST,          /* profile: by how much calls were slower for being counted; word: why that is unknown */
    ANSWER_NONE_FAILED,   /* count: queries for what is not there, which do not count as failures */
    ANSWER_NEXT,          /* next */
};

struct answer_row {
    enum answer_kind kind;
    wide_count count;
    wide_count of_count;
    double cycles;
    double longest;
    double share; /* from 0 to 1 */
    const struct bytes_witness *witness;
    const struct advice *advice; /* Owner: the model */
    double error;
    double bytes;
    double per_elapsed_second; /* bytes; 0: unknown; like the next */
    double per_call_second;
    bool is_bound;
    bool is_uneven;
    bool is_of_set_id; /* set-id programs are among those that were not seen */
    bool is_observed;  /* of a cause; else it is probable */
    const struct aggstats_why
        *wait; /* of a peak: what its calls were seen to wait for; NULL: word says what it may be. Owner: the profile */
    const char *word; /* see above; of whose: "calls on", "calls of program". Owner: profile */
    const char
        *place;  /* of calls: the directory; of a peak: why there is no group; NULL: unknown. Owner: the profile */
    char *whose; /* of calls: the group that was chosen; NULL: all. Owner: the row */
    const struct aggstats_op_profile *op; /* Owner: the profile, as of the next */
    const struct aggstats_call *in_flight;
    const struct aggstats_call *slow_call;
    const struct aggstats_group *group;
    const struct aggstats_profile *profile;
    const char *base; /* of a peak: the directory in which the path of its group begins; NULL: /. Owner: the profile */
    struct answer_rest rest;
    bool is_of_programs;  /* the calls are those of programs themselves, not of a file system's callers */
    bool is_of_disk;      /* they are requests to disks, of all programs */
    bool is_at_least;     /* there were calls that were not seen */
    bool is_below_fuse;   /* what FUSE takes is not in them, and not known */
    bool has_local_locks; /* nor is waiting for locks of files */
    enum aggstats_grouping grouping;
    struct answer_next next; /* Owner: the row */
};

struct answer_rows {
    struct answer_row *rows;
    size_t count;
};

/* Makes the rows. Without memory for one it is missing.
 * model:   of the profile
 * Owner:   the caller finishes *ret_rows; profile must stay */
void answer_rows_make(const struct aggstats_profile *profile, const struct answer_model *model,
                      const struct answer_source *source, bool wants_calibration, struct answer_rows *ret_rows);

/* Leaves out what is least important of the rows that are there. Returns false if nothing can be left out. */
bool answer_rows_leave_out(struct answer_rows *rows);

void answer_rows_finish(struct answer_rows *rows);

#endif

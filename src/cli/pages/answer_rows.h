/* The answer page as data: a row for each fact, in the order in which people read them. A row has the kind of its
 * sentence and its figures, but no widths and no units, so that a page, a summary or a test can use it. */
#ifndef ANSWER_ROWS_H
#define ANSWER_ROWS_H

#include "answer_next.h"

enum answer_kind {
    ANSWER_ELAPSED,       /* cycles; count, word: "runs" or "profiles" that were added up, if any */
    ANSWER_BUSY,          /* share, error: of that time, with a call in flight; cycles; count: calls in one sample */
    ANSWER_SUM,           /* cycles: of all calls; share: of the elapsed time, 0: unknown; whose, word */
    ANSWER_NO_CALLS,      /* whose, word */
    ANSWER_IN_FLIGHT,     /* count; in_flight: the oldest; cycles: its age */
    ANSWER_PEAK,          /* op; share: of all latency; count: calls; cycles: typical; word: cause; group: its place */
    ANSWER_GROUP,         /* grouping; group, NULL: nobody; share: of all latency */
    ANSWER_MOVED,         /* op; word: "read"; bytes; per_elapsed_second; per_call_second */
    ANSWER_NONE_MOVED,    /* nothing else */
    ANSWER_FAILED,        /* op; word: the error; count */
    ANSWER_OTHERS_FAILED, /* count: of kinds that have no row */
    ANSWER_NONE_FAILED,   /* count: queries for what is not there, which do not count as failures */
    ANSWER_NEXT,          /* next */
};

struct answer_row {
    enum answer_kind kind;
    wide_count count;
    double cycles;
    double share; /* from 0 to 1 */
    double error;
    double bytes;
    double per_elapsed_second; /* bytes; 0: unknown; like the next */
    double per_call_second;
    bool is_observed;                     /* of a cause; else it is probable */
    const char *word;                     /* see above; of whose: "calls on", "calls of program". Owner: profile */
    const char *place;                    /* of calls: the directory; NULL: unknown. Owner: the profile */
    char *whose;                          /* of calls: the group that was chosen; NULL: all. Owner: the row */
    const struct aggstats_op_profile *op; /* Owner: the profile, as of the next */
    const struct aggstats_call_in_flight *in_flight;
    const struct aggstats_group *group;
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

void answer_rows_finish(struct answer_rows *rows);

#endif

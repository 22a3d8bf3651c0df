/* The last lines of the answer page: recommended commands. */
#ifndef ANSWER_NEXT_H
#define ANSWER_NEXT_H

#include "answer_model.h"
#include "screen.h"

/* Where the profile came from, for recommended commands. */
struct answer_source {
    const char *profile;        /* the argument of osprof show; NULL: it is of osprof run, and not saved */
    const char *layer;          /* of a recording of several; NULL: it is no recording */
    const char *by;             /* the chosen grouping and group; NULL: none */
    const char *of;             /* NULL: all */
    bool is_live;               /* of a mount whose process still records */
    const char *directory;      /* of osprof run, like the next two */
    const char *options;        /* for osproffs; NULL: none */
    bool has_groups_unasked;    /* their tables are not printed */
    const char *const *command; /* NULL at the end */
};

/* Prints up to three commands; none for a profile without calls.
 * wants_calibration: whether to say how peaks get names, if the profile is of this machine */
void answer_next_print(const struct answer_source *source, const struct aggstats_profile *profile,
                       const struct answer_model *model, bool wants_calibration, const struct screen *screen);

/* Prints how to show one layer of a recording. name: as answer_source.profile */
void answer_next_print_layer(const char *name, const char *layer, const struct screen *screen);

#endif

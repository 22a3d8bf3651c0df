/* The last lines of the page that answers: what to type next. */
#ifndef ANSWER_NEXT_H
#define ANSWER_NEXT_H

#include "answer_model.h"
#include "screen.h"

/* How the profile came here, so that the page can tell what to type next. */
struct answer_source {
    const char *profile;        /* as osprof show was given it; NULL: it is of osprof run, and not kept */
    const char *layer;          /* of a recording of several; NULL: it is of none */
    const char *by;             /* whose calls it was told to show, as the next; NULL: not told */
    const char *of;             /* NULL: all */
    bool is_live;               /* of a mount whose process still records */
    const char *directory;      /* of osprof run, as the next two */
    const char *options;        /* for osproffs; NULL: none */
    bool has_groups_unasked;    /* their tables are not printed */
    const char *const *command; /* NULL at the end */
};

/* Prints up to three commands; none of a profile without calls.
 * wants_calibration: whether to tell how peaks get names, if the profile is of this machine */
void answer_next_print(const struct answer_source *source, const struct aggstats_profile *profile,
                       const struct answer_model *model, bool wants_calibration, const struct screen *screen);

/* Prints how one layer of a recording can be shown. name: as answer_source.profile */
void answer_next_print_layer(const char *name, const char *layer, const struct screen *screen);

#endif

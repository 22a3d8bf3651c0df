/* Recommended commands, the last lines of the answer page. */
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

#define ANSWER_NEXT_MAX 4

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

void answer_next_finish(struct answer_next *next);

/* Prints a command in a line, after a key if it is the first. Returns false, and prints nothing, if it does not fit. */
bool answer_next_print(const struct answer_next *next, bool is_first, const struct screen *screen);

/* Prints how to show one layer of a recording. name: as answer_source.profile */
void answer_next_print_layer(const char *name, const char *layer, const struct screen *screen);

#endif

/* A report: one page of HTML that holds all it needs, to be read without a network, and without scripts. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "comparison.h"
#include "daemon_watch.h"
#include "input.h"
#include "recording.h"
#include "verdict_page.h"

/* What a report is about: a profile or a recording; or the sum of several, each layer by itself. Zeroed: nothing. */
struct subject {
    struct input input;     /* of one layer, once it is settled */
    struct layer_sums sums; /* of several */
    size_t count;           /* of profiles and recordings */
    const char *layer;      /* of a recording: the layer of the profile; NULL: no recording */
    char *layers;           /* the section about all its layers; NULL: there is none */
    char *time;             /* where the time went, as a bar; NULL: it is not known */
    const char *time_title;
    char warning[DAEMON_TEXT_SIZE]; /* about a present problem; "": none */
    mode_t mode; /* of a file with a page about it: as of the profile, or of all layers of a recording */
};

/* Adds a copy of an input, of which no layer was chosen yet.
 * name:    of the input, for messages
 * Errors:  reported to the user. Finish the subject nevertheless */
int subject_add(struct subject *subject, const char *name, const struct input *input);

/* Makes the sum, and chooses a layer; to be called once.
 * name:    of all of it, for messages; layer: as for input_choose()
 * Errors:  reported to the user */
int subject_settle(struct subject *subject, const char *name, struct input_layer *layer);

void subject_finish(struct subject *subject);

/* How to get the page again. */
#define REPORT_AGAIN_SIZE 4096
struct report_again {
    char page[REPORT_AGAIN_SIZE]; /* the command; "": it is too long */
    char text[REPORT_AGAIN_SIZE];
};

struct report {
    const struct subject *subject;       /* settled */
    const char *name;                    /* as the user has named it */
    const struct report_again *again;    /* NULL: it cannot be had again */
    const struct comparison *comparison; /* of an older profile with it; NULL: none */
    const struct verdict_page *verdict;  /* of older runs with it; NULL: none */
};

/* Commands with those arguments, quoted for a shell: the page's begins with "osprof report"; "osprof show" or "osprof
 * compare" prints it as text. a: older ones, a_count may be 0 */
void report_format_again(char *const *a, size_t a_count, char *const *b, size_t b_count, const char *options,
                         struct report_again *ret_again);

/* Makes the page.
 * Owner:   the caller frees *ret_page
 * Errors:  reported to the user */
int report_make(const struct report *report, char **ret_page, size_t *ret_size_bytes);

/* Makes it, and writes it to a file as output_deliver() does. Errors: reported to the user */
int report_deliver(const struct report *report, const char *path, const char *default_path);

#endif

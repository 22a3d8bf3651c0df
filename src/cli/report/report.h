/* A report: one page of HTML that holds all it needs, to be read without a network, and without scripts. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "input.h"

struct report {
    const struct input *input;
    const char *name;    /* as the user has named it */
    const char *layer;   /* of a recording, whose profile it is; NULL: it is none */
    const char *layers;  /* the section about all layers of a recording, by report_layers(); NULL: none */
    const char *warning; /* the first line, about a present problem; NULL: none */
};

/* Makes the section about all layers of a recording.
 * Owner:   the caller frees *ret_section
 * Errors:  -ENOMEM */
int report_layers(const struct recording *recording, char **ret_section);

/* Writes the page, for output_format().
 * context: a struct report
 * Errors:  -ENOMEM; the caller checks the stream for others */
int report_write(const void *context, FILE *stream);

#endif
